"""Scuttlebutt messages to entries and back.

Sources: ssb-validate 4.1, Scuttlebutt Protocol Guide.
"""

import hashlib
import math
import re
from dataclasses import dataclass
from typing import Any, Final

from strandline.core.encoding.js_json import stringified, utf16_units
from strandline.core.verdict import Finding, JsonValue, shown
from strandline.dialects.devicelog.codec.scalars import parse_padded_base64
from strandline.dialects.devicelog.codec.ssb import (
    message_name,
    parse_author_name,
    parse_message_name,
    parse_signature_name,
    read_value,
    ssb_id,
    ssb_text,
)
from strandline.dialects.devicelog.types import MAX_UTC, Entry, Refused, group_namespace

MAX_SEQUENCE: Final = 2**31 - 1
MAX_MESSAGE_UNITS: Final = 8192
TYPE_UNITS: Final = (3, 52)
HASH: Final = "sha256"

_FIELDS: Final = (
    ("previous", "author", "sequence", "timestamp", "hash", "content", "signature"),
    ("previous", "sequence", "author", "timestamp", "hash", "content", "signature"),
)
_BOX: Final = re.compile(r"([A-Za-z0-9+/=]*)\.box[^\n\r\u2028\u2029]*")


@dataclass(frozen=True, slots=True)
class _Checked:
    """The decoded members of a message; None where one does not have its form, and then `findings` says so."""

    author: bytes | None
    prev: bytes | None
    sig: bytes | None
    findings: tuple[Finding, ...]


def read_message(value: object, key: object = None, *, has_key: bool = False) -> Entry | Refused:
    """Return the entry of a message, as `read_value` gives it; its signature is not verified here.

    `key` is the id given next to the message, if `has_key`. The first two conditions end the reading; of the others all
    violations are collected. These hold:
    - the value is an object (SSB_NOT_OBJECT);
    - it has the members previous, author and sequence in either order, timestamp, hash, content, signature, in this
      order and no others (SSB_FIELD_ORDER);
    - previous is null if sequence is 1, else the name of a message (SSB_PREVIOUS); author is a key (SSB_AUTHOR);
    - sequence is an integral number of 1..2147483647 (SSB_SEQUENCE), timestamp a finite number (SSB_TIMESTAMP), hash
      the text `sha256` (SSB_HASH);
    - content is an object with a text `type` of 3..52 UTF-16 units (SSB_CONTENT, SSB_TYPE), or a text: base64 and
      `.box` (SSB_BOX);
    - signature has its form (SSB_SIGNATURE_FORM); T has at most 8,192 UTF-16 units (SSB_TOO_LARGE);
    - the key, if given, is the id (SSB_KEY_MISMATCH).
    """
    if type(value) is not dict:
        return Refused((Finding("SSB_NOT_OBJECT", {"expected": "object", "actual": _type_name(value)}),))
    if tuple(value) not in _FIELDS:
        names = shown(",".join(list(value)[: len(_FIELDS[0]) + 1]))
        return Refused((Finding("SSB_FIELD_ORDER", {"expected": ",".join(_FIELDS[0]), "actual": names}),))
    checked = _checked(value)
    findings = list(checked.findings)
    text = ssb_text(value)
    units = utf16_units(text)
    if units > MAX_MESSAGE_UNITS:
        findings.append(Finding("SSB_TOO_LARGE", {"expected": MAX_MESSAGE_UNITS, "actual": units}))
    record_id = ssb_id(text)
    if has_key and key != message_name(record_id):
        actual = shown(key) if isinstance(key, str) else _type_name(key)
        findings.append(Finding("SSB_KEY_MISMATCH", {"expected": message_name(record_id), "actual": actual}))
    author, sig = checked.author, checked.sig
    if findings or author is None or sig is None:
        return Refused(tuple(findings), None if author is None else group_namespace(author))
    body = stringified(value["content"]).encode("utf-8")
    return Entry(
        record_id=record_id, profile="ssb", group=author, log=author, seq=value["sequence"], kind="msg",
        lamport=value["sequence"] - 1, utc=min(max(math.floor(value["timestamp"]), 0), MAX_UTC), prev=checked.prev,
        deps=(), statement=None, body=body, body_size=len(body), body_hash=hashlib.sha256(body).digest(), sig=sig,
        raw=text.encode("utf-8"),
    )  # fmt: skip


def write_message(entry: Entry) -> bytes:
    """Return the line of an `ssb` entry, without LF: `{"key":..,"value":..}`, compact.

    Raises:
        ValueError: the entry is not of that profile.
    """
    if entry.raw is None:
        raise ValueError("an entry of the profile native is not a message")
    value = stringified(read_value(entry.raw))
    return f'{{"key":"{message_name(entry.record_id)}","value":{value}}}'.encode()


def _checked(value: dict[str, Any]) -> _Checked:
    sequence, content, timestamp = value["sequence"], value["content"], value["timestamp"]
    author = parse_author_name(value["author"])
    is_first = type(sequence) is int and sequence == 1
    prev = None if is_first else parse_message_name(value["previous"])
    sig = parse_signature_name(value["signature"])
    faults: dict[str, tuple[bool, JsonValue]] = {
        "SSB_PREVIOUS": (value["previous"] is not None if is_first else prev is None, value["previous"]),
        "SSB_AUTHOR": (author is None, value["author"]),
        "SSB_SEQUENCE": (type(sequence) is not int or not 1 <= sequence <= MAX_SEQUENCE, sequence),
        "SSB_TIMESTAMP": (type(timestamp) not in (int, float) or not math.isfinite(timestamp), timestamp),
        "SSB_HASH": (value["hash"] != HASH, value["hash"]),
        "SSB_CONTENT": (type(content) not in (dict, str), content),
        "SSB_TYPE": (type(content) is dict and not _is_type(content.get("type")), content),
        "SSB_BOX": (type(content) is str and not _is_box(content), content),
        "SSB_SIGNATURE_FORM": (sig is None, value["signature"]),
    }
    findings = (
        Finding(code, {"field": _FIELD_OF[code], "actual": _shown(actual)})
        for code, (is_wrong, actual) in faults.items()
        if is_wrong
    )
    return _Checked(author, prev, sig, tuple(findings))


_FIELD_OF: Final = {
    "SSB_PREVIOUS": "previous", "SSB_AUTHOR": "author", "SSB_SEQUENCE": "sequence", "SSB_TIMESTAMP": "timestamp",
    "SSB_HASH": "hash", "SSB_CONTENT": "content", "SSB_TYPE": "content.type", "SSB_BOX": "content",
    "SSB_SIGNATURE_FORM": "signature",
}  # fmt: skip


def _is_type(text: object) -> bool:
    low, high = TYPE_UNITS
    return isinstance(text, str) and low <= utf16_units(text) <= high


def _is_box(content: str) -> bool:
    match = _BOX.fullmatch(content)
    return match is not None and parse_padded_base64(match.group(1)) is not None


def _shown(value: JsonValue) -> JsonValue:
    """Return a value as evidence: short texts and safe numbers as they are, of others only the type."""
    if isinstance(value, str):
        return shown(value)
    return value if value is None or type(value) in (bool, int) else _type_name(value)


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "text", dict: "object", list: "array"}
    return names[type(value)]
