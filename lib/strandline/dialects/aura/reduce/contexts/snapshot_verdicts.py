"""What judging the Snapshot facts of a namespace gives, and what a lake remembers of it after a collection."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from strandline.dialects.aura.types import Fact
from strandline.dialects.aura.verify import PlacedOp, PrunedOps, State

SnapshotStatus: TypeAlias = Literal["unjudged", "waiting", "unchecked", "unsound", "older", "in_force"]


@dataclass(frozen=True, slots=True)
class PrunedHere:
    """What a lake pruned of a namespace: ids of facts, and the statuses that it stored, by fact id.

    `operations` is, of an authority, what stays of them; None if nothing went, or if that cannot be read.
    """

    fact_ids: frozenset[bytes] = frozenset()
    statuses: Mapping[bytes, str] = field(default_factory=dict)
    operations: PrunedOps | None = None

    def placed(self, operations: Iterable[PlacedOp]) -> list[PlacedOp]:
        """Return held operations, and the skeletons of pruned ones."""
        return [*operations, *(() if self.operations is None else self.operations.skeletons)]

    def lets_reduce(self, covered: Collection[bytes], base: State | None, before: Iterable[bytes]) -> bool:
        """Return whether facts with these pruned ones among them reduce to what they did before.

        Of a context they do not. Of an authority they do from a base that the carried state leads to: no pruned
        operation follows that. `before` are the base and the states before it.
        """
        if self.operations is None:
            return not self.fact_ids
        return not covered or (base is not None and self.operations.state.commitment in before)

    def judged_before(self, snapshot: bytes) -> Literal["sound", "unsound"] | None:
        """Return the verdict on a snapshot that stays as it was before facts were pruned, or None."""
        if not self.fact_ids:
            return None
        status = self.statuses.get(snapshot)
        return "sound" if status in ("older", "in_force") else "unsound" if status == "unsound" else None


NOTHING_PRUNED: Final = PrunedHere()


@dataclass(slots=True)
class SnapshotVerdicts:
    """The statuses by fact id, and the snapshot in force, if any.

    `covered` counts the facts that a judged snapshot covers, with pruned ones. `base` is, of an authority, the state
    that the snapshot in force proves. `branches` are the sound ones that the walk of an authority found, by their tips:
    two or more fork.
    """

    statuses: dict[bytes, SnapshotStatus] = field(default_factory=dict)
    covered: dict[bytes, int] = field(default_factory=dict)
    in_force: Fact | None = None
    base: State | None = None
    branches: dict[bytes, Fact] = field(default_factory=dict)
