"""The membership of any past."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Final

from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership.decided import Membership
from strandline.dialects.devicelog.reduce.membership.settle import settle
from strandline.dialects.devicelog.types import KeyStatement, RemoveStatement

_MOST: Final = 256
_MOST_VALUES: Final = 2**18
"""Memberships that are kept, and the values in them: pasts that follow one another mostly share them."""


class Memberships:
    """The membership of any past. Pasts with the same deciding entries share it.

    What decides about a log that has entries are its starts and, on each branch, the first removal of it that does not
    cut entries that its author had seen: a later one is never effective without the first, and comes after it.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._found: dict[frozenset[tuple[int, int]], Membership] = {}
        self._deciding = _deciding(graph)

    def within(self, bounds: Mapping[int, int]) -> dict[int, int]:
        """Return the effective bounds by branch in the reduction of the entries within bounds, a union of pasts."""
        return self._of(bounds.items()).within(self._graph, bounds.items())

    def _of(self, bounds: Iterable[tuple[int, int]]) -> Membership:
        counts = {number: count for number, seq in bounds if (count := self._deciding[number].count(seq))}
        signature = frozenset(counts.items())
        found = self._found.get(signature)
        if found is None:
            self._forget()
            deciding = (
                index for number, count in counts.items() for index in self._deciding[number].first(count)
            )
            found = self._found[signature] = settle(self._graph, deciding)
        return found

    def _forget(self) -> None:
        """Make room for a membership, by those that were found first."""
        values = sum(each.values for each in self._found.values())
        while self._found and (len(self._found) >= _MOST or values > _MOST_VALUES):
            values -= self._found.pop(next(iter(self._found))).values


class _Entries:
    """Entries of one branch, ascending by seq."""

    def __init__(self) -> None:
        self._seqs: list[int] = []
        self._indices: list[int] = []

    def add(self, seq: int, index: int) -> None:
        self._seqs.append(seq)
        self._indices.append(index)

    def count(self, bound: int) -> int:
        return bisect_right(self._seqs, bound)

    def first(self, count: int) -> list[int]:
        return self._indices[:count]


def _deciding(graph: Graph) -> list[_Entries]:
    found = [_Entries() for _ in graph.branches]
    removed: set[tuple[int, bytes]] = set()
    for index in graph.membership:
        header, number = graph.entries[index], graph.branch[index]
        match header.statement:
            case KeyStatement():
                found[number].add(header.seq, index)
            case RemoveStatement(log) if log in graph.logs and index not in graph.cuts_seen:
                if (number, log) not in removed:
                    removed.add((number, log))
                    found[number].add(header.seq, index)
            case _:
                pass
    return found
