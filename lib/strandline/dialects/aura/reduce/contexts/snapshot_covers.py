"""The facts that snapshots cover, directly or by superseded snapshots: one bit a fact, in linear time."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from strandline.dialects.aura.types import Fact


class Covers:
    """The covered facts: stored ones, and the ids of pruned ones. Snapshots are not covered facts."""

    def __init__(self, facts: Mapping[bytes, Fact], pruned: AbstractSet[bytes]) -> None:
        self._facts, self._pruned_ids = facts, pruned
        self._places: dict[bytes, int] = {}
        self._pruned = 0
        self._covers: dict[bytes, int] = {}

    def add(self, snapshot: Fact) -> None:
        """Add a snapshot after those that it supersedes."""
        covered, own, pruned = 0, set(), set()
        for _, id_ in snapshot.content["superseded_facts"]:
            fact = self._facts.get(id_)
            if id_ in self._pruned_ids:
                pruned.add(self._places.setdefault(id_, len(self._places)))
            elif fact is not None and fact.kind == "Snapshot":
                covered |= self._covers[id_]
            elif fact is not None:
                own.add(self._places.setdefault(id_, len(self._places)))
        self._pruned |= _bits(pruned)
        self._covers[snapshot.fact_id] = covered | _bits(own | pruned)

    def count(self, snapshot: bytes) -> int:
        """Return how many facts a snapshot covers, with pruned ones."""
        return self._covers[snapshot].bit_count()

    def has_pruned(self, snapshot: bytes) -> bool:
        """Return whether a snapshot covers a pruned fact."""
        return bool(self._covers[snapshot] & self._pruned)

    def holds(self, snapshot: bytes, fact_id: bytes) -> bool:
        """Return whether a snapshot covers a fact."""
        place = self._places.get(fact_id)
        return place is not None and bool(self._covers[snapshot] >> place & 1)

    def facts(self, snapshot: bytes) -> list[Fact]:
        """Return the stored facts that a snapshot covers."""
        digits = reversed(f"{self._covers[snapshot] & ~self._pruned:b}")
        return [self._facts[id_] for id_, digit in zip(self._places, digits, strict=False) if digit == "1"]


def _bits(places: AbstractSet[int]) -> int:
    found = bytearray(max(places, default=0) // 8 + 1)
    for place in places:
        found[place // 8] |= 1 << place % 8
    return int.from_bytes(found, "little")
