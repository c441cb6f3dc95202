"""What judging the Snapshot facts of a namespace gives, and what a lake remembers of it after a collection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from strandline.dialects.aura.types import Fact
from strandline.dialects.aura.verify import State

SnapshotStatus: TypeAlias = Literal["unjudged", "waiting", "unchecked", "unsound", "older", "in_force"]


@dataclass(frozen=True, slots=True)
class PrunedHere:
    """What a lake pruned of a context: ids of facts, and the statuses that it stored, by fact id."""

    fact_ids: frozenset[bytes] = frozenset()
    statuses: Mapping[bytes, str] = field(default_factory=dict)

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
