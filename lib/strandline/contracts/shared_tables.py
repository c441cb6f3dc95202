"""The names of the tables that all dialects share."""

from typing import Final

STATES: Final = "namespace_state"
QUARANTINE: Final = "quarantine"
EQUIVOCATIONS: Final = "equivocation"
SNAPSHOTS: Final = "snapshot"
SNAPSHOT_MEMBERS: Final = "snapshot_member"
PRUNED: Final = "pruned_record"
GC_RUNS: Final = "gc_run"
CHECKPOINT_LEAVES: Final = "checkpoint_leaf"
CHECKPOINTS: Final = "checkpoint"
RUNS: Final = "run"
