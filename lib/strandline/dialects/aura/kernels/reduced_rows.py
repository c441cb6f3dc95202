"""The rows of the reduced tables of authorities, as an authority's nested columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import pyarrow as pa

from strandline.dialects.aura.kernels.admission import derived
from strandline.dialects.aura.kernels.judgement import U64, tree_op_json
from strandline.dialects.aura.kernels.stored import DERIVED_FIELDS
from strandline.dialects.aura.reduce import AuthorityState, OperationRow, forks
from strandline.dialects.aura.types import Namespace
from strandline.dialects.aura.verify import AcceptedOp, State
from strandline.kernels.batches import nested
from strandline.kernels.equivocations import NESTED_FIELDS

STATE_FIELDS: Final = (
    pa.field("epoch", U64),
    pa.field("commitment", pa.binary()),
    pa.field("tree_commitment", pa.binary()),
    pa.field("op_id", pa.binary()),
    pa.field("threshold", pa.int32()),
    pa.field("policy", pa.string()),
    pa.field("device_count", pa.int64()),
    pa.field("guardian_count", pa.int64()),
    pa.field("leaf_count", pa.int64()),
    pa.field("next_leaf_id", pa.int64()),
    pa.field("group_key", pa.binary()),
    pa.field("min_signers", pa.int32()),
    pa.field("max_signers", pa.int32()),
    pa.field("key_epoch", U64),
    pa.field("height", U64),
    pa.field("key_below_policy", pa.bool_()),
    pa.field("applied_count", pa.int64()),
    pa.field("superseded_count", pa.int64()),
    pa.field("orphaned_count", pa.int64()),
    pa.field("fork_count", pa.int64()),
    pa.field("state_cbor", pa.binary()),
    pa.field("state_hash", pa.binary()),
)
"""Columns of `authority_state` besides namespace and bucket."""

_OPERATIONS: Final = {
    "op_id": pa.binary(),
    "outcome": pa.string(),
    "reasons": pa.list_(pa.string()),
    "op_kind": pa.string(),
    "tree_op": pa.string(),
    "fact_id": pa.binary(),
    "signature": pa.binary(),
    "fact_count": pa.int64(),
    "siblings": pa.int32(),
    "lost_to": pa.binary(),
    "parent_commitment": pa.binary(),
    "parent_epoch": U64,
    "signer_count": pa.int32(),
    **{field.name: field.type for field in DERIVED_FIELDS if field.name != "anchor"},
}

REDUCED_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("bucket", pa.int32()),
        pa.field("is_damaged", pa.bool_()),
        pa.field("is_inconsistent", pa.bool_()),
        *STATE_FIELDS,
        pa.field(
            "leaves",
            nested(
                leaf_id=pa.int64(), position=pa.int32(), device_id=pa.string(), role=pa.string(),
                public_key=pa.binary(), meta=pa.binary(), commitment=pa.binary(),
            ),
        ),
        pa.field("operations", nested(**_OPERATIONS)),
        pa.field("forks", pa.list_(pa.struct(NESTED_FIELDS))),
    ]
)  # fmt: skip


def reduced_row(
    bucket: int, found: AuthorityState, ops: Iterable[AcceptedOp], *, is_damaged: bool
) -> dict[str, Any]:
    """Return REDUCED_SCHEMA of an authority; `ops` are its operations, also those that have no place."""
    return {
        "namespace": found.namespace.text,
        "bucket": bucket,
        "is_damaged": is_damaged,
        "is_inconsistent": False,
        **state_columns(found),
        "leaves": leaf_rows(found.state),
        "operations": [*map(operation_row, found.chain.rows.values()), *invalid_rows(found, ops)],
        "forks": fork_rows(found.namespace, found),
    }


def state_columns(found: AuthorityState) -> dict[str, Any]:
    """Return STATE_FIELDS of a reduced authority."""
    state, chain, key = found.state, found.chain, found.state.key
    devices = found.tree_state.device_count
    return {
        "epoch": Decimal(state.epoch), "commitment": state.commitment, "tree_commitment": state.tree_commitment,
        "op_id": state.op_id, "threshold": state.threshold, "policy": str(state.policy), "device_count": devices,
        "guardian_count": len(state.leaves) - devices, "leaf_count": len(state.leaves),
        "next_leaf_id": state.next_leaf_id, "group_key": None if key is None else key.group_key,
        "min_signers": None if key is None else key.min_signers,
        "max_signers": None if key is None else key.max_signers, "key_epoch": Decimal(state.key_epoch),
        "height": Decimal(state.height),
        "key_below_policy": key is not None and key.min_signers < state.threshold,
        "applied_count": chain.count("applied"), "superseded_count": chain.count("superseded"),
        "orphaned_count": chain.count("orphaned"), "fork_count": chain.fork_count,
        "state_cbor": found.state_cbor, "state_hash": found.state_hash,
    }  # fmt: skip


def leaf_rows(state: State) -> list[dict[str, Any]]:
    """Return the active leaves in the order of their ids, with their hashes in the tree."""
    return [
        {
            "leaf_id": leaf.leaf_id, "position": position, "device_id": str(UUID(bytes=leaf.device_id)),
            "role": leaf.role, "public_key": leaf.public_key, "meta": leaf.meta,
            "commitment": state.tree.levels[0][position],
        }
        for position, leaf in enumerate(state.leaves.values())
    ]  # fmt: skip


def operation_row(row: OperationRow) -> dict[str, Any]:
    """Return the row of an operation; what makes no state here has no columns of one."""
    is_placed = row.outcome != "unreachable"
    return _operation(row.op) | {
        "outcome": row.outcome, "reasons": [], "fact_count": row.fact_count, "siblings": row.siblings,
        "lost_to": row.lost_to, **(derived(row.op) if is_placed else _parent_columns(row.op)),
    }  # fmt: skip


def _parent_columns(op: AcceptedOp) -> dict[str, Any]:
    return {"group_key": op.group_key, "witness_threshold": op.witness_threshold}


def _operation(op: AcceptedOp) -> dict[str, Any]:
    tree_op = op.attested.op
    return {
        "op_id": op.op_id, "op_kind": tree_op.kind, "tree_op": tree_op_json(op.fact), "fact_id": op.fact.fact_id,
        "signature": op.attested.agg_sig, "parent_commitment": tree_op.parent_commitment,
        "parent_epoch": Decimal(tree_op.parent_epoch), "signer_count": op.attested.signer_count,
    }  # fmt: skip


def invalid_rows(found: AuthorityState, ops: Iterable[AcceptedOp]) -> Iterator[dict[str, Any]]:
    """Yield rows of operations that only a damaged table can hold."""
    held: dict[bytes, list[AcceptedOp]] = {}
    for op in sorted(ops, key=lambda op: op.fact.fact_id):
        if op.fact.fact_id in found.invalid or op.op_id not in found.chain.rows:
            held.setdefault(op.op_id, []).append(op)
    for each in held.values():
        reasons = sorted({finding.reason for finding in found.invalid.get(each[0].fact.fact_id, ())})
        yield _operation(each[0]) | _parent_columns(each[0]) | {
            "outcome": "invalid" if reasons else "unreachable", "reasons": reasons, "fact_count": len(each),
            "siblings": 0,
        }  # fmt: skip


def fork_rows(namespace: Namespace, found: AuthorityState) -> list[dict[str, Any]]:
    """Return the forks of an authority as rows of `equivocation`."""
    return [
        {each.name: getattr(fork, each.name) for each in fields(fork) if each.name != "namespace"}
        for fork in forks(namespace, found.chain)
    ]
