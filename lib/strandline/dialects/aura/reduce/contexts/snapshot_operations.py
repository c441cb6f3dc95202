"""The operations of an authority after a state: they decide about a snapshot that is built on this state."""

from collections.abc import Iterable

from strandline.dialects.aura.reduce.contexts.snapshot_covers import Covers
from strandline.dialects.aura.types import Fact
from strandline.dialects.aura.verify import AcceptedOp


class OperationsAfter:
    """Operations by the state that they follow. Damaged commitments may form a circle."""

    def __init__(self, facts: Iterable[Fact], placed: Iterable[AcceptedOp], covers: Covers) -> None:
        self._covers = covers
        made = {op.op_id: op.new_commitment for op in placed}
        self._following: dict[bytes, list[tuple[Fact, bytes]]] = {}
        for fact in facts:
            if fact.attested is not None and fact.op_id in made:
                following = self._following.setdefault(fact.attested.op.parent_commitment, [])
                following.append((fact, made[fact.op_id]))

    def covered(self, snapshot: bytes, commitment: bytes) -> list[Fact]:
        """Return the facts that a snapshot covers and that lead on from a state.

        So a chain of snapshots takes the time of its operations, not that of all operations before each.
        """
        found: list[Fact] = []
        seen, waiting = {commitment}, [commitment]
        while waiting:
            for fact, state in self._following.get(waiting.pop(), ()):
                if not self._covers.holds(snapshot, fact.fact_id):
                    continue
                found.append(fact)
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
        return found
