"""The membership of any past."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from strandline.dialects.devicelog.reduce.bounds import Past, Sums
from strandline.dialects.devicelog.reduce.branches import NONE
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership.decided import effective_within
from strandline.dialects.devicelog.reduce.membership.resolve import PastMembership
from strandline.dialects.devicelog.types import KeyStatement, RemoveStatement

_MOST: Final = 256
_MOST_VALUES: Final = 2**18
"""Memberships that are kept, and the values in them: pasts that follow one another mostly share them."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A membership, and the number of branches of pasts with effective entries in it."""

    membership: PastMembership
    effective: Sums

    @property
    def values(self) -> int:
        """The number of stored values of both."""
        return self.membership.values + len(self.effective)

    def within(self, bounds: Iterable[tuple[int, int]]) -> dict[int, int]:
        """Return the greatest effective seq by branch of the entries within bounds, given by branch and seq."""
        return effective_within(self.membership.kept, bounds)


class Memberships:
    """The membership of any past. Pasts with the same deciding entries share it.

    What decides about a log that has entries are its starts, if there are several, and, on each branch, the first
    removal of it that does not cut entries that its author had seen: a later one is never effective without the first,
    and comes after it. The only start of a log is in every past that has entries of it, and decides about no other log.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._found: dict[frozenset[tuple[int, int]], _Found] = {}
        self._only_starts, starts = _starts(graph)
        self._deciding = _deciding(graph, starts)
        self._counts = Sums(lambda branch, seq: self._deciding[branch].count(seq))

    def within(self, bounds: Mapping[int, int]) -> dict[int, int]:
        """Return the effective bounds by branch in the reduction of the entries within bounds, a union of pasts."""
        return self._of(bounds.items()).within(bounds.items())

    def within_past(self, past: Past, most: int) -> dict[int, int] | None:
        """Return the effective bounds by branch in the reduction of a past, None for more than `most`.

        The cost is that of the parts that the past does not share with earlier ones, and of `most`.
        """
        found = self._of(self._counts.items(past))
        if found.effective.total(past) > most:
            return None
        return found.within(found.effective.items(past))

    def _of(self, bounds: Iterable[tuple[int, int]]) -> _Found:
        counts = {number: count for number, seq in bounds if (count := self._deciding[number].count(seq))}
        signature = frozenset(counts.items())
        found = self._found.get(signature)
        if found is None:
            self._forget()
            deciding = (
                index for number, count in counts.items() for index in self._deciding[number].first(count)
            )
            found = self._found[signature] = self._resolved(deciding)
        return found

    def _resolved(self, deciding: Iterable[int]) -> _Found:
        membership = PastMembership(self._graph, deciding, self._only_starts)
        return _Found(membership, Sums(lambda branch, seq: int(min(seq, membership.kept(branch)) != NONE)))

    def _forget(self) -> None:
        """Make room for a membership: forget the oldest ones."""
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


def _starts(graph: Graph) -> tuple[dict[bytes, int], list[int]]:
    """Return the starts of logs that have one, by log, and those of logs that have several."""
    found: dict[bytes, list[int]] = {}
    for index in graph.membership:
        header = graph.entries[index]
        if isinstance(header.statement, KeyStatement):
            found.setdefault(header.log, []).append(index)
    only = {log: starts[0] for log, starts in found.items() if len(starts) == 1}
    return only, [start for starts in found.values() if len(starts) > 1 for start in starts]


def _deciding(graph: Graph, starts: Iterable[int]) -> list[_Entries]:
    found = [_Entries() for _ in graph.branches]
    for start in starts:
        found[graph.branch[start]].add(graph.entries[start].seq, start)
    removed: set[tuple[int, bytes]] = set()
    for index in graph.membership:
        header, number = graph.entries[index], graph.branch[index]
        match header.statement:
            case RemoveStatement(log) if log in graph.logs and index not in graph.cuts_seen:
                if (number, log) not in removed:
                    removed.add((number, log))
                    found[number].add(header.seq, index)
            case _:
                pass
    return found
