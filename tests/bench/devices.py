"""Made-up groups of devices that write in turn and see each other: as values, as files made once, and as batches."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from bench.data import Data
from strandline.core.ed25519 import Ed25519Key
from strandline.core.encoding.js_json import stringified
from strandline.dialects.devicelog.author import sign_entry, ssb_sign
from strandline.dialects.devicelog.codec import ssb_id, ssb_text, write_entry
from strandline.dialects.devicelog.types import FOUNDING_CLOCK, Entry, KeyStatement

DEVICES: Final = 10
SEEN_EVERY: Final = 7
"""Each such message names the newest entry of another device, so that what one writes reaches all soon."""

NEWS: Final = 100
_FILE_LINES: Final = 100_000


def group(count: int) -> Iterator[Entry]:
    """Yield a group of about `count` entries, then NEWS messages of the first device.

    That device is silent from 99 % on: its messages come into the last 1 % of the view.
    """
    keys = [Ed25519Key(hashlib.sha256(b"device %d" % number).digest()) for number in range(DEVICES)]
    others = tuple(key.public for key in keys[1:])
    founder = sign_entry(
        keys[0], "key", KeyStatement("0", others), group=None, seq=0, lamport=FOUNDING_CLOCK, utc=0, prev=None
    )
    tips = [founder]
    for number, key in enumerate(keys[1:], start=1):
        tips.append(
            sign_entry(
                key, "key", KeyStatement(str(number)), group=founder.group, seq=0, lamport=0, utc=0, prev=None,
                deps=[founder.record_id],
            )
        )  # fmt: skip
    yield from tips
    messages = count - DEVICES
    for k in range(messages):
        device = k % DEVICES
        if not device and k >= messages * 0.99:
            device = 1 + k // DEVICES % (DEVICES - 1)
        seen = tips[device - 1] if k % SEEN_EVERY == 0 else None
        tips[device] = _message(keys[device], tips[device], k, seen)
        yield tips[device]
    for k in range(messages, messages + NEWS):
        tips[0] = _message(keys[0], tips[0], k, None)
        yield tips[0]


def _message(key: Ed25519Key, prev: Entry, k: int, seen: Entry | None) -> Entry:
    clock = prev.lamport if seen is None else max(prev.lamport, seen.lamport)
    return sign_entry(
        key, "msg", b"message %d" % k, group=prev.group, seq=prev.seq + 1, lamport=clock + 1, utc=1000 * k,
        prev=prev.record_id, deps=[] if seen is None else [seen.record_id],
    )  # fmt: skip


def folders(data: Data, count: int) -> tuple[Path, Path]:
    """Return a folder with the lines of a group, and one with its news, made if they are not there."""
    made = data.folder / "devices" / str(count)
    if not made.exists():
        part = made.with_name(f"{count}.part")
        shutil.rmtree(part, ignore_errors=True)
        entries = group(count)
        for number in range(0, count, _FILE_LINES):
            size = min(_FILE_LINES, count - number)
            _write(part / "held" / f"{number:09d}.jsonl", islice(entries, size))
        _write(part / "news" / "news.jsonl", entries)
        part.replace(made)
    return made / "held", made / "news"


def _write(path: Path, entries: Iterable[Entry]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(write_entry(entry) + b"\n" for entry in entries)


def feed(count: int) -> list[bytes]:
    """Return the lines of a made-up Scuttlebutt feed: posts of 40 to 400 letters that mention others."""
    lines, previous = [], None
    for number in range(1, count + 1):
        name = hashlib.sha256(b"message %d" % number).hexdigest()
        content = {
            "type": "post", "text": f"{name} \u2603 " * (1 + number % 6),
            "mentions": [{"link": f"@{name}", "name": name[:8]}], "channel": name[:5],
        }  # fmt: skip
        value = ssb_sign(bytes([7]) * 32, previous, number, 1_500_000_000_000 + number, content)
        lines.append(stringified(value).encode())
        previous = ssb_id(ssb_text(value))
    return lines
