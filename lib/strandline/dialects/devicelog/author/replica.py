"""The state of one device: accepted entries of its group, entries that wait for parents, and the view that it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from strandline.dialects.devicelog.reduce import (
    Graph,
    Membership,
    View,
    empty_view_hash,
    key_of,
    resolve,
)
from strandline.dialects.devicelog.types import MAX_DEPS, Entry, RemoveStatement


class Shown(NamedTuple):
    """The length of a view, and its hash."""

    length: int
    v: bytes


class Replica:
    """Accepted entries of a group by id, parents first, and the view as it was last shown."""

    def __init__(self, group: bytes) -> None:
        self.entries: dict[bytes, Entry] = {}
        self._group = group
        self._graph = Graph()
        self._heads: set[bytes] = set()
        self._waiting: dict[bytes, Entry] = {}
        self._resolved = 0
        self._membership = Membership()
        self.view = View(self._graph.branches, empty_view_hash(group))

    def acceptable(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return the new entries whose references are accepted or among them, parents first; the others wait.

        Raises:
            ValueError: an entry is of another group.
        """
        for entry in entries:
            if entry.group != self._group:
                raise ValueError("the entry is of another group")
            if entry.record_id not in self.entries:
                self._waiting[entry.record_id] = entry
        blocked = self._blocked()
        ready = [entry for record_id, entry in self._waiting.items() if record_id not in blocked]
        return sorted(ready, key=_parents_first)

    def _blocked(self) -> set[bytes]:
        """Return the waiting entries with a missing reference, and those that name one of them."""
        users: dict[bytes, list[bytes]] = {}
        walk: list[bytes] = []
        for record_id, entry in self._waiting.items():
            for each in _references(entry):
                if each in self._waiting:
                    users.setdefault(each, []).append(record_id)
                elif each not in self.entries:
                    walk.append(record_id)
        blocked: set[bytes] = set()
        while walk:
            record_id = walk.pop()
            if record_id not in blocked:
                blocked.add(record_id)
                walk += users.get(record_id, ())
        return blocked

    def accept(self, entry: Entry) -> None:
        """Add an entry whose parents are accepted."""
        self._graph.add(entry)
        self.entries[entry.record_id] = entry
        self._waiting.pop(entry.record_id, None)
        self._heads.difference_update(_parents(entry))
        self._heads.add(entry.record_id)

    def fitting(self, entries: list[Entry], own: bytes) -> int:
        """Return how many of the first entries can be accepted so that one entry can name all that it has not seen."""
        named = {each for entry in entries for each in _parents(entry)}
        after = (self._heads | {entry.record_id for entry in entries}) - named - {own}
        if len(after) <= MAX_DEPS:
            return len(entries)
        heads = self._heads - {own}
        for count, entry in enumerate(entries):
            heads.difference_update(_parents(entry))
            heads.add(entry.record_id)
            if len(heads) > MAX_DEPS:
                return max(count, 1)
        return len(entries)

    def heads_besides(self, own: bytes) -> set[bytes]:
        """Return the maximal entries outside the past of the newest own one: nothing names a head."""
        return self._heads - {own}

    def shown(self) -> Shown:
        """Return what the device shows."""
        return Shown(len(self.view.keys), self.view.hashes[-1])

    def show(self) -> int:
        """Bring the view up to date, and return how many of its first rows stayed."""
        if len(self._graph.membership) != self._resolved:
            self._membership = resolve(self._graph)
            self._resolved = len(self._graph.membership)
        last = ((number, branch.last_seq) for number, branch in enumerate(self._graph.branches))
        return self.view.move(self._membership.within(self._graph, last))

    def is_active(self, log: bytes) -> bool:
        """Return whether a log is active."""
        return self._membership.statuses.get(log) == "active"

    def is_granted(self, log: bytes) -> bool:
        """Return whether a log has an effective grant, or founded the group."""
        return log in self._membership.grants or log in self._membership.ranks

    def least_grant(self, log: bytes) -> bytes | None:
        """Return the id of the least effective grant of a log."""
        grants = resolve(self._graph).grants.get(log)
        return None if grants is None else self._graph.entries[grants[0][1]].record_id

    def newest(self, log: bytes) -> Entry | None:
        """Return the tip of a log, of several the one with the greatest clock."""
        tips = (self._graph.entries[index] for index in self._graph.tips(log))
        found = max(tips, key=key_of, default=None)
        return None if found is None else self.entries[found.record_id]

    def is_split(self, log: bytes) -> bool:
        """Return whether a log has several tips."""
        return len(self._graph.tips(log)) > 1

    def count_waiting(self, log: bytes) -> int:
        """Return how many entries of a log wait, or are acceptable and not accepted yet."""
        return sum(entry.log == log for entry in self._waiting.values())

    def unseen_before(self, entry: Entry) -> list[Entry]:
        """Return an entry that can be accepted and what must be accepted before it, parents first."""
        return _unseen([entry.record_id], self._waiting, self.entries)

    def unknown_to(self, other: Replica) -> list[Entry]:
        """Return the entries that another replica does not have, parents first."""
        return _unseen(self._heads, self.entries, other.entries)


def _unseen(
    tips: Iterable[bytes], entries: Mapping[bytes, Entry], seen: Mapping[bytes, Entry]
) -> list[Entry]:
    """Return the entries in the past of `tips` that are not among `seen`, parents first.

    `seen` is closed under references: the walk stops there.
    """
    found: dict[bytes, Entry] = {}
    walk = [each for each in tips if each not in seen]
    while walk:
        entry = entries[walk.pop()]
        if entry.record_id not in found:
            found[entry.record_id] = entry
            walk += [each for each in _references(entry) if each not in seen]
    return sorted(found.values(), key=_parents_first)


def _parents_first(entry: Entry) -> tuple[int, int]:
    return entry.lamport, entry.seq


def _references(entry: Entry) -> tuple[bytes, ...]:
    """Return the ids that must be accepted before an entry."""
    statement = entry.statement
    if isinstance(statement, RemoveStatement) and statement.last_id is not None:
        return (*_parents(entry), statement.last_id)
    return _parents(entry)


def _parents(entry: Entry) -> tuple[bytes, ...]:
    return entry.deps if entry.prev is None else (entry.prev, *entry.deps)
