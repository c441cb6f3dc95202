"""Forks of a journal: lines that several lines follow, with evidence that a third party can check."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from strandline.core.hashing import equivocation_id
from strandline.core.ids import namespace
from strandline.dialects.sdmp.types import DIALECT, Line
from strandline.dialects.sdmp.verify import Link, tree_of

MAX_MEMBERS: Final = 65_536


@dataclass(frozen=True, slots=True)
class Equivocation:
    """A row of `equivocation` (but its bucket): the lines that follow one line."""

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


def forks(node: str, accepted: Mapping[bytes, Line]) -> tuple[Equivocation, ...]:
    """Return one row per line that several accepted lines follow, by n, then record id.

    Not attributable: lines are unsigned, node or carrier may have made both histories.

    Raises:
        ValueError: as `n_of`.
    """
    tree = tree_of(node, accepted)
    return tuple(fork(node, forked.raw, _raws(tree.children[forked.hash])) for forked in tree.forked())


def _raws(links: Iterable[Link]) -> dict[bytes, bytes]:
    return {link.record_id: link.raw for link in links}


def fork(
    node: str, predecessor: bytes, followers: Mapping[bytes, bytes], count: int | None = None
) -> Equivocation:
    """Return the row of one forked line from the lines that follow it, by record id: at least two.

    `followers` may hold just those of least id, then `count` is the number of all. The position is the
    number that all of them carry: n repeats on other branches.
    """
    members = sorted(followers)
    a, b = followers[members[0]], followers[members[1]]
    where = namespace("node", node)
    position = a.partition(b"@")[0].decode("ascii")
    return Equivocation(
        equivocation_id=equivocation_id(where, "SDMP_FORK", node, position),
        namespace=where,
        dialect=DIALECT,
        kind="SDMP_FORK",
        key=node,
        position=position,
        members=tuple(members[:MAX_MEMBERS]),
        member_count=len(members) if count is None else count,
        bytes_a=a,
        bytes_b=b,
        attributable=False,
        evidence=fork_evidence(node, position, predecessor, a, b),
    )


def fork_evidence(node: str, position: str, predecessor: bytes, a: bytes, b: bytes) -> str:
    """Return the evidence file of a fork: JSON, keys sorted, compact, ASCII; `a` has the lesser record id."""
    evidence = {
        "context": [{**_record(predecessor), "role": "predecessor"}],
        "dialect": DIALECT,
        "key": node,
        "kind": "SDMP_FORK",
        "namespace": namespace("node", node),
        "position": position,
        "records": [_record(a), _record(b)],
        "strandline_evidence": 1,
    }
    return json.dumps(evidence, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _record(line: bytes) -> dict[str, str]:
    return {"bytes": base64.b64encode(line).decode("ascii"), "id": hashlib.sha256(line).hexdigest()}
