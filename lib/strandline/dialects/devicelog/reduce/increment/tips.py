"""The tips of a group after new entries, with their pasts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.increment.stored import Bounds, Tip, join
from strandline.dialects.devicelog.types import Header, ScrewStatement

_KINDS: Final = ("msg", "ack", "screw")


def can_extend(tips: Mapping[bytes, Tip], new: Iterable[Header]) -> bool:
    """Return whether new entries are of the right kinds, and each extends the tip of an active log."""
    newest = {log: (tip.record_id, tip.seq) for log, tip in tips.items() if tip.is_active}
    for header in sorted(new, key=lambda header: header.seq):
        if header.kind not in _KINDS or newest.get(header.log) != (header.prev, header.seq - 1):
            return False
        newest[header.log] = header.record_id, header.seq
    return True


def pasts_of(tips: Mapping[bytes, Tip], ordered: Iterable[Header]) -> dict[bytes, Bounds]:
    """Return the past of each entry, parents first: those of new entries exactly.

    Entries left out of the pasts of the window are in the past of every tip that grows.
    """
    pasts = {tip.record_id: tip.past for tip in tips.values()}
    for header in ordered:
        if header.record_id not in pasts:
            past = dict(pasts.get(header.prev, {})) if header.prev is not None else {}
            for dep in header.deps:
                join(past, pasts.get(dep, {}))
            past[header.log] = header.seq
            pasts[header.record_id] = past
    return pasts


def grown_tips(
    tips: Mapping[bytes, Tip],
    length: int,
    fresh: Sequence[Header],
    ordered: Iterable[Header],
    pasts: Mapping[bytes, Bounds],
) -> dict[bytes, Tip]:
    """Return the tips after the new entries; `length` is that of the view before."""
    seqs: dict[bytes, list[int]] = {log: [] for log in tips}
    for header in ordered:
        if header.kind == "msg" and header.seq <= tips[header.log].kept:
            seqs[header.log].append(header.seq)
    added = sum(header.kind == "msg" for header in fresh)
    found = {log: replace(tip, behind=tip.behind + added, is_new=False) for log, tip in tips.items()}
    rewinds = {
        header.log: header.statement.rewind
        for header in fresh
        if isinstance(header.statement, ScrewStatement)
    }
    for header in {header.log: header for header in fresh}.values():
        old, past = tips[header.log], pasts[header.record_id]
        seen = length - old.behind
        for log, seq in past.items():
            seen += bisect_right(seqs[log], seq) - bisect_right(seqs[log], old.past.get(log, NONE))
        found[header.log] = replace(
            old, record_id=header.record_id, seq=header.seq, lamport=header.lamport, past=past,
            behind=length + added - seen, rewind=rewinds.get(header.log, old.rewind), is_new=True,
        )  # fmt: skip
    return found
