"""The pasts that a screw names, as bounds: the union of the pasts of its heads, and its own past."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

from strandline.dialects.devicelog.reduce.bounds import NOTHING_BEFORE
from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.types import ScrewStatement


@dataclass(frozen=True, slots=True)
class ScrewFacts:
    """A screw: its index, and the bounds that it names; `before` is None if `from` does not fit (SCREW_FROM).

    `before` is the union of the pasts of its heads, `after` its past without itself. Both are by branch number.
    """

    index: int
    before: array[int] | None
    after: array[int]


def screw_facts(graph: Graph, index: int) -> ScrewFacts:
    """Return the bounds that a screw names: `from` is in its past, and exactly one of its ids is prev.

    Of a prev that is a remove-log: it, or the entry before it.
    """
    header = graph.entries[index]
    after = dict(graph.past(index).items())
    after[graph.branch[index]] = header.seq - 1
    if graph.first(graph.branch[index]) == index:
        del after[graph.branch[index]]
    screw, prev = header.statement, header.prev
    if not isinstance(screw, ScrewStatement) or prev is None:
        raise ValueError("only a screw has the facts of one")
    newest = {prev}
    before_prev = graph.entries[graph.index[prev]]
    if before_prev.kind == "remove-log" and before_prev.prev is not None:
        newest.add(before_prev.prev)
    heads = [graph.index.get(each, NONE) for each in screw.from_heads]
    fits = sum(each in newest for each in screw.from_heads) == 1
    if not fits or any(each in (NONE, index) or not graph.reaches(index, each) for each in heads):
        return ScrewFacts(index, None, _packed(after))
    before = graph.joined(NOTHING_BEFORE, sorted(heads, reverse=True))
    return ScrewFacts(index, _packed(dict(before.items())), _packed(after))


def _packed(bounds: Mapping[int, int]) -> array[int]:
    return array("q", (bounds.get(branch, NONE) for branch in range(max(bounds, default=NONE) + 1)))


def unpacked(packed: array[int]) -> dict[int, int]:
    """Return packed bounds by branch."""
    return {branch: seq for branch, seq in enumerate(packed) if seq != NONE}
