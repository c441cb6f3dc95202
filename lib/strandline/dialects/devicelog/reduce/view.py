"""The view of a set of entries: its effective messages in one order, with a hash of each prefix.

`v_k` hashes the first k messages. No clock that a merge assigns, no screw and no signature is in it.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from strandline.dialects.devicelog.codec import netstrings, tagged_hash
from strandline.dialects.devicelog.reduce.branches import NONE, Branch, Key

VIEW_TAG: Final = "strandline/devicelog/view/1"
STEP_TAG: Final = "strandline/devicelog/view-step/1"
_STEP: Final = netstrings(STEP_TAG) + b"64:"


def empty_view_hash(group: bytes) -> bytes:
    """Return v_0, the hash of a view without messages."""
    return tagged_hash(VIEW_TAG, group.hex())


def step(v: bytes, record_id: bytes) -> bytes:
    """Return v_k+1 of v_k and the id of message k: H(tag, v_k, id)."""
    return hashlib.sha256(b"%b%b,64:%b," % (_STEP, v.hex().encode(), record_id.hex().encode())).digest()


def prefix_hashes(group: bytes, ids: Iterable[bytes]) -> list[bytes]:
    """Return v_0 to v_n of a view."""
    hashes = [empty_view_hash(group)]
    for record_id in ids:
        hashes.append(step(hashes[-1], record_id))
    return hashes


class View:
    """The messages of branches within bounds, in order, with the hashes of all prefixes; it moves to other bounds.

    A move costs the rows that it takes away, and those that it hashes: from the first row that differs. `first_hash` is
    the hash before the first message: `empty_view_hash` of a group.
    """

    def __init__(self, branches: Sequence[Branch], first_hash: bytes) -> None:
        self.keys: list[Key] = []
        self.hashes = [first_hash]
        self.bounds: dict[int, int] = {}
        self._branches = branches

    @property
    def ids(self) -> list[bytes]:
        """The ids of the messages."""
        return [record_id for _, _, record_id in self.keys]

    def move(self, bounds: Mapping[int, int]) -> int:
        """Make this the view within `bounds`, and return how many of the first rows stay: the LCP of both views."""
        added, removed = self._difference(bounds)
        self.bounds = dict(bounds)
        if not added and not removed:
            return len(self.keys)
        stays = bisect_left(self.keys, min([*added, *removed]))
        tail = sorted([*(key for key in self.keys[stays:] if key not in removed), *added])
        del self.keys[stays:]
        del self.hashes[stays + 1 :]
        for key in tail:
            self.hashes.append(step(self.hashes[-1], key[2]))
        self.keys += tail
        return stays

    def _difference(self, bounds: Mapping[int, int]) -> tuple[list[Key], set[Key]]:
        added: list[Key] = []
        removed: set[Key] = set()
        for number in bounds.keys() | self.bounds.keys():
            old, new = self.bounds.get(number, NONE), bounds.get(number, NONE)
            if old < new:
                added += messages(self._branches[number], old, new)
            elif new < old:
                removed.update(messages(self._branches[number], new, old))
        return added, removed


def messages(branch: Branch, above: int, upto: int) -> list[Key]:
    """Return the messages of a branch with `above` < seq <= `upto`, ascending."""
    seqs = branch.message_seqs
    return branch.message_keys[bisect_right(seqs, above) : bisect_right(seqs, upto)]
