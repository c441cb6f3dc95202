"""The demo: a phone and a computer that wrote apart and then met, and an entry of a tablet that was changed.

INSECURE DEMO: the keys are known.
"""

import base64
import json
from typing import Final

from strandline.dialect_api.demo import Demo, DemoFile, DemoRejection
from strandline.dialects.devicelog.author import DeviceLog, meet, public_key
from strandline.dialects.devicelog.codec import write_entry
from strandline.dialects.devicelog.types import Entry, group_namespace

ALTERED: Final = "altered.jsonl"
QUERY: Final = (
    "SELECT label, shown_clock, struck, text FROM device_log_history WHERE label = 'phone' ORDER BY i, line"
)
NEXT_QUERY: Final = "SELECT position, label, text, final FROM device_log ORDER BY position"
_PHONE, _COMPUTER, _TABLET = (bytes([number]) * 32 for number in (1, 2, 3))
_HOUR: Final = 3_600_000


def _apart() -> tuple[DeviceLog, DeviceLog]:
    """Return the published example: two devices that wrote three messages together, five apart, and then met."""
    phone = DeviceLog.found(_PHONE, "phone", [public_key(_COMPUTER)])
    for number, hour in enumerate((6, 7, 10)):
        phone.append(b"Message %d" % number, hour * _HOUR)
    computer = DeviceLog.join(_COMPUTER, "pc", phone.entries(), phone.group, 10 * _HOUR + 60_000)
    phone.append(b"Message 3 (phone)", 11 * _HOUR)
    phone.append(b"Message 4 (phone)", 18 * _HOUR + _HOUR // 2)
    for number, hour in ((5, 18), (6, 19), (7, 20)):
        computer.append(b"Message %d (pc)" % number, hour * _HOUR)
    meet(phone, computer, 21 * _HOUR)
    return phone, computer


def _lines(entries: list[Entry]) -> bytes:
    return b"".join(write_entry(entry) + b"\n" for entry in entries)


def _changed(entry: Entry) -> bytes:
    """Return the line of an entry whose body somebody else changed."""
    members = json.loads(write_entry(entry)) | {"body": base64.b64encode(b"Pay Mallory").decode()}
    return json.dumps(members, separators=(",", ":")).encode() + b"\n"


def demo() -> Demo:
    """Return the files of the demo, and the record in them that the demo explains."""
    phone, computer = _apart()
    tablet = DeviceLog.found(_TABLET, "tablet")
    first = [*tablet.entries()]
    paid = tablet.append(b"Pay Alice", _HOUR)
    own = {log: [entry for entry in log.entries() if entry.log == log.key] for log in (phone, computer)}
    return Demo(
        files=(
            DemoFile("phone.jsonl", "published, the log of a phone", len(own[phone]), _lines(own[phone])),
            DemoFile("computer.jsonl", "published, the log of a computer", len(own[computer]), _lines(own[computer])),
            DemoFile("tablet.jsonl", "synthetic, the start of the log of a tablet", len(first), _lines(first)),
            DemoFile(ALTERED, "its next entry, with another body than the tablet signed", 1, _changed(paid)),
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
