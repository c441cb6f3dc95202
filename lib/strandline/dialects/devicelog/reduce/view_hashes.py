"""Lengths and hashes of the views that screws name, in any order."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from strandline.dialects.devicelog.reduce.branches import Branch, Key
from strandline.dialects.devicelog.reduce.view import step

Counts: TypeAlias = dict[int, int]
"""A view: how many of the first messages of each branch are in it."""


class ViewHashes:
    """The hashes of views within bounds. It keeps the rows of one view, and the last hash of each view that was
    requested.

    A prefix of the kept view costs no hash, nor does a view that was requested before. Any other view costs one hash a
    row, from the first row that differs from the kept view. `steps` counts the hashes. `first_hash` is the hash before
    the first message: `empty_view_hash` of a group.
    """

    def __init__(self, branches: Sequence[Branch], first_hash: bytes) -> None:
        self.steps = 0
        self._branches = branches
        self._held: Counts = {}
        self._hashes = [first_hash]
        self._last: dict[bytes, bytes] = {}

    def counts(self, bounds: Mapping[int, int]) -> Counts:
        """Return the view within bounds."""
        found = (
            (number, bisect_right(self._branches[number].message_seqs, seq)) for number, seq in bounds.items()
        )
        return {number: count for number, count in found if count}

    def last(self, view: Counts) -> bytes:
        """Return v_n of a view with n rows."""
        name = hashlib.sha256(array("q", chain.from_iterable(sorted(view.items()))).tobytes()).digest()
        found = self._last.get(name)
        if found is None:
            found = self._last[name] = self.at(view, sum(view.values()))
        return found

    def at(self, view: Counts, row: int) -> bytes:
        """Return v_k of a view with at least k rows."""
        first = self._first_difference(self._held, view)
        if first is not None:
            stays = self._rows_before(view, first)
            if row > stays:
                self._hash_from(view, first, stays)
        return self._hashes[row]

    def common(self, one: Counts, other: Counts) -> int:
        """Return how many first rows two views have in common."""
        first = self._first_difference(one, other)
        return sum(one.values()) if first is None else self._rows_before(one, first)

    def _first_difference(self, one: Counts, other: Counts) -> Key | None:
        """Return the first message that is in one of two views only, or None."""
        return min(
            (
                self._branches[number].message_keys[min(count, other.get(number, 0))]
                for number, count in chain(one.items(), ((each, 0) for each in other.keys() - one.keys()))
                if count != other.get(number, 0)
            ),
            default=None,
        )

    def _rows_before(self, view: Counts, key: Key) -> int:
        return sum(
            bisect_left(self._branches[number].message_keys, key, 0, count) for number, count in view.items()
        )

    def _hash_from(self, view: Counts, first: Key, stays: int) -> None:
        """Hold a view, of which the first rows are held: those before `first`."""
        tail: list[Key] = []
        for number, count in view.items():
            keys = self._branches[number].message_keys
            tail += keys[bisect_left(keys, first, 0, count) : count]
        tail.sort()
        del self._hashes[stays + 1 :]
        for _, _, record_id in tail:
            self._hashes.append(step(self._hashes[-1], record_id))
        self._held = view
        self.steps += len(tail)
