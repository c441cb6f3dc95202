"""The states of an authority that its snapshots attest, and which lie before which."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from strandline.dialects.aura.types import ZERO
from strandline.dialects.aura.verify import PlacedOp


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
