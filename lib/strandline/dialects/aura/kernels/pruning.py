"""What stays of pruned charges of contexts, from batches: the sums of skeletons, and carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final
from uuid import UUID

import pyarrow as pa

from strandline.dialects.aura.kernels.groups import in_batches
from strandline.dialects.aura.kernels.judgement import U64
from strandline.dialects.aura.reduce.contexts.flows import Flow, FlowKey
from strandline.dialects.aura.reduce.contexts.skeletons import (
    decode_carry,
    decode_skeleton,
    encode_carry,
)

_BATCH: Final = 4096

PRUNED_COLUMNS: Final = ("namespace", "bucket", "alt_id", "skeleton")
CARRY_COLUMNS: Final = ("namespace", "bucket", "carry")
SUM_SCHEMA: Final = pa.schema(
    {
        "namespace": pa.string(), "bucket": pa.int32(), "src": pa.string(), "dst": pa.string(), "epoch": U64,
        "spent": U64, "charges": pa.int64(), "nonce": U64, "body_id": pa.binary(), "is_damaged": pa.bool_(),
    }
)  # fmt: skip
FLOW_COLUMNS: Final = ("namespace", "flows")
CARRY_SCHEMA: Final = pa.schema({"namespace": pa.string(), "carry": pa.binary()})


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
