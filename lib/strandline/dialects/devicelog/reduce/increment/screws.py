"""Verdicts on new screws, from the end of the view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from strandline.dialects.devicelog.reduce.branches import NONE, Branch
from strandline.dialects.devicelog.reduce.increment.stored import (
    Bounds,
    Tail,
    Tip,
    effective,
    join,
    knows_all,
    removals_of,
)
from strandline.dialects.devicelog.reduce.screws import statement_of, verdict_on
from strandline.dialects.devicelog.reduce.view_hashes import ViewHashes
from strandline.dialects.devicelog.types import Header, ScrewStatement


@dataclass(frozen=True, slots=True)
class JudgedScrew:
    """The verdict on a new screw, with the effective bounds before and after it."""

    screw: Header
    verdict: str
    before: Bounds
    after: Bounds
    past_earlier: bool


def judged(
    tips: Mapping[bytes, Tip],
    longer: Tail,
    fresh: Iterable[Header],
    held: Mapping[bytes, Header],
    pasts: Mapping[bytes, Bounds],
) -> tuple[JudgedScrew, ...] | None:
    """Return the new screws with their verdicts, or None if the given entries do not decide one of them.

    `longer` is the end of the view with the new messages in it, `held` the entries of the window and the new ones.
    """
    screws = [header for header in fresh if isinstance(header.statement, ScrewStatement)]
    if not screws:
        return ()
    numbers, views = _views_of(longer)
    removals = removals_of(held.values())
    rewinds = {log: tip.rewind for log, tip in tips.items()}
    found = []
    for header in screws:
        screw, earlier = statement_of(header), rewinds[header.log]
        rewinds[header.log] = screw.rewind
        own = pasts[header.record_id] | {header.log: header.seq - 1}
        before = _union(header, screw, own, held, pasts)
        if before is None or screw.rewind < longer.start or not knows_all(removals, before):
            return None
        bounds = effective(tips, before), effective(tips, own)
        numbered = [{numbers[log]: seq for log, seq in each.items() if log in numbers} for each in bounds]
        verdict = verdict_on(screw, views, numbered[0], numbered[1], longer.start)
        past_earlier = earlier is not None and screw.rewind < earlier
        found.append(JudgedScrew(header, verdict, *bounds, past_earlier))
    return tuple(found)


def _union(
    header: Header,
    screw: ScrewStatement,
    own: Bounds,
    held: Mapping[bytes, Header],
    pasts: Mapping[bytes, Bounds],
) -> Bounds | None:
    """Return the union of the pasts of a screw's heads, or None if some are missing, or do not fit."""
    before: Bounds = {}
    for head in screw.from_heads:
        if head not in held or held[head].seq > own.get(held[head].log, NONE):
            return None
        join(before, pasts[head])
    prev = header.prev or b""
    return before if screw.from_heads.count(prev) == 1 and held[prev].kind != "remove-log" else None


def _views_of(tail: Tail) -> tuple[dict[bytes, int], ViewHashes]:
    """Return the numbers of logs, and the views within bounds of the end of a view."""
    numbers: dict[bytes, int] = {}
    branches: list[Branch] = []
    for (log, seq), key in sorted(zip(tail.places, tail.keys, strict=True)):
        if log not in numbers:
            numbers[log] = len(branches)
            branches.append(Branch(log, NONE, len(branches)))
        branches[numbers[log]].message_seqs.append(seq)
        branches[numbers[log]].message_keys.append(key)
    return numbers, ViewHashes(branches, tail.hashes[0])
