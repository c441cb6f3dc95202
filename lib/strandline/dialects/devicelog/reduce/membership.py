"""Who belongs to a group: ranks of logs, verdicts of removals, which entries are effective."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from strandline.dialects.devicelog.reduce.graph import NONE, Graph, key_of
from strandline.dialects.devicelog.types import (
    MAX_NUMBER,
    NOTHING,
    AddStatement,
    KeyStatement,
    RemoveStatement,
)

Rank: TypeAlias = tuple[int, int, bytes, int]
"""Place of a grant: lamport, utc, id, index of the log in it. The least of a log's effective grants is its rank."""

Status: TypeAlias = Literal["active", "removed", "void", "pending", "withdrawn"]
EntryStatus: TypeAlias = Literal["effective", "removed", "void"]

FOUNDER: Final[Rank] = (-2, 0, b"", 0)
LAST: Final[Rank] = (MAX_NUMBER + 1, 0, b"", 0)
"""The rank of a log without an effective grant."""

EFFECTIVE: Final = "effective"


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a log ends, and the deciding remove-log, by index; `last` is None if none of its entries stays."""

    last: int | None
    seq: int
    removal: int


@dataclass(slots=True)
class Membership:
    """The verdicts of a set of entries; everything by log, by branch number, or by index of an entry.

    `kept` is the greatest effective seq by branch, `begun` the branches whose chain starts with a granted key entry.
    `grants` are the effective grants of each log, ascending. `withdrawn` is, for a log without entries, the least rank
    of those who remove it: grants behind it are withdrawn.
    """

    ranks: dict[bytes, Rank] = field(default_factory=dict)
    kept: dict[int, int] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    cuts: dict[bytes, Cut] = field(default_factory=dict)
    verdicts: dict[int, str] = field(default_factory=dict)
    grants: dict[bytes, list[tuple[Rank, int]]] = field(default_factory=dict)
    withdrawn: dict[bytes, Rank] = field(default_factory=dict)
    statuses: dict[bytes, Status] = field(default_factory=dict)

    def is_effective(self, graph: Graph, index: int) -> bool:
        """Return whether an entry is effective."""
        return graph.holds(self.kept, index)

    def entry_status(self, graph: Graph, index: int) -> EntryStatus:
        """Return `effective`, `removed`, or `void`: its log starts without an effective grant."""
        if graph.holds(self.kept, index):
            return "effective"
        return "removed" if graph.branch[index] in self.begun else "void"

    def within(self, bounds: Mapping[int, int]) -> dict[int, int]:
        """Return the greatest effective seq by branch of the entries within bounds."""
        return {branch: min(bounds[branch], self.kept[branch]) for branch in bounds if branch in self.kept}


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


def settle(graph: Graph, bounds: Mapping[int, int] | None = None) -> Membership:
    """Return the membership of all entries, or in the reduction of those within bounds, without absent logs.

    Logs are settled in ascending rank, so that all that can cut a log is settled before it: one walk over the grants of
    key entries. A grant that is settled later has no effect on the log.
    """
    if graph.entries and graph.entries[0].profile == "ssb":
        return _feed(graph)
    return _Walk(graph, bounds).run()


def _membership(graph: Graph, bounds: Mapping[int, int]) -> Iterable[int]:
    """Yield the membership entries within bounds."""
    for number, bound in bounds.items():
        branch = graph.branches[number]
        yield from branch.membership[: bisect_right(branch.membership_seqs, bound)]


def _feed(graph: Graph) -> Membership:
    """Return that the only log is active, and all of its entries are effective."""
    branches = {each: MAX_NUMBER for log in graph.logs.values() for each in log}
    log = graph.entries[0].log
    return Membership({log: FOUNDER}, branches, set(branches), statuses={log: "active"})


class _Walk:
    def __init__(self, graph: Graph, bounds: Mapping[int, int] | None) -> None:
        self._graph = graph
        self._found = Membership()
        self._starts: dict[bytes, list[int]] = {}
        self._grants: dict[bytes, list[tuple[Rank, int]]] = {}
        self._removals: dict[bytes, list[int]] = {}
        self._branches: Mapping[bytes, list[int]] = graph.logs
        self._is_whole = bounds is None
        if bounds is not None:
            within: dict[bytes, list[int]] = {}
            for number in bounds:
                within.setdefault(graph.branches[number].log, []).append(number)
            self._branches = within
        for index in graph.membership if bounds is None else _membership(graph, bounds):
            self._sort_in(index)

    def _sort_in(self, index: int) -> None:
        header = self._graph.entries[index]
        match header.statement:
            case KeyStatement(_, initial):
                self._starts.setdefault(header.log, []).append(index)
                if self._is_whole:
                    for log in initial:
                        self._grants.setdefault(log, []).append((self._rank(index, log), index))
            case AddStatement(log):
                self._grants.setdefault(log, []).append((self._rank(index, log), index))
            case RemoveStatement(log):
                self._removals.setdefault(log, []).append(index)
            case _:
                pass

    def _rank(self, grant: int, log: bytes) -> Rank:
        """Return the rank of a log by one of its grants."""
        return *key_of(self._graph.entries[grant]), self._graph.places.get((grant, log), 0)

    def run(self) -> Membership:
        """Settle every log."""
        for rank, log, grant in sorted(self._candidates()):
            if log not in self._found.ranks and (grant == NONE or self._is_effective(grant)):
                self._found.ranks[log] = rank
                self._settle(log)
        for log in self._starts.keys() - self._found.ranks.keys():
            self._found.statuses[log] = "void"
            self._judge_removals(log)
            self._judge_own_removals(log, {})
        if self._is_whole:
            self._settle_grants()
        return self._found

    def _settle_grants(self) -> None:
        """Judge what concerns logs that have no entries: nothing else depends on it."""
        self._found.grants = {
            log: effective
            for log, grants in self._grants.items()
            if (effective := sorted(each for each in grants if self._is_effective(each[1])))
        }
        for log in (self._removals.keys() | self._found.grants.keys()) - self._starts.keys():
            self._settle_absent(log)

    def _candidates(self) -> Iterable[tuple[Rank, bytes, int]]:
        """Yield the grants of all key entries, by which a log may be settled; NONE is the founder's right."""
        for log, starts in self._starts.items():
            for start in starts:
                grant = self._grant(start)
                yield FOUNDER if grant == NONE else self._rank(grant, log), log, grant

    def _grant(self, start: int) -> int:
        header = self._graph.entries[start]
        return NONE if header.is_founder else self._graph.index[header.deps[0]]

    def _is_effective(self, index: int) -> bool:
        return self._graph.holds(self._found.kept, index)

    def _settle(self, log: bytes) -> None:
        """Decide which entries of a log are effective, when all that is senior to it is settled."""
        graph, found = self._graph, self._found
        roots = {
            graph.branch[start]
            for start in self._starts[log]
            if (grant := self._grant(start)) == NONE or self._is_effective(grant)
        }
        begun = [branch for branch in self._branches[log] if graph.branches[branch].root in roots]
        found.begun.update(begun)
        kept = dict.fromkeys(begun, MAX_NUMBER)
        effective = self._judge_removals(log)
        first = min(effective, key=self._order, default=None)
        if first is not None:
            kept = self._cut(log, kept, first)
        own = self._judge_own_removals(log, kept)
        first = min(own, key=self._order, default=None)
        if first is not None:
            found.cuts[log] = Cut(first, graph.entries[first].seq, first)
            kept = _shorter(kept, graph.chain(first))
        found.kept.update(kept)
        found.statuses[log] = "removed" if log in found.cuts else "active"

    def _order(self, index: int) -> tuple[int, int, bytes]:
        return key_of(self._graph.entries[index])

    def _cut(self, log: bytes, kept: dict[int, int], removal: int) -> dict[int, int]:
        last_id = self._removal(removal).last_id
        last = None if last_id is None else self._graph.index[last_id]
        seq = NOTHING if last is None else self._graph.entries[last].seq
        self._found.cuts[log] = Cut(last, seq, removal)
        return {} if last is None else _shorter(kept, self._graph.chain(last))

    def _removal(self, index: int) -> RemoveStatement:
        statement = self._graph.entries[index].statement
        if not isinstance(statement, RemoveStatement):
            raise ValueError("only a remove-log removes")
        return statement

    def _judge_removals(self, log: bytes) -> list[int]:
        """Give a verdict to the removals of a log by others, and return the effective ones."""
        rank = self._found.ranks.get(log, LAST)
        effective = []
        for index in self._removals.get(log, ()):
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

    def _judge_own_removals(self, log: bytes, kept: Mapping[int, int]) -> list[int]:
        """Give a verdict to the removals of a log by itself, and return the effective ones."""
        effective = []
        for index in self._removals.get(log, ()):
            if self._graph.entries[index].log != log:
                continue
            if index in self._graph.cuts_seen:
                self._found.verdicts[index] = "REMOVE_CUTS_SEEN"
            elif not self._graph.holds(kept, index):
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
        for index in self._removals.get(log, ()):
            rank = found.ranks.get(self._graph.entries[index].log, LAST)
            verdict = self._verdict(index, is_senior=rank < last)
            found.verdicts[index] = verdict
            if verdict == EFFECTIVE:
                least = min(least, rank)
        if grants:
            found.withdrawn[log] = least
            found.statuses[log] = "withdrawn" if least < first else "pending"


def _shorter(kept: Mapping[int, int], chain: Mapping[int, int]) -> dict[int, int]:
    return {branch: min(kept[branch], seq) for branch, seq in chain.items() if branch in kept}
