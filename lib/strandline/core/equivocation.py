"""Rows of `equivocation`: records of one key at one position that contradict each other."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from strandline.core.hashing import equivocation_id

MAX_MEMBERS: Final = 65_536


@dataclass(frozen=True, slots=True)
class Equivocation:
    """A row of `equivocation` without its bucket. `members`: at most `MAX_MEMBERS` of `member_count`, ascending."""

    equivocation_id: bytes
    namespace: str
    dialect: str
    kind: str
    key: str
    position: str
    members: tuple[bytes, ...]
    member_count: int
    bytes_a: bytes
    bytes_b: bytes
    attributable: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class Context:
    """A record that the evidence needs in addition to the two in conflict."""

    role: str
    record_id: bytes
    raw: bytes


def equivocation(
    namespace: str,
    dialect: str,
    kind: str,
    key: str,
    position: str,
    *,
    records: Mapping[bytes, bytes],
    attributable: bool,
    context: Sequence[Context] = (),
    count: int | None = None,
) -> Equivocation:
    """Return the row of the conflicting `records`, given by record id: at least two.

    `records` may be only those with the least ids; then `count` is the number of all.
    """
    members = sorted(records)
    pair = [(record_id, records[record_id]) for record_id in members[:2]]
    return Equivocation(
        equivocation_id=equivocation_id(namespace, kind, key, position),
        namespace=namespace,
        dialect=dialect,
        kind=kind,
        key=key,
        position=position,
        members=tuple(members[:MAX_MEMBERS]),
        member_count=len(members) if count is None else count,
        bytes_a=pair[0][1],
        bytes_b=pair[1][1],
        attributable=attributable,
        evidence=_evidence(namespace, dialect, kind, key, position, pair, context),
    )


def _evidence(
    namespace: str,
    dialect: str,
    kind: str,
    key: str,
    position: str,
    pair: Sequence[tuple[bytes, bytes]],
    context: Sequence[Context],
) -> str:
    """Return the evidence file, which can be verified without Strandline: compact JSON, sorted keys, ASCII."""
    document = {
        "context": [{**_record(each.record_id, each.raw), "role": each.role} for each in context],
        "dialect": dialect,
        "key": key,
        "kind": kind,
        "namespace": namespace,
        "position": position,
        "records": [_record(record_id, raw) for record_id, raw in pair],
        "strandline_evidence": 1,
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _record(record_id: bytes, raw: bytes) -> dict[str, str]:
    return {"bytes": base64.b64encode(raw).decode("ascii"), "id": record_id.hex()}
