"""Entries of one group as a graph: branches, and the past of an entry as a bound per branch.

A branch is a path inside one log. It continues with the child of least id; every other child starts a branch of its
own. So a past, also one with forks in it, is a greatest seq per branch. Pasts share equal parts.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Final

from strandline.dialects.devicelog.reduce.bounds import MOST_JOINS, NOTHING_BEFORE, Bounds, Joins, Past
from strandline.dialects.devicelog.reduce.branches import NONE, Branch, key_of
from strandline.dialects.devicelog.types import Header, KeyStatement, RemoveStatement

_MEMBERSHIP: Final = ("key", "add-log", "remove-log")


class MissingEntryError(ValueError):
    """An entry names an entry that is not given."""


class Graph:
    """Entries by index, each with its branch. A past holds for as long as the graph does, or until it is freed.

    `add` takes entries parents first. `heirs` are, by id of an entry, the children with which its branch continues;
    without them it continues with the first child that is added. `cut` are the entries and logs at which removals cut,
    by id and key; None: all may be.
    """

    def __init__(
        self, heirs: Mapping[bytes, bytes] | None = None, cut: Container[bytes] | None = None
    ) -> None:
        self.entries: list[Header] = []
        self.index: dict[bytes, int] = {}
        self.branch: list[int] = []
        self.branches: list[Branch] = []
        self.logs: dict[bytes, list[int]] = {}
        self.membership: list[int] = []
        self.cuts_seen: set[int] = set()
        self.places: dict[tuple[int, bytes], int] = {}
        self.forks: dict[int, set[int]] = {}
        self.gaps: dict[bytes, int] = {}
        self._bases: list[Bounds | None] = []
        # What starts at a cut, and is in the past of an entry: many removals may cut where many branches start.
        self._started: list[Bounds] = []
        self._cuts: dict[bytes, int] = {}
        self._cut = cut
        self._joins: Joins = {}
        self._heirs = heirs or {}

    def add(self, header: Header) -> int:
        """Add an entry whose parents are added, and return its index.

        Raises:
            MissingEntryError: a parent is missing.
            ValueError: the entry is of another group.
        """
        if self.entries and header.group != self.entries[0].group:
            raise ValueError("the entries are of two groups")
        index, prev = len(self.entries), self._previous(header)
        number, base, started = self._placed(header, prev)
        for dep in sorted({self._known(each) for each in header.deps}, reverse=True):
            if self.branch[dep] != number and not self.holds(base, dep):
                base = self.joined(base, [dep])
                started = started.joined(self._started[dep], self._joins)
        self.entries.append(header)
        self.index[header.record_id] = index
        self.branch.append(number)
        self._bases.append(base)
        self._started.append(started)
        branch = self.branches[number]
        branch.entries.append(index)
        branch.last_seq = header.seq
        if header.kind == "msg":
            branch.message_seqs.append(header.seq)
            branch.message_keys.append(key_of(header))
        elif header.kind in _MEMBERSHIP:
            self.membership.append(index)
            if isinstance(header.statement, KeyStatement):
                self.places |= {(index, log): place for place, log in enumerate(header.statement.initial)}
            if isinstance(header.statement, RemoveStatement) and self._cuts_seen(index, header.statement):
                self.cuts_seen.add(index)
        return index

    def _known(self, record_id: bytes) -> int:
        found = self.index.get(record_id)
        if found is None:
            raise MissingEntryError(f"the entry {record_id.hex()} of a device log is missing")
        return found

    def _previous(self, header: Header) -> int:
        """Return the index of the entry before; a weak Scuttlebutt feed can have gaps."""
        if header.prev is None:
            return NONE
        if header.profile == "native":
            return self._known(header.prev)
        prev = self.index.get(header.prev, NONE)
        if prev == NONE or self.entries[prev].seq + 1 != header.seq:
            self.gaps[header.log] = self.gaps.get(header.log, 0) + 1
            return NONE
        return prev

    def _placed(self, header: Header, prev: int) -> tuple[int, Bounds, Bounds]:
        """Return the branch of a new entry, the bounds of its prev's past in other branches, and the cuts in it."""
        if prev != NONE:
            number = self.branch[prev]
            heir = self._heirs.get(self.entries[prev].record_id, header.record_id)
            if heir == header.record_id and self.branches[number].entries[-1] == prev:
                return number, self._base(prev), self._started[prev]
        started = len(self.branches)
        root = started if prev == NONE else self.branches[self.branch[prev]].root
        self.branches.append(Branch(header.log, prev, root))
        self.logs.setdefault(header.log, []).append(started)
        if prev == NONE:
            return started, NOTHING_BEFORE, self._with_cut(NOTHING_BEFORE, header.log)
        self.forks.setdefault(prev, set()).add(started)
        base = self._base(prev).having(self.branch[prev], self.entries[prev].seq)
        return started, base, self._with_cut(self._started[prev], self.entries[prev].record_id)

    def _with_cut(self, started: Bounds, cut: bytes) -> Bounds:
        if self._cut is not None and cut not in self._cut:
            return started
        return started.having(self._cuts.setdefault(cut, len(self._cuts)), 0)

    def _has_started(self, index: int, cut: bytes) -> bool:
        """Return whether the past of an entry has a branch that starts at a cut: after an entry, or a log."""
        number = self._cuts.get(cut)
        return number is not None and self._started[index].get(number) != NONE

    def joined(self, bounds: Bounds, indices: Iterable[int]) -> Bounds:
        """Return the union of bounds and the pasts of entries. The cost is that of parts not joined before."""
        for index in indices:
            branch, seq = self.branch[index], self.entries[index].seq
            if bounds.get(branch) < seq:
                if len(self._joins) > MOST_JOINS:
                    self._joins.clear()
                bounds = bounds.joined(self._base(index), self._joins).having(branch, seq)
        return bounds

    def _base(self, index: int) -> Bounds:
        base = self._bases[index]
        if base is None:
            raise ValueError("the past of this entry is not kept")
        return base

    def free(self, index: int) -> None:
        """Forget the past of an entry that no later one needs."""
        self._bases[index] = None
        self._started[index] = NOTHING_BEFORE

    def past(self, index: int) -> Past:
        """Return the past of an entry, itself included."""
        return Past(self._base(index), self.branch[index], self.entries[index].seq)

    def reaches(self, index: int, other: int) -> bool:
        """Return whether `other` is in the past of an entry."""
        branch, seq = self.branch[other], self.entries[other].seq
        if branch == self.branch[index]:
            return seq <= self.entries[index].seq
        return seq <= self._base(index).get(branch)

    def holds(self, bounds: Bounds, index: int) -> bool:
        """Return whether an entry is within bounds."""
        return self.entries[index].seq <= bounds.get(self.branch[index])

    def chain(self, index: int) -> dict[int, int]:
        """Return the bounds of an entry and all before it in its log."""
        return self.chains([index])

    def chains(self, indices: Iterable[int]) -> dict[int, int]:
        """Return the bounds of entries and their predecessors in their logs. A shared branch is visited once."""
        bounds: dict[int, int] = {}
        for index in indices:
            while index != NONE and bounds.get(self.branch[index], NONE) < self.entries[index].seq:
                bounds[self.branch[index]] = self.entries[index].seq
                index = self.branches[self.branch[index]].parent
        return bounds

    def tips(self, log: bytes) -> list[int]:
        """Return the entries of a log without successor, ascending by id."""
        last = (self.branches[each].entries[-1] for each in self.logs.get(log, ()))
        return sorted(last, key=lambda index: self.entries[index].record_id)

    def first(self, branch: int) -> int:
        """Return the entry with which a branch begins."""
        return self.branches[branch].entries[0]

    def name(self, branch: int) -> bytes:
        """Return the id of a branch: that of its first entry."""
        return self.entries[self.first(branch)].record_id

    def children(self, index: int) -> list[int]:
        """Return the successors of a fork point: the one that continues its branch, and those that start branches."""
        entries = self.branches[self.branch[index]].entries
        going_on = entries[self.entries[index].seq - self.entries[entries[0]].seq + 1]
        return [going_on, *map(self.first, self.forks[index])]

    def _cuts_seen(self, index: int, removal: RemoveStatement) -> bool:
        """Return whether a remove-log cuts entries that its author had seen, or names a last one that it had not.

        If a log removes itself, the last one is the entry before the remove-log.
        """
        header = self.entries[index]
        if removal.log == header.log:
            return removal.last_id != header.prev
        base = self._base(index)
        if removal.last_id is None:
            return self._has_started(index, removal.log)
        last = self.index.get(removal.last_id)
        if last is None or not self.reaches(index, last):
            return True
        goes_on = base.get(self.branch[last]) > self.entries[last].seq
        return goes_on or self._has_started(index, removal.last_id)
