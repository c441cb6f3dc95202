"""The verdicts on the Snapshot facts of a namespace, and what a lake keeps of them after a collection."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from strandline.dialects.aura.types import Fact
from strandline.dialects.aura.verify import PlacedOp, PrunedOps, State

SnapshotStatus: TypeAlias = Literal["unjudged", "waiting", "unchecked", "unsound", "older", "in_force"]


_Verdict: TypeAlias = Literal["waiting", "unchecked", "unsound", "sound"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged snapshot."""

    verdict: _Verdict

    @property
    def is_sound(self) -> bool:
        return self.verdict == "sound"


@dataclass(frozen=True, slots=True)
class PrunedHere:
    """The pruned facts of a namespace: their ids, and the stored statuses of snapshots, by fact id.

    `operations` are the remains of pruned operations of an authority; None without any, or if they cannot be read.
    """

    fact_ids: frozenset[bytes] = frozenset()
    statuses: Mapping[bytes, str] = field(default_factory=dict)
    operations: PrunedOps | None = None

    def placed(self, operations: Iterable[PlacedOp]) -> list[PlacedOp]:
        """Return stored operations, and the skeletons of pruned ones."""
        return [*operations, *(() if self.operations is None else self.operations.skeletons)]

    @property
    def carried(self) -> frozenset[bytes]:
        """The state that the pruned operations of an authority lead to, if any are pruned."""
        return frozenset() if self.operations is None else frozenset([self.operations.state.commitment])

    def lets_reduce(self, covers_pruned: bool, has_base: bool) -> bool:
        """Return whether covered facts reduce to the same state as before pruning.

        Of a context they do not. Of an authority they do from a base that the carried state leads to: no pruned
        operation follows that. `has_base`: there is a base at the carried state or after it.
        """
        if self.operations is None:
            return not self.fact_ids
        return not covers_pruned or has_base

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
