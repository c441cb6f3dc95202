"""The states of an authority that its snapshots attest, and which lie before which."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from strandline.dialects.aura.reduce.base import built_state
from strandline.dialects.aura.types import ZERO
from strandline.dialects.aura.verify import AcceptedOp, PlacedOp, PrunedOps, State

_MOST_STATES: Final = 16
"""Proven states that are held: one has up to 4,096 leaves, and each snapshot of a chain proves another one."""


class StatePaths:
    """States by commitment, each with the one before. Damaged skeletons may form a circle."""

    def __init__(self, operations: Iterable[PlacedOp]) -> None:
        self.parents: dict[bytes, bytes] = {}
        self.heights: dict[bytes, int] = {}
        for op in operations:
            self.parents[op.new_commitment] = op.parent_commitment
            self.heights[op.new_commitment] = op.height

    def before(self, commitment: bytes, known: AbstractSet[bytes] = frozenset()) -> Iterator[bytes]:
        """Yield a state and those before it, down to one that is known."""
        seen: set[bytes] = set()
        while commitment != ZERO and commitment not in known and commitment not in seen:
            seen.add(commitment)
            yield commitment
            commitment = self.parents.get(commitment, ZERO)

    def after(self, commitments: AbstractSet[bytes]) -> set[bytes]:
        """Return the states which have all of these before them, or are the last of these.

        Only a state of these that has all others before it leads there, which is mostly the highest.
        """
        for last in sorted(commitments, key=lambda each: self.heights.get(each, 0), reverse=True):
            if commitments <= {*self.before(last)}:
                return self._led_to(last)
        return set()

    def _led_to(self, commitment: bytes) -> set[bytes]:
        following: dict[bytes, list[bytes]] = {}
        for state, parent in self.parents.items():
            following.setdefault(parent, []).append(state)
        found: set[bytes] = set()
        waiting = [commitment]
        while waiting:
            state = waiting.pop()
            if state != ZERO and state not in found:
                found.add(state)
                waiting += following.get(state, ())
        return found


class ProvenStates:
    """The states that sound snapshots prove, by commitment: the last ones are held, others are built again."""

    def __init__(self, operations: Sequence[AcceptedOp], pruned: PrunedOps | None) -> None:
        self._operations, self._pruned = operations, pruned
        self._held: dict[bytes, State | None] = {}

    def put(self, state: State) -> None:
        """Hold a state."""
        self._hold(state.commitment, state)

    def get(self, commitment: bytes) -> State | None:
        """Return the state with this commitment, or None if it cannot be built."""
        if commitment not in self._held:
            self._hold(commitment, built_state(self._operations, commitment, self._pruned))
        return self._held[commitment]

    def _hold(self, commitment: bytes, state: State | None) -> None:
        self._held.pop(commitment, None)
        while len(self._held) >= _MOST_STATES:
            del self._held[next(iter(self._held))]
        self._held[commitment] = state
