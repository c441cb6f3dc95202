"""Bodies of all kinds but `msg`: sequences of netstrings."""

import re
from typing import Final

from strandline.dialects.devicelog.codec.netstrings import netstrings, parse_netstrings
from strandline.dialects.devicelog.codec.scalars import is_ascending, parse_decimal, parse_hex_field
from strandline.dialects.devicelog.types import (
    MAX_DEPS,
    MAX_INITIAL,
    MAX_LABEL_BYTES,
    NOTHING,
    AddStatement,
    KeyStatement,
    Kind,
    RemoveStatement,
    ScrewStatement,
    Statement,
)

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCREW_NUMBERS: Final = 6
"""Fields of a screw before its heads: three lengths, each with a hash."""


def is_label(label: str) -> bool:
    """Return whether a text may be the label of a log: at most 64 bytes of UTF-8, no U+0000..1F, no U+007F."""
    try:
        return len(label.encode("utf-8")) <= MAX_LABEL_BYTES and _CONTROL.search(label) is None
    except UnicodeEncodeError:
        return False


def write_body(statement: Statement) -> bytes:
    """Return the body of a statement."""
    match statement:
        case KeyStatement(label, initial):
            return netstrings(label, *(log.hex() for log in initial))
        case AddStatement(log):
            return netstrings(log.hex())
        case RemoveStatement(log, last_seq, last_id):
            return netstrings(log.hex(), last_seq, "" if last_id is None else last_id.hex())
        case ScrewStatement():
            return netstrings(
                statement.rewind, statement.v_rewind.hex(),
                statement.n_before, statement.v_before.hex(),
                statement.n_after, statement.v_after.hex(),
                *(head.hex() for head in statement.from_heads),
            )  # fmt: skip


def parse_statement(kind: Kind, body: bytes, *, founds: bytes | None = None) -> Statement | None:
    """Return the statement in the body of a `key`, `add-log`, `remove-log` or `screw`, or None.

    `founds` is the log of a founder's key entry; only that may name further logs: at most 1,023, distinct, not itself.
    """
    fields = parse_netstrings(body)
    if fields is None:
        return None
    match kind:
        case "key":
            return _key(fields, founds)
        case "add-log":
            logs = _ids(fields)
            return AddStatement(logs[0]) if logs is not None and len(logs) == 1 else None
        case "remove-log":
            return _remove(fields)
        case "screw":
            return _screw(fields)
        case _:
            raise ValueError(f"a body of kind {kind} states nothing")


def _ids(fields: list[bytes]) -> tuple[bytes, ...] | None:
    found = tuple(each for each in map(parse_hex_field, fields) if each is not None)
    return found if len(found) == len(fields) else None


def _key(fields: list[bytes], founds: bytes | None) -> KeyStatement | None:
    try:
        label = fields[0].decode("utf-8") if fields else None
    except UnicodeDecodeError:
        return None
    if label is None or not is_label(label):
        return None
    initial = _ids(fields[1:])
    if initial is None or (founds is None and initial) or len(initial) > MAX_INITIAL:
        return None
    return None if len({*initial, founds}) != len(initial) + 1 else KeyStatement(label, initial)


def _remove(fields: list[bytes]) -> RemoveStatement | None:
    if len(fields) != 3:
        return None
    log, last_seq = parse_hex_field(fields[0]), parse_decimal(fields[1], NOTHING)
    if log is None or last_seq is None:
        return None
    if last_seq == NOTHING:
        return RemoveStatement(log, NOTHING, None) if not fields[2] else None
    last_id = parse_hex_field(fields[2])
    return None if last_id is None else RemoveStatement(log, last_seq, last_id)


def _screw(fields: list[bytes]) -> ScrewStatement | None:
    numbers = [parse_decimal(each) for each in fields[0:_SCREW_NUMBERS:2]]
    hashes = _ids(fields[1:_SCREW_NUMBERS:2])
    heads = _ids(fields[_SCREW_NUMBERS:])
    if hashes is None or heads is None or not 1 <= len(heads) <= MAX_DEPS or not is_ascending(heads):
        return None
    rewind, before, after = numbers
    if rewind is None or before is None or after is None or not (rewind < before and rewind <= after):
        return None
    return ScrewStatement(rewind, hashes[0], before, hashes[1], after, hashes[2], heads)
