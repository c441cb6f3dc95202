"""Skeletons of entries that go, and carries of their logs, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.dialects.ipfslog.reduce import LogConfiguration, Node, carry_of, encode_carry, encode_skeleton
from strandline.kernels.batches import as_batch

ENTRY_COLUMNS: Final = ("namespace", "record_id", "clock_time", "clock_id", "next", "cid")
ENCODED_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("record_id", pa.binary()),
        pa.field("skeleton", pa.binary()),
    ]
)
CARRY_COLUMNS: Final = ("namespace", "store", "write", "pruned")
CARRY_SCHEMA: Final = pa.schema([pa.field("namespace", pa.string()), pa.field("carry", pa.binary())])


def encoded_skeletons(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the skeleton of each entry.

    Reads: ENTRY_COLUMNS.  Gives: ENCODED_SCHEMA.
    """
    for batch in batches:
        rows = []
        for row in batch.select(ENTRY_COLUMNS).to_pylist():
            node = Node(
                row["record_id"], row["clock_time"], row["clock_id"], tuple(row["next"]), row["cid"], None
            )
            rows.append((row["namespace"], row["record_id"], encode_skeleton(node)))
        if rows:
            yield as_batch(rows, ENCODED_SCHEMA)


def carries(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the carry of each log.

    Reads: CARRY_COLUMNS; `pruned` is the number of entries that have gone.  Gives: CARRY_SCHEMA.
    """
    for batch in batches:
        rows = [
            (
                row["namespace"],
                encode_carry(carry_of(LogConfiguration(row["store"], tuple(row["write"])), row["pruned"])),
            )
            for row in batch.select(CARRY_COLUMNS).to_pylist()
        ]
        if rows:
            yield as_batch(rows, CARRY_SCHEMA)
