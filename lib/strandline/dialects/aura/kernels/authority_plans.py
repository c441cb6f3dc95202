"""Prunable operations, authority by authority, by the plain functions of `reduce`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from strandline.core.pruning import Member
from strandline.dialects.aura.codec import fact_without_times
from strandline.dialects.aura.kernels.groups import by_namespace, in_batches
from strandline.dialects.aura.kernels.judgement import U64
from strandline.dialects.aura.kernels.reduced_rows import REDUCED_SCHEMA, reduced_row
from strandline.dialects.aura.kernels.reduction import given_authority
from strandline.dialects.aura.kernels.stored import split_remains, stored_operation
from strandline.dialects.aura.reduce import AuthorityState, encode_state_carry, plan_authority, state_cbor
from strandline.dialects.aura.verify import AcceptedOp, OpSkeleton

_MEMBERS: Final = (
    pa.field("record_id", pa.binary()), pa.field("generation", U64), pa.field("hold", pa.string()),
    pa.field("skeleton", pa.binary()),
)  # fmt: skip
PLANNED_SCHEMA: Final = pa.schema(
    [
        *REDUCED_SCHEMA,
        pa.field("planned", pa.list_(pa.struct(_MEMBERS))),
        pa.field("carry", pa.binary()),
    ]
)


def planned(batches: Iterable[pa.RecordBatch], *, skip_window: int) -> Iterator[pa.RecordBatch]:
    """Yield the state and the rows of each authority, and which of its operations are prunable.

    Reads: REDUCTION_COLUMNS as `reduced` does, and receipts, which have no DERIVED columns.
    Gives: PLANNED_SCHEMA, one row per namespace: that of a full reduction, `planned`, a member per held operation, and
            `carry`, the carry once one is pruned. Without complete remains or without a base, no operation is prunable.
    """
    rows = (_of_group(list(group), skip_window) for _, group in by_namespace(batches))
    return in_batches(rows, PLANNED_SCHEMA, 1)


def _of_group(group: list[dict[str, Any]], skip_window: int) -> dict[str, Any]:
    rows, remains = split_remains(group)
    home = {name: group[0][name] for name in ("namespace", "bucket")}
    histories = [row for row in rows if row["is_base"] or row["height"] is not None]
    if remains.is_lost or not histories:
        return home | {"is_damaged": False, "is_inconsistent": True, "planned": []}
    given = given_authority(histories, remains)
    found, is_damaged = given.by_facts()
    base = given.base_of(row.op for row in found.chain.rows.values()) if given.bases else None
    held = [stored_operation(row) for row in histories if not row["is_base"]]
    skeletons = {skeleton.op_id: skeleton for skeleton in (given.pruned.skeletons if given.pruned else ())}
    ops = [_as_reduced(op, found, skeletons) for op in held if op.fact.fact_id not in remains.skeletons]
    others = [
        fact_without_times(row["fact_cbor"]) for row in rows if not row["is_base"] and row["height"] is None
    ]
    plan = plan_authority(given.namespace, ops, others, base, given.pruned, skip_window)
    stays = base or (None if given.pruned is None else given.pruned.state)
    row = reduced_row(home["bucket"], found, given.operations, is_damaged=is_damaged)
    return row | {
        "is_inconsistent": not remains.is_whole(given.operations), "planned": [_member(each) for each in plan.members],
        "carry": encode_state_carry(None if stays is None else state_cbor(given.namespace, stays)),
    }  # fmt: skip


def _as_reduced(op: AcceptedOp, found: AuthorityState, skeletons: Mapping[bytes, OpSkeleton]) -> AcceptedOp:
    """Return an operation with the columns that the facts give, or its skeleton: no stored column is passed on."""
    row = found.chain.rows.get(op.op_id)
    if row is not None:
        return replace(row.op, fact=op.fact, attested=op.attested)
    skeleton = skeletons.get(op.op_id)
    return op if skeleton is None else replace(op, **_placed(skeleton))


def _placed(skeleton: OpSkeleton) -> Mapping[str, Any]:
    names = ("height", "new_epoch", "new_commitment", "new_group_key")
    return {name: getattr(skeleton, name) for name in names}


def _member(member: Member) -> dict[str, Any]:
    generation = member.generation
    return {
        "record_id": member.record_id, "hold": member.hold, "skeleton": member.skeleton,
        "generation": None if generation is None else Decimal(generation),
    }  # fmt: skip
