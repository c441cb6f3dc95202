"""The walk that resolves logs in ascending rank."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

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


def resolve(graph: Graph) -> Membership:
    """Return the membership of all entries."""
    if _is_feed(graph):
        return _feed(graph)
    claims = Claims(graph, None)
    walk = _Walk(graph, claims)
    walk.resolve(claims.starts.keys())
    walk.resolve_grants()
    return walk.found


class PastMembership:
    """The membership of the past in which given entries decide: of each log that is asked for, and was not before.

    `deciding` are starts of logs that have several, and removals; `only_starts` the starts of all others. So it is that
    of any past with these deciding entries.
    """

    def __init__(self, graph: Graph, deciding: Iterable[int], only_starts: Mapping[bytes, int]) -> None:
        self._graph = graph
        self._only_starts = only_starts
        self._claims = Claims(graph, deciding)
        self._walk = _Walk(graph, self._claims)
        self._resolved: set[bytes] = set()
        if _is_feed(graph):
            self._walk.found = _feed(graph)
            self._resolved.update(graph.logs)

    @property
    def values(self) -> int:
        """The number of stored values."""
        return self._walk.found.values

    def kept(self, branch: int) -> int:
        """Return the greatest effective seq of a branch, or NONE; MAX_NUMBER if it is not cut."""
        log = self._graph.branches[branch].log
        if log not in self._resolved:
            self._walk.resolve(self._needed(log))
        return self._walk.found.kept(self._graph, branch)

    def _needed(self, log: bytes) -> list[bytes]:
        """Return a log, and those that decide about it: who granted it, who removes it, and who decides about these."""
        needed, waiting = [], [log]
        while waiting:
            each = waiting.pop()
            if each in self._resolved:
                continue
            self._resolved.add(each)
            needed.append(each)
            if each in self._only_starts:
                self._claims.add(self._only_starts[each])
            waiting += self._claims.deciders(each)
        return needed


def _is_feed(graph: Graph) -> bool:
    return bool(graph.entries) and graph.entries[0].profile == "ssb"


def _feed(graph: Graph) -> Membership:
    """Return that the only log is active, and all of its entries are effective."""
    log = graph.entries[0].log
    return Membership({log: FOUNDER}, {branch.root for branch in graph.branches}, statuses={log: "active"})


class _Walk:
    """Resolves logs in ascending rank, so that every log that can cut another one is resolved before it.

    A grant that is resolved later has no effect on the log.
    """

    def __init__(self, graph: Graph, claims: Claims) -> None:
        self.found = Membership()
        self._graph = graph
        self._claims = claims

    def resolve(self, logs: Collection[bytes]) -> None:
        """Resolve logs; the logs that decide about them are among them, or already resolved."""
        for rank, log, grant in sorted(self._claims.candidates(logs)):
            if log not in self.found.ranks and (grant == NONE or self._is_effective(grant)):
                self.found.ranks[log] = rank
                self._resolve(log)
        for log in logs:
            if log not in self.found.ranks:
                self.found.statuses[log] = "void"
                self._judge_removals(log)
                self._judge_own_removals(log)

    def resolve_grants(self) -> None:
        """Judge grants and removals of logs without entries: no other verdict depends on them."""
        self.found.grants = {
            log: effective
            for log, grants in self._claims.grants.items()
            if (effective := sorted(each for each in grants if self._is_effective(each[1])))
        }
        for log in (self._claims.removals.keys() | self.found.grants.keys()) - self._claims.starts.keys():
            self._resolve_absent(log)

    def _is_effective(self, index: int) -> bool:
        return self.found.is_effective(self._graph, index)

    def _resolve(self, log: bytes) -> None:
        """Decide which entries of a log are effective, after all senior logs are resolved."""
        graph, found = self._graph, self.found
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
        self.found.cuts[log] = Cut(last, seq, removal)
        self.found.chains[log] = {} if last is None else self._graph.chain(last)

    def _judge_removals(self, log: bytes) -> list[int]:
        """Give a verdict to the removals of a log by others, and return the effective ones."""
        rank = self.found.ranks.get(log, LAST)
        effective = []
        for index in self._claims.removals.get(log, ()):
            author = self._graph.entries[index].log
            if author == log:
                continue
            verdict = self._verdict(index, is_senior=self.found.ranks.get(author, LAST) < rank)
            self.found.verdicts[index] = verdict
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
                self.found.verdicts[index] = "REMOVE_CUTS_SEEN"
            elif not self._is_effective(index):
                self.found.verdicts[index] = "REMOVE_BY_REMOVED"
            else:
                self.found.verdicts[index] = EFFECTIVE
                effective.append(index)
        return effective

    def _resolve_absent(self, log: bytes) -> None:
        """Judge the removals of a log without entries: each withdraws the effective grants behind its author's rank."""
        found, grants = self.found, self.found.grants.get(log, [])
        first, last = (grants[0][0], grants[-1][0]) if grants else (FOUNDER, FOUNDER)
        least = LAST
        for index in self._claims.removals.get(log, ()):
            rank = found.ranks.get(self._graph.entries[index].log, LAST)
            verdict = self._verdict(index, is_senior=rank < last)
            found.verdicts[index] = verdict
            if verdict == EFFECTIVE:
                least = min(least, rank)
        if grants:
            found.statuses[log] = "withdrawn" if least < first else "pending"


def _shorter(kept: Mapping[int, int] | None, chain: Mapping[int, int]) -> Mapping[int, int]:
    if kept is None:
        return chain
    return {branch: min(kept[branch], seq) for branch, seq in chain.items() if branch in kept}
