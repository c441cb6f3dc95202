"""The demo: the published example of a phone and a computer that were apart for a day, and a changed entry of a tablet.

INSECURE DEMO: the keys are known. The note that published the example has two errors, corrected here: on the phone,
the replayed Message 5 has the clock 8 (not 9), and the phone's screw follows Message 4, its own newest entry (not
Message 7, which is in the computer's log).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from strandline.dialect_api.demo import Demo, DemoFile, DemoRejection
from strandline.dialects.devicelog.author import DeviceLog, meet, public_key
from strandline.dialects.devicelog.codec import write_entry
from strandline.dialects.devicelog.types import Entry, group_namespace

ALTERED: Final = "altered.jsonl"
QUERY: Final = (
    "SELECT label, shown_clock, struck, what FROM device_log_history WHERE label = 'phone' ORDER BY i, line"
)
NEXT_QUERY: Final = "SELECT position, label, text, final FROM device_log ORDER BY position"

_PHONE, _COMPUTER, _TABLET = (bytes([number]) * 32 for number in (1, 2, 3))
_MINUTE: Final = 60_000
_HOUR: Final = 60 * _MINUTE


def example() -> tuple[DeviceLog, DeviceLog]:
    """Return the phone and the computer: they wrote three messages together, five apart, and then met."""
    phone = DeviceLog.found(_PHONE, "phone", [public_key(_COMPUTER)])
    for number, hour in enumerate((6, 7, 10)):
        phone.append(b"Message %d" % number, hour * _HOUR)
    computer = DeviceLog.join(_COMPUTER, "pc", phone.entries(), phone.group, 10 * _HOUR + _MINUTE)
    phone.append(b"Message 3 (phone)", 11 * _HOUR)
    phone.append(b"Message 4 (phone)", 18 * _HOUR + 30 * _MINUTE)
    for number, hour in ((5, 18), (6, 19), (7, 20)):
        computer.append(b"Message %d (pc)" % number, hour * _HOUR)
    meet(phone, computer, 21 * _HOUR)
    return phone, computer


def _own(log: DeviceLog) -> list[Entry]:
    return [entry for entry in log.entries() if entry.log == log.key]


def _lines(entries: Iterable[Entry]) -> bytes:
    return b"".join(write_entry(entry) + b"\n" for entry in entries)


def demo() -> Demo:
    """Return the files of the demo, and the record in them that the demo explains."""
    phone, computer = map(_own, example())
    tablet = DeviceLog.found(_TABLET, "tablet")
    first = _own(tablet)
    changed = replace(tablet.append(b"Pay Alice", _HOUR), body=b"Pay Mallory")
    return Demo(
        files=(
            DemoFile("phone.jsonl", "published, the log of a phone", len(phone), _lines(phone)),
            DemoFile("computer.jsonl", "published, the log of a computer", len(computer), _lines(computer)),
            DemoFile("tablet.jsonl", "synthetic, the start of the log of a tablet", len(first), _lines(first)),
            DemoFile(ALTERED, "its next entry, with another body than the tablet signed", 1, _lines([changed])),
        ),
        rejection=DemoRejection(
            title="An entry whose body was changed",
            file=ALTERED,
            namespace=group_namespace(tablet.group),
            reason="ID_MISMATCH",
        ),
        query=QUERY,
        next_query=NEXT_QUERY,
    )  # fmt: skip
