"""Signing of single entries from given fields, also of entries that no honest device would write."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.codec import RANGES, entry_id, parse_statement, write_body
from strandline.dialects.devicelog.types import (
    MAX_BODY_BYTES,
    MAX_DEPS,
    Entry,
    Kind,
    Statement,
)


def sign_entry(
    key: Ed25519Key,
    kind: Kind,
    body: bytes | Statement,
    *,
    group: bytes | None,
    seq: int,
    lamport: int,
    utc: int,
    prev: bytes | None,
    deps: Iterable[bytes] = (),
) -> Entry:
    """Return a signed entry of the log of `key`; `group` is None for a founder's key entry.

    Raises:
        ValueError: `seq`, `lamport` or `utc` is no integer that a reader takes, the body is too large or not one of its
            kind, over 1,024 deps.
    """
    named = tuple(sorted(set(deps)))
    data = body if isinstance(body, bytes) else write_body(body)
    for name, number in (("seq", seq), ("lamport", lamport), ("utc", utc)):
        check_number(name, number)
    if len(data) > MAX_BODY_BYTES or len(named) > MAX_DEPS:
        raise ValueError(f"an entry has at most {MAX_BODY_BYTES} bytes and {MAX_DEPS} deps")
    states = kind not in ("msg", "ack")
    statement = parse_statement(kind, data, founds=key.public if group is None else None) if states else None
    if (states and statement is None) or (kind == "ack" and data):
        raise ValueError(f"the body is not that of the kind {kind}")
    digest = hashlib.sha256(data).digest()
    record_id = entry_id(
        group=group, log=key.public, seq=seq, kind=kind, lamport=lamport, utc=utc, prev=prev, deps=named,
        body_size=len(data), body_hash=digest,
    )  # fmt: skip
    return Entry(
        record_id=record_id, profile="native", group=group or record_id, log=key.public, seq=seq, kind=kind,
        lamport=lamport, utc=utc, prev=prev, deps=named, statement=statement, body=data, body_size=len(data),
        body_hash=digest, sig=key.sign(record_id),
    )  # fmt: skip


def check_number(name: str, number: int) -> None:
    """Check that a reader takes a number as `seq`, `lamport` or `utc`. Raises: ValueError."""
    least, most = RANGES[name]
    if type(number) is not int or not least <= number <= most:
        raise ValueError(f"{name} is an integer from {least} to {most}")
