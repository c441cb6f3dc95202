"""A note is a line of JSON: {"chain": name, "parent": id of the note before, empty for the first, "text": text}.

Its id is the SHA-256 of the line. This module is plain Python, the reference that Spark is compared with.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.hashing import set_hash

MAX_LINE_BYTES: Final = 64 * 1024
FORMS: Final = {"chain": "[a-z0-9]+", "parent": "(?:[0-9a-f]{64})?", "text": "(?s:.*)"}


@dataclass(frozen=True, slots=True)
class Note:
    """A note whose own bytes are in order. `parent` is empty for the first of a chain."""

    record_id: bytes
    namespace: str
    parent: bytes
    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a line is no note."""

    reason: str
    evidence: dict[str, Any]


def write_note(chain: str, parent: bytes, text: str) -> bytes:
    """Return the line of a note."""
    return json.dumps({"chain": chain, "parent": parent.hex(), "text": text}, separators=(",", ":")).encode()


def read_note(line: bytes) -> Note | Refused:
    """Return the note that a line is.

    These hold:
    - it is one strict JSON value (JSON_INVALID);
    - it is an object of three texts, each in the form of FORMS (NOTE_SHAPE).
    """
    try:
        value = strict_json(line)
    except JsonRefused as refused:
        return Refused("JSON_INVALID", {"cause": refused.cause})
    if not isinstance(value, dict) or set(value) != set(FORMS):
        return Refused("NOTE_SHAPE", {"expected": sorted(FORMS), "actual": type(value).__name__})
    for name, form in FORMS.items():
        if not (isinstance(value[name], str) and re.fullmatch(form, value[name])):
            return Refused("NOTE_SHAPE", {"expected": form, "actual": name})
    parent = bytes.fromhex(value["parent"])
    return Note(hashlib.sha256(line).digest(), f"chain:{value['chain']}", parent, value["text"])


def admitted(notes: Iterable[Note]) -> dict[bytes, Note]:
    """Return the notes whose parents, up to the first of their chain, are all there."""
    left = {note.record_id: note for note in notes}
    held: dict[tuple[str, bytes], Note] = {}
    while ready := [
        note for note in left.values() if not note.parent or (note.namespace, note.parent) in held
    ]:
        for note in ready:
            held[note.namespace, note.record_id] = left.pop(note.record_id)
    return {note.record_id: note for note in held.values()}


def tips(notes: Collection[Note]) -> set[bytes]:
    """Return the ids of the notes that no other one follows."""
    return {note.record_id for note in notes} - {note.parent for note in notes}


def state_hash(notes: Iterable[Note]) -> bytes:
    """Return the state hash of a chain: it commits to each of its notes."""
    return set_hash(note.record_id for note in notes)
