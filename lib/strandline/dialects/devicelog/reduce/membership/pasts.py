"""The membership of any past."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership.decided import Membership
from strandline.dialects.devicelog.reduce.membership.settle import settle


class Memberships:
    """The membership of any past. Pasts of the same branches with the same membership entries share it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._found: dict[frozenset[tuple[int, int]], Membership] = {}

    def of(self, bounds: Mapping[int, int]) -> Membership:
        """Return the membership in the reduction of the entries within bounds, a union of pasts."""
        signature = frozenset(
            (branch, _held(self._graph.branches[branch].membership_seqs, bound))
            for branch, bound in bounds.items()
        )
        found = self._found.get(signature)
        if found is None:
            found = settle(self._graph, bounds)
            self._found[signature] = found
        return found


def _held(seqs: list[int], bound: int) -> int:
    return bisect_right(seqs, bound)
