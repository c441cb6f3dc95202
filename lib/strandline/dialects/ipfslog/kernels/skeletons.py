"""Skeletons of pruned entries to nodes, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.dialects.ipfslog.reduce import decode_skeleton
from strandline.kernels.batches import as_batch

SKELETON_COLUMNS: Final = ("namespace", "bucket", "record_id", "skeleton")
SKELETON_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("bucket", pa.int32()),
        pa.field("record_id", pa.binary()),
        pa.field("cid", pa.string()),
        pa.field("clock_time", pa.int64()),
        pa.field("clock_id", pa.string()),
        pa.field("next", pa.list_(pa.binary())),
    ]
)


def skeletons(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the node of each skeleton.

    Reads: SKELETON_COLUMNS.  Gives: SKELETON_SCHEMA.
    """
    for batch in batches:
        rows = []
        for row in batch.select(SKELETON_COLUMNS).to_pylist():
            node = decode_skeleton(row["skeleton"])
            rows.append(
                (
                    row["namespace"], row["bucket"], row["record_id"], node.cid, node.clock_time, node.clock_id,
                    list(node.next),
                )
            )  # fmt: skip
        if rows:
            yield as_batch(rows, SKELETON_SCHEMA)
