"""What pruning needs of facts, from batches: final states of authorities, skeletons of charges, and carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final
from uuid import UUID

import pyarrow as pa

from strandline.dialects.aura.codec import stored_fact
from strandline.dialects.aura.kernels.groups import by_namespace, in_batches
from strandline.dialects.aura.reduce import REDUCER, reduce_authority
from strandline.dialects.aura.reduce.contexts.flows import Flow, FlowKey
from strandline.dialects.aura.reduce.contexts.skeletons import (
    charge_skeleton,
    decode_carry,
    decode_skeleton,
    encode_carry,
)
from strandline.dialects.aura.reduce.contexts.snapshots import judge_snapshots

_U64: Final = pa.decimal128(20, 0)
_BATCH: Final = 4096

HISTORY_COLUMNS: Final = ("namespace", "bucket", "fact_cbor", "relied", "is_settled")
HISTORY_SCHEMA: Final = pa.schema(
    {
        "namespace": pa.string(), "bucket": pa.int32(), "state_hash": pa.binary(), "reducer_version": pa.string(),
        "chain": pa.list_(pa.binary()), "base": pa.binary(), "final": pa.list_(pa.binary()),
    }
)  # fmt: skip
CHARGE_COLUMNS: Final = ("namespace", "record_id", "src", "dst", "epoch", "cost", "nonce")
SKELETON_SCHEMA: Final = pa.schema(
    {"namespace": pa.string(), "record_id": pa.binary(), "skeleton": pa.binary()}
)
PRUNED_COLUMNS: Final = ("namespace", "bucket", "alt_id", "skeleton")
CARRY_COLUMNS: Final = ("namespace", "bucket", "carry")
SUM_SCHEMA: Final = pa.schema(
    {
        "namespace": pa.string(), "bucket": pa.int32(), "src": pa.string(), "dst": pa.string(), "epoch": _U64,
        "spent": _U64, "charges": pa.int64(), "nonce": _U64, "body_id": pa.binary(), "is_damaged": pa.bool_(),
    }
)  # fmt: skip
FLOW_COLUMNS: Final = ("namespace", "flows")
CARRY_SCHEMA: Final = pa.schema({"namespace": pa.string(), "carry": pa.binary()})


def histories(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the history of each authority, and its base: the tip that the snapshot in force proves, null without one.

    Reads: HISTORY_COLUMNS of all accepted operations and snapshots, the rows of a namespace together; relied: states by
            which records were pruned, or null; is_settled: whether `reduce` knows a snapshot in force. Both are equal
            in all rows of a namespace.
    Gives: HISTORY_SCHEMA, one row per authority: `chain` are the states from its genesis to its tip, `final` those up
            to its base. A base that `reduce` does not know counts only if the history passes it anyhow: else a fork
            would be settled here and not in the tables. No stored column is used; memory is that of the facts of one
            authority.
    """
    return in_batches((_history(list(group)) for _, group in by_namespace(batches)), HISTORY_SCHEMA, 1)


def _history(group: list[dict[str, Any]]) -> dict[str, Any]:
    facts = [stored_fact(row["fact_cbor"]) for row in group]
    namespace = facts[0].namespace
    has_snapshots = any(fact.kind == "Snapshot" for fact in facts)
    relied = group[0]["relied"] or ()
    base = judge_snapshots(namespace, facts, relied=relied).base if has_snapshots else None
    found = reduce_authority(namespace, facts, base if group[0]["is_settled"] else None)
    chain = [op.new_commitment for op in found.chain.path]
    if base is not None and base.commitment not in chain:
        base = None
    final = [] if base is None else chain[: chain.index(base.commitment) + 1]
    return {
        "namespace": group[0]["namespace"], "bucket": group[0]["bucket"], "state_hash": found.state_hash,
        "reducer_version": REDUCER, "chain": chain, "base": None if base is None else base.commitment, "final": final,
    }  # fmt: skip


def charge_skeletons(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the skeleton of each charge.  Reads: CHARGE_COLUMNS.  Gives: SKELETON_SCHEMA, one row per row."""
    rows = (
        {
            "namespace": row["namespace"],
            "record_id": row["record_id"],
            "skeleton": charge_skeleton(
                _id(row["src"]), _id(row["dst"]), int(row["epoch"]), int(row["cost"]), int(row["nonce"])
            ),
        }
        for batch in batches
        for row in batch.to_pylist()
    )
    return in_batches(rows, SKELETON_SCHEMA, _BATCH)


def skeleton_sums(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the charge of each skeleton as a sum of one.

    Reads: PRUNED_COLUMNS; no row twice for a body.  Gives: SUM_SCHEMA, one row per skeleton that is not null; a damaged
           one has no sums.
    """
    rows = (
        _decoded(row, row["skeleton"], row["alt_id"])
        for batch in batches
        for row in batch.to_pylist()
        if row["skeleton"] is not None
    )
    return in_batches((each for found in rows for each in found), SUM_SCHEMA, _BATCH)


def carried_sums(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the sums of carries.

    Reads: CARRY_COLUMNS.  Gives: SUM_SCHEMA, one row per budget; a damaged carry is one row without sums.
    """
    rows = (_decoded(row, row["carry"], None) for batch in batches for row in batch.to_pylist())
    return in_batches((each for found in rows for each in found), SUM_SCHEMA, _BATCH)


def encoded_carries(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the carry of each context.

    Reads: FLOW_COLUMNS; flows: src, dst, epoch, spent, charges, nonce, body_id of each budget.  Gives: CARRY_SCHEMA.
    """
    rows = (
        {"namespace": row["namespace"], "carry": encode_carry(map(_flow, row["flows"] or ()))}
        for batch in batches
        for row in batch.to_pylist()
    )
    return in_batches(rows, CARRY_SCHEMA, 1)


def _decoded(row: dict[str, Any], raw: bytes, body_id: bytes | None) -> Iterator[dict[str, Any]]:
    home = {"namespace": row["namespace"], "bucket": row["bucket"]}
    try:
        flows = decode_carry(raw) if body_id is None else (decode_skeleton(raw, body_id),)
    except ValueError:
        yield home | {"is_damaged": True}
        return
    for flow in flows:
        nonce, tip = flow.tip or (None, None)
        yield home | {
            "src": str(UUID(bytes=flow.key.src)), "dst": str(UUID(bytes=flow.key.dst)), "epoch": flow.key.epoch,
            "spent": flow.spent, "charges": flow.charges, "nonce": nonce, "body_id": tip, "is_damaged": False,
        }  # fmt: skip


def _flow(row: dict[str, Any]) -> Flow:
    key = FlowKey(_id(row["src"]), _id(row["dst"]), int(row["epoch"]))
    return Flow(key, int(row["spent"]), row["charges"], (int(row["nonce"]), row["body_id"]))


def _id(text: str) -> bytes:
    return UUID(text).bytes
