"""Ids of snapshots, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.core.pruning import snapshot_id
from strandline.kernels.batches import as_batch

SNAPSHOT_COLUMNS: Final = (
    "namespace", "sequence", "base", "state_hash", "members_digest", "prune_digest", "carry",
)  # fmt: skip
SNAPSHOT_ID_SCHEMA: Final = pa.schema(
    [pa.field("namespace", pa.string()), pa.field("snapshot_id", pa.binary())]
)


def snapshot_ids(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the id that the content of each snapshot gives.

    Reads: SNAPSHOT_COLUMNS; base can be null.  Gives: SNAPSHOT_ID_SCHEMA.
    """
    for batch in batches:
        rows = []
        for row in batch.select(SNAPSHOT_COLUMNS).to_pylist():
            made = snapshot_id(
                namespace=row["namespace"], sequence=int(row["sequence"]), base=row["base"],
                state_hash=row["state_hash"], members=row["members_digest"], prune=row["prune_digest"],
                carry=row["carry"],
            )  # fmt: skip
            rows.append((row["namespace"], made))
        if rows:
            yield as_batch(rows, SNAPSHOT_ID_SCHEMA)
