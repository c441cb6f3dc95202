"""What membership entries claim, sorted by the log that it concerns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from strandline.dialects.devicelog.reduce.graph import NONE, Graph, key_of
from strandline.dialects.devicelog.reduce.membership.decided import FOUNDER, Rank
from strandline.dialects.devicelog.types import AddStatement, KeyStatement, RemoveStatement


class Claims:
    """The starts, grants and removals of logs, and their branches: of all entries, or of those within bounds.

    Only the claims of all entries have the grants of every log.
    """

    def __init__(self, graph: Graph, bounds: Mapping[int, int] | None) -> None:
        self.starts: dict[bytes, list[int]] = {}
        self.grants: dict[bytes, list[tuple[Rank, int]]] = {}
        self.removals: dict[bytes, list[int]] = {}
        self.branches: Mapping[bytes, list[int]] = graph.logs
        self.is_whole = bounds is None
        self._graph = graph
        if bounds is not None:
            within: dict[bytes, list[int]] = {}
            for number in bounds:
                within.setdefault(graph.branches[number].log, []).append(number)
            self.branches = within
        for index in graph.membership if bounds is None else _membership(graph, bounds):
            self._sort_in(index)

    def _sort_in(self, index: int) -> None:
        header = self._graph.entries[index]
        match header.statement:
            case KeyStatement(_, initial):
                self.starts.setdefault(header.log, []).append(index)
                if self.is_whole:
                    for log in initial:
                        self.grants.setdefault(log, []).append((self._rank(index, log), index))
            case AddStatement(log):
                self.grants.setdefault(log, []).append((self._rank(index, log), index))
            case RemoveStatement(log):
                self.removals.setdefault(log, []).append(index)
            case _:
                pass

    def _rank(self, grant: int, log: bytes) -> Rank:
        """Return the rank of a log by one of its grants."""
        return *key_of(self._graph.entries[grant]), self._graph.places.get((grant, log), 0)

    def candidates(self) -> Iterable[tuple[Rank, bytes, int]]:
        """Yield the grants of all key entries, by which a log may be settled; NONE is the founder's right."""
        for log, starts in self.starts.items():
            for start in starts:
                grant = self.grant(start)
                yield FOUNDER if grant == NONE else self._rank(grant, log), log, grant

    def grant(self, start: int) -> int:
        """Return the grant of a key entry, NONE of the founder's."""
        header = self._graph.entries[start]
        return NONE if header.is_founder else self._graph.index[header.deps[0]]

    def removal(self, index: int) -> RemoveStatement:
        """Return what a remove-log states.

        Raises:
            ValueError: the entry is none.
        """
        statement = self._graph.entries[index].statement
        if not isinstance(statement, RemoveStatement):
            raise ValueError("only a remove-log removes")
        return statement


def _membership(graph: Graph, bounds: Mapping[int, int]) -> Iterable[int]:
    """Yield the membership entries within bounds."""
    for number, bound in bounds.items():
        branch = graph.branches[number]
        yield from branch.membership[: bisect_right(branch.membership_seqs, bound)]
