"""Rows of one authority: accepted operations, and the remains of pruned ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from strandline.dialects.aura.codec import fact_without_times
from strandline.dialects.aura.kernels.groups import in_batches
from strandline.dialects.aura.kernels.judgement import U64
from strandline.dialects.aura.reduce import decode_op_skeleton, decode_state_carry, do_fit, unbuilt_ops
from strandline.dialects.aura.verify import AcceptedOp, OpSkeleton, PrunedOps, State, attested_of

DERIVED_FIELDS: Final = (
    pa.field("anchor", pa.string()),
    pa.field("group_key", pa.binary()),
    pa.field("witness_threshold", pa.int32()),
    pa.field("height", U64),
    pa.field("new_epoch", U64),
    pa.field("new_commitment", pa.binary()),
    pa.field("new_tree_commitment", pa.binary()),
    pa.field("new_group_key", pa.binary()),
    pa.field("new_threshold", pa.int32()),
    pa.field("new_min_signers", pa.int32()),
    pa.field("new_max_signers", pa.int32()),
)
"""Columns of the table of facts that the states before and after an operation decide."""

DERIVED: Final = tuple(field.name for field in DERIVED_FIELDS)
SKELETON_STATE_SCHEMA: Final = pa.schema(
    {"namespace": pa.string(), "commitment": pa.binary(), "epoch": U64, "group_key": pa.binary()}
)
REMAINS: Final = ("pruned_id", "skeleton", "carry")
"""Columns of rows of pruned operations, null in rows of facts: the id of a pruned fact with its skeleton, or the carry
of the applied snapshot."""

_BATCH: Final = 4096
_NUMBERS: Final = ("height", "new_epoch")


def stored_operation(row: Mapping[str, Any]) -> AcceptedOp:
    """Return an accepted operation from its stored columns: `fact_cbor` and DERIVED."""
    fact = fact_without_times(row["fact_cbor"])
    given = {name: row[name] for name in DERIVED} | {name: int(row[name]) for name in _NUMBERS}
    return AcceptedOp(fact=fact, attested=attested_of(fact), op_id=fact.op_id or b"", **given)


def skeleton_states(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the states that pruned operations made.

    Reads: namespace, skeleton.  Gives: SKELETON_STATE_SCHEMA, one row per skeleton that can be read.
    """
    rows = (row for batch in batches for row in batch.to_pylist())
    return in_batches((found for row in rows for found in _state_of(row)), SKELETON_STATE_SCHEMA, _BATCH)


def _state_of(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        skeleton = decode_op_skeleton(row["skeleton"] or b"")
    except ValueError:
        return
    yield {
        "namespace": row["namespace"], "commitment": skeleton.new_commitment, "epoch": Decimal(skeleton.new_epoch),
        "group_key": skeleton.new_group_key,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Remains:
    """The remains of the pruned operations of an authority: skeletons by fact id, and the carried state if readable.

    `is_unreadable`: a skeleton or the carry cannot be read.
    """

    skeletons: Mapping[bytes, OpSkeleton]
    state: State | None
    is_unreadable: bool

    @property
    def is_lost(self) -> bool:
        """Whether no state can be built, since the carry cannot be read."""
        return self.state is None and (self.is_unreadable or bool(self.skeletons))

    def pruned(self, held: Iterable[AcceptedOp]) -> PrunedOps | None:
        """Return the pruned operations, given the stored ones; None without any, or if the carry cannot be read."""
        if self.state is None:
            return None
        skeletons = {skeleton.op_id: skeleton for _, skeleton in sorted(self.skeletons.items(), reverse=True)}
        rest = without_copies(held, skeletons)
        return PrunedOps(
            tuple(skeletons.values()), self.state, unbuilt_ops(rest, skeletons.values(), self.state)
        )

    def is_whole(self, held: Iterable[AcceptedOp]) -> bool:
        """Return whether all remains can be read and belong to one history with these operations."""
        if self.state is None:
            return not self.is_lost
        return not self.is_unreadable and do_fit(self.skeletons.values(), held, self.state)


def split_remains(group: Iterable[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], Remains]:
    """Return the rows of facts of a group that are not pruned, and the remains.

    Reads: the columns of REMAINS; of facts `fact_cbor`.
    """
    rows: list[Mapping[str, Any]] = []
    skeletons: dict[bytes, OpSkeleton] = {}
    state: State | None = None
    is_unreadable = False
    for row in group:
        try:
            if row["pruned_id"] is not None:
                skeletons[row["pruned_id"]] = decode_op_skeleton(row["skeleton"] or b"")
            elif row["carry"] is not None:
                state = decode_state_carry(row["carry"])
            else:
                rows.append(row)
        except ValueError:
            is_unreadable = True
    return rows, Remains(skeletons, state, is_unreadable)


def pruned_of(group: Iterable[Mapping[str, Any]]) -> PrunedOps | None:
    """Return the pruned operations of an authority; None without any, or if the carry cannot be read.

    Reads: of its stored operations `fact_cbor` and DERIVED; the columns of REMAINS.
    """
    held, remains = split_remains(group)
    return remains.pruned(map(stored_operation, held))


def without_copies(held: Iterable[AcceptedOp], skeletons: Mapping[bytes, OpSkeleton]) -> Iterator[AcceptedOp]:
    """Yield the operations without a skeleton; `skeletons` are by op id. The others are late copies."""
    return (op for op in held if op.op_id not in skeletons)
