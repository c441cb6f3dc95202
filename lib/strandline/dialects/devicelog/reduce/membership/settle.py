"""The walk that settles logs in ascending rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from strandline.dialects.devicelog.reduce.branches import NONE, key_of
from strandline.dialects.devicelog.reduce.graph import Graph
from strandline.dialects.devicelog.reduce.membership.claims import Claims
from strandline.dialects.devicelog.reduce.membership.decided import (
    EFFECTIVE,
    FOUNDER,
    LAST,
    Cut,
    Membership,
)
from strandline.dialects.devicelog.types import NOTHING


def settle(graph: Graph, deciding: Iterable[int] | None = None) -> Membership:
    """Return the membership of all entries, or, by the entries that decide in a past, that of its reduction.

    The latter leaves out absent logs. Logs are settled in ascending rank, so that all that can cut a log is settled
    before it: one walk over the grants of key entries. A grant that is settled later has no effect on the log.
    """
    if graph.entries and graph.entries[0].profile == "ssb":
        return _feed(graph)
    return _Walk(graph, Claims(graph, deciding)).run()


def _feed(graph: Graph) -> Membership:
    """Return that the only log is active, and all of its entries are effective."""
    log = graph.entries[0].log
    return Membership({log: FOUNDER}, {branch.root for branch in graph.branches}, statuses={log: "active"})


class _Walk:
    def __init__(self, graph: Graph, claims: Claims) -> None:
        self._graph = graph
        self._claims = claims
        self._found = Membership()

    def run(self) -> Membership:
        """Settle every log."""
        for rank, log, grant in sorted(self._claims.candidates()):
            if log not in self._found.ranks and (grant == NONE or self._is_effective(grant)):
                self._found.ranks[log] = rank
                self._settle(log)
        for log in self._claims.starts.keys() - self._found.ranks.keys():
            self._found.statuses[log] = "void"
            self._judge_removals(log)
            self._judge_own_removals(log)
        if self._claims.is_whole:
            self._settle_grants()
        return self._found

    def _settle_grants(self) -> None:
        """Judge what concerns logs that have no entries: nothing else depends on it."""
        self._found.grants = {
            log: effective
            for log, grants in self._claims.grants.items()
            if (effective := sorted(each for each in grants if self._is_effective(each[1])))
        }
        for log in (self._claims.removals.keys() | self._found.grants.keys()) - self._claims.starts.keys():
            self._settle_absent(log)

    def _is_effective(self, index: int) -> bool:
        return self._found.is_effective(self._graph, index)

    def _settle(self, log: bytes) -> None:
        """Decide which entries of a log are effective, when all that is senior to it is settled."""
        graph, found = self._graph, self._found
        granted = [
            start
            for start in self._claims.starts[log]
            if (grant := self._claims.grant(start)) == NONE or self._is_effective(grant)
        ]
        found.roots.update(graph.branch[start] for start in granted)
        first = min(self._judge_removals(log), key=self._order, default=None)
        if first is not None:
            self._cut(log, first)
        first = min(self._judge_own_removals(log), key=self._order, default=None)
        if first is not None:
            found.cuts[log] = Cut(first, graph.entries[first].seq, first)
            found.chains[log] = _shorter(found.chains.get(log), graph.chain(first))
        found.statuses[log] = "removed" if log in found.cuts else "active"

    def _order(self, index: int) -> tuple[int, int, bytes]:
        return key_of(self._graph.entries[index])

    def _cut(self, log: bytes, removal: int) -> None:
        last_id = self._claims.removal(removal).last_id
        last = None if last_id is None else self._graph.index[last_id]
        seq = NOTHING if last is None else self._graph.entries[last].seq
        self._found.cuts[log] = Cut(last, seq, removal)
        self._found.chains[log] = {} if last is None else self._graph.chain(last)

    def _judge_removals(self, log: bytes) -> list[int]:
        """Give a verdict to the removals of a log by others, and return the effective ones."""
        rank = self._found.ranks.get(log, LAST)
        effective = []
        for index in self._claims.removals.get(log, ()):
            author = self._graph.entries[index].log
            if author == log:
                continue
            verdict = self._verdict(index, is_senior=self._found.ranks.get(author, LAST) < rank)
            self._found.verdicts[index] = verdict
            if verdict == EFFECTIVE:
                effective.append(index)
        return effective

    def _verdict(self, index: int, *, is_senior: bool) -> str:
        if not is_senior:
            return "REMOVE_NOT_SENIOR"
        if index in self._graph.cuts_seen:
            return "REMOVE_CUTS_SEEN"
        return EFFECTIVE if self._is_effective(index) else "REMOVE_BY_REMOVED"

    def _judge_own_removals(self, log: bytes) -> list[int]:
        """Give a verdict to the removals of a log by itself, and return the effective ones."""
        effective = []
        for index in self._claims.removals.get(log, ()):
            if self._graph.entries[index].log != log:
                continue
            if index in self._graph.cuts_seen:
                self._found.verdicts[index] = "REMOVE_CUTS_SEEN"
            elif not self._is_effective(index):
                self._found.verdicts[index] = "REMOVE_BY_REMOVED"
            else:
                self._found.verdicts[index] = EFFECTIVE
                effective.append(index)
        return effective

    def _settle_absent(self, log: bytes) -> None:
        """Judge the removals of a log without entries: each withdraws the effective grants behind its author's rank."""
        found, grants = self._found, self._found.grants.get(log, [])
        first, last = (grants[0][0], grants[-1][0]) if grants else (FOUNDER, FOUNDER)
        least = LAST
        for index in self._claims.removals.get(log, ()):
            rank = found.ranks.get(self._graph.entries[index].log, LAST)
            verdict = self._verdict(index, is_senior=rank < last)
            found.verdicts[index] = verdict
            if verdict == EFFECTIVE:
                least = min(least, rank)
        if grants:
            found.withdrawn[log] = least
            found.statuses[log] = "withdrawn" if least < first else "pending"


def _shorter(kept: Mapping[int, int] | None, chain: Mapping[int, int]) -> Mapping[int, int]:
    if kept is None:
        return chain
    return {branch: min(kept[branch], seq) for branch, seq in chain.items() if branch in kept}
