"""The demo: the published example of a phone and a computer that were apart for a day, and an altered message.

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
from strandline.dialects.devicelog.types import Entry

ALTERED: Final = "altered.jsonl"
QUERY: Final = "SELECT label, what, shown_clock, struck FROM device_log_history ORDER BY label DESC, i, line"
NEXT_QUERY: Final = "SELECT messages, final_messages, active, screws, held_back_by FROM device_log_health"

_PHONE, _PC = (bytes([number]) * 32 for number in (1, 2))
_MINUTE: Final = 60_000
_HOUR: Final = 60 * _MINUTE


def example() -> tuple[DeviceLog, DeviceLog]:
    """Return the phone and the computer after they have met."""
    phone = DeviceLog.found(_PHONE, "phone", [public_key(_PC)])
    for number, hour in enumerate((6, 7, 10)):
        phone.append(b"Message %d" % number, hour * _HOUR)
    pc = DeviceLog.join(_PC, "pc", phone.entries(), phone.group, 10 * _HOUR + _MINUTE)
    phone.append(b"Message 3 (phone)", 11 * _HOUR)
    phone.append(b"Message 4 (phone)", 18 * _HOUR + 30 * _MINUTE)
    for number, hour in ((5, 18), (6, 19), (7, 20)):
        pc.append(b"Message %d (pc)" % number, hour * _HOUR)
    meet(phone, pc, 21 * _HOUR)
    return phone, pc


def _lines(entries: Iterable[Entry]) -> bytes:
    return b"".join(write_entry(entry) + b"\n" for entry in entries)


def demo() -> Demo:
    """Return the files of the demo, and the record in them that the demo explains."""
    phone, pc = example()
    of_phone = [entry for entry in phone.entries() if entry.log == phone.key]
    of_pc = [entry for entry in pc.entries() if entry.log == pc.key]
    message = next(entry for entry in of_phone if entry.body == b"Message 4 (phone)")
    altered = replace(message, body=b"Message 4 (forged)")
    return Demo(
        files=(
            DemoFile(
                "phone.jsonl", "the published example, log of the phone, two printed numbers corrected",
                len(of_phone), _lines(of_phone),
            ),
            DemoFile("computer.jsonl", "the same, log of the computer", len(of_pc), _lines(of_pc)),
            DemoFile(ALTERED, "a message of the phone with another text", 1, _lines([altered])),
        ),
        rejection=DemoRejection(
            title="A message of the phone whose text was altered",
            file=ALTERED,
            namespace=message.namespace,
            reason="ID_MISMATCH",
        ),
        query=QUERY,
        next_query=NEXT_QUERY,
    )  # fmt: skip
