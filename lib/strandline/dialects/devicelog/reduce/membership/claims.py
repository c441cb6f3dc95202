"""The claims of membership entries, by the log that they concern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strandline.dialects.devicelog.reduce.branches import NONE, key_of
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership.decided import FOUNDER, Rank
from strandline.dialects.devicelog.types import AddStatement, KeyStatement, RemoveStatement


class Claims:
    """The starts, grants and removals of logs, from all entries or from those that decide about logs in a past.

    Only the claims of all entries have the grants of every log, and the removals that decide nothing.
    """

    def __init__(self, graph: Graph, deciding: Iterable[int] | None) -> None:
        self.starts: dict[bytes, list[int]] = {}
        self.grants: dict[bytes, list[tuple[Rank, int]]] = {}
        self.removals: dict[bytes, list[int]] = {}
        self.is_whole = deciding is None
        self._graph = graph
        for index in graph.membership if deciding is None else deciding:
            self.add(index)

    def add(self, index: int) -> None:
        """Add the claims of a membership entry."""
        header = self._graph.entries[index]
        match header.statement:
            case KeyStatement(_, initial):
                self.starts.setdefault(header.log, []).append(index)
                for log in initial if self.is_whole else ():
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

    def candidates(self, logs: Iterable[bytes]) -> Iterator[tuple[Rank, bytes, int]]:
        """Yield the grants of the key entries of logs, by which these may be resolved; NONE is the founder's right."""
        for log in logs:
            for start in self.starts.get(log, ()):
                grant = self.grant(start)
                yield FOUNDER if grant == NONE else self._rank(grant, log), log, grant

    def grant(self, start: int) -> int:
        """Return the grant of a key entry, NONE of the founder's."""
        header = self._graph.entries[start]
        return NONE if header.is_founder else self._graph.index[header.deps[0]]

    def deciders(self, log: bytes) -> Iterator[bytes]:
        """Yield the logs that granted a log, or remove it."""
        grants = (self.grant(start) for start in self.starts.get(log, ()))
        for index in (*(grant for grant in grants if grant != NONE), *self.removals.get(log, ())):
            yield self._graph.entries[index].log

    def removal(self, index: int) -> RemoveStatement:
        """Return the statement of a remove-log.

        Raises:
            ValueError: the entry is none.
        """
        statement = self._graph.entries[index].statement
        if not isinstance(statement, RemoveStatement):
            raise ValueError("only a remove-log removes")
        return statement
