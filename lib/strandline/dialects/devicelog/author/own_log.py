"""What a device writes: entries that follow its last one and name all that it has seen since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from strandline.core.ed25519 import Ed25519Key
from strandline.dialects.devicelog.author.entries import check_number, sign_entry
from strandline.dialects.devicelog.author.replica import Replica
from strandline.dialects.devicelog.types import MAX_DEPS, Entry, Kind, ScrewStatement, Statement

Merged: TypeAlias = Literal["same", "forward", "resumed", "screw", "removed"]
_GRAVITY: tuple[Merged, ...] = ("same", "forward", "resumed", "screw", "removed")
_SPLIT = "the log of this key was continued elsewhere"


class OwnLog:
    """The end of the log of a key, over what its device knows; `last` is the newest own entry."""

    def __init__(self, key: Ed25519Key, replica: Replica, first: Entry) -> None:
        self.key = key
        self.last = first
        self._replica = replica

    def merge(self, entries: Iterable[Entry], agreed: int | None, utc: int) -> Merged:
        """Accept entries as `DeviceLog.merge` does; `agreed` first rows of two views are in common."""
        # What a screw states must be known to be good before rows move: a later merge does not write it.
        check_number("utc", utc)
        found: Merged = "same"
        waiting = self._replica.acceptable(entries)
        if not waiting:
            return found
        own = [entry for entry in waiting if entry.log == self.key.public]
        self._check_continued(own, waiting)
        if self._replica.count_waiting(self.key.public) > len(own):
            # A screw cannot be written now, so no row is shown before the last own entry can be accepted.
            return found
        if own:
            found, agreed = self._resume(own[-1]), None
            waiting = [entry for entry in waiting if entry.record_id not in self._replica.entries]
        while waiting:
            self.acknowledge(utc, MAX_DEPS - 1)
            size = self._replica.fitting(waiting, self.last.record_id)
            found = max(found, self._merge_part(waiting[:size], agreed, utc), key=_GRAVITY.index)
            waiting = waiting[size:]
        return found

    def _check_continued(self, own: list[Entry], waiting: list[Entry]) -> None:
        """Check that own entries continue the last one without a fork; otherwise only accept the new entries.

        Raises:
            ValueError: the log has several tips then.
        """
        is_chain = all(entry.prev == before.record_id for before, entry in pairwise([self.last, *own]))
        if not is_chain or self.is_split():
            self._accept(waiting)
            raise ValueError(f"{_SPLIT}: the new entries are accepted, no screw is written")

    def is_split(self) -> bool:
        """Return whether this log was continued elsewhere."""
        return self._replica.is_split(self.key.public)

    def _resume(self, newest: Entry) -> Merged:
        """Go on from a newer own entry: this log has shown what that one has seen, and its screws are there."""
        before, missed = self._replica.shown(), self._replica.unseen_before(newest)
        common = self._accept(missed)
        self.last = newest
        if common == before.length:
            return "forward"
        has_screw = any(entry.kind == "screw" and entry.log == self.key.public for entry in missed)
        return "screw" if has_screw else "resumed"

    def _accept(self, entries: list[Entry]) -> int:
        """Accept entries and show them; return how many first rows of the view stayed."""
        for entry in entries:
            self._replica.accept(entry)
        return self._replica.show()

    def _merge_part(self, entries: list[Entry], agreed: int | None, utc: int) -> Merged:
        heads, before = self.heads(), self._replica.shown()
        common = self._accept(entries)
        if common == before.length:
            return "forward"
        if not self._replica.is_active(self.key.public):
            return "removed"
        rewind = common if agreed is None else min(common, agreed)
        self.write_screw(rewind, before.length, before.v, heads, utc)
        return "screw"

    def write_screw(self, rewind: int, n: int, v: bytes, heads: tuple[bytes, ...], utc: int) -> None:
        """Write that the view of `heads`, (n, v), was rewound to a position and replayed to what it is now."""
        hashes = self._replica.view.hashes
        screw = ScrewStatement(rewind, hashes[rewind], n, v, len(hashes) - 1, hashes[-1], heads)
        self.write("screw", screw, utc)

    def heads(self) -> tuple[bytes, ...]:
        """Return the newest own entry and the maximal known entries outside its past, ascending."""
        own = self.last.record_id
        return tuple(sorted([own, *self._replica.heads_besides(own)]))

    def acknowledge(self, utc: int, most: int = MAX_DEPS) -> None:
        """Write acks until an entry need not name more than `most` others."""
        while len(others := self._replica.heads_besides(self.last.record_id)) > most:
            self.sign("ack", b"", utc, sorted(others)[:MAX_DEPS])

    def write(self, kind: Kind, body: bytes | Statement, utc: int) -> Entry:
        """Write an entry, and show it.

        Raises:
            ValueError: this log was continued elsewhere, so another entry would lengthen a branch; or as `sign`.
        """
        if self.is_split():
            raise ValueError(f"{_SPLIT}: it writes only removals")
        self.acknowledge(utc)
        entry = self.sign(kind, body, utc)
        self._replica.show()
        return entry

    def sign(
        self, kind: Kind, body: bytes | Statement, utc: int, deps: Sequence[bytes] | None = None
    ) -> Entry:
        """Sign and accept an entry that names `deps`, by default all that the device has seen since its last one.

        Raises:
            ValueError: newer entries of this log wait, so this one would fork it; or as `sign_entry`.
        """
        if self._replica.count_waiting(self.key.public):
            raise ValueError("newer entries of this log wait for what they name: merge that first")
        own = self.last
        named = self._replica.heads_besides(own.record_id) if deps is None else deps
        clocks = [own.lamport, *(self._replica.entries[each].lamport for each in named)]
        entry = sign_entry(
            self.key, kind, body, group=own.group, seq=own.seq + 1, lamport=1 + max(clocks), utc=utc,
            prev=own.record_id, deps=named,
        )  # fmt: skip
        self._replica.accept(entry)
        self.last = entry
        return entry
