"""Whole logs to their reduced rows, log by log, by the plain functions of `reduce`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from strandline.dialects.ipfslog.reduce import Dag, Node, Op, Store, reduce_dag
from strandline.kernels.batches import as_batch, nested

LOG_COLUMNS: Final = ("namespace", "bucket", "store", "nodes")
LOG_NODE: Final = ("record_id", "clock_time", "clock_id", "next", "cid", "variant", "writer", "ops")
"""The members of `nodes`; of a skeleton the last three are null."""


LOG_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("bucket", pa.int32()),
        pa.field("state_hash", pa.binary()),
        pa.field("order_blocks", pa.binary()),
        pa.field("document_groups", pa.binary()),
        pa.field(
            "heads",
            nested(
                record_id=pa.binary(), rank=pa.int32(), cid=pa.string(), writer=pa.string(), clock_id=pa.string(),
                clock_time=pa.int64(),
            ),
        ),
        pa.field(
            "tails",
            nested(record_id=pa.binary(), cid=pa.string(), kind=pa.string(), missing=pa.list_(pa.binary())),
        ),
        pa.field(
            "view",
            nested(
                record_id=pa.binary(), position=pa.int64(), clock_time=pa.int64(), clock_id=pa.string(),
                mode=pa.string(), tied=pa.bool_(), clock_ok=pa.bool_(),
            ),
        ),
        pa.field(
            "documents",
            nested(
                document_key=pa.string(), store=pa.string(), record_id=pa.binary(), item=pa.int32(),
                deleted=pa.bool_(), value_json=pa.string(),
            ),
        ),
    ]
)  # fmt: skip


def whole_logs(batches: Iterable[pa.RecordBatch], *, order_block: int) -> Iterator[pa.RecordBatch]:
    """Yield the reduced rows of each log, as arrays.

    Reads: LOG_COLUMNS: nodes ARRAY<STRUCT<LOG_NODE>>: all entries and skeletons that count, in any order, or null;
            `order_block` is `ORDER_BLOCK`.
    Gives: LOG_SCHEMA: the rows of the reduced tables without their namespace and bucket.
    """
    for batch in batches:
        nodes = batch.column("nodes")
        sizes = pc.fill_null(pc.list_value_length(nodes), 0).to_pylist()
        flat = nodes.flatten()
        columns = [flat.field(name).to_pylist() for name in LOG_NODE]
        places = (batch.column(name).to_pylist() for name in ("namespace", "bucket", "store"))
        rows, start = [], 0
        for namespace, bucket, store, size in zip(*places, sizes, strict=True):
            log = [column[start : start + size] for column in columns]
            rows.append((namespace, bucket, *_reduced(log, store, order_block)))
            start += size
        if rows:
            yield as_batch(rows, LOG_SCHEMA)


def _reduced(columns: Sequence[list[Any]], store: Store, order_block: int) -> tuple[Any, ...]:
    *parts, writers, ops = columns
    dag = Dag(_node(*each) for each in zip(*parts, strict=True))
    writer_of = dict(zip(parts[0], writers, strict=True))
    ops_of = dict(zip(parts[0], ops, strict=True))
    found = reduce_dag(
        dag, store, lambda record_id: [_op(each) for each in ops_of[record_id] or ()], order_block
    )
    heads = [(each, dag.nodes[each.record_id]) for each in found.heads]
    view = [(each, dag.nodes[each.record_id]) for each in found.view]
    return (
        found.state_hash, found.order_blocks, found.document_groups,
        [
            (each.record_id, each.rank, node.cid, writer_of[each.record_id], node.clock_id, node.clock_time)
            for each, node in heads
        ],
        [(each.record_id, dag.nodes[each.record_id].cid, each.kind, each.missing) for each in found.tails],
        [
            (each.record_id, each.position, node.clock_time, node.clock_id, found.mode, each.tied, each.clock_ok)
            for each, node in view
        ],
        [
            (each.document_key, store, each.record_id, each.item, each.deleted, each.value_json)
            for each in found.documents or ()
        ],
    )  # fmt: skip


def _node(record_id: bytes, time: int, clock_id: str, named: Iterable[bytes], cid: str, variant: Any) -> Node:
    return Node(record_id, time, clock_id, tuple(named), cid, variant)


def _op(row: Mapping[str, Any]) -> Op:
    return Op(row["op"], row["op_key"], row["value_json"], row["item"], row["target"])
