"""Forks of logs: the evidence of two entries at one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.dialects.devicelog.codec import block_of
from strandline.dialects.devicelog.kernels.packing import stored_entry
from strandline.dialects.devicelog.verify import fork
from strandline.kernels.batches import as_batch
from strandline.kernels.equivocations import FORK_SCHEMA

FORK_COLUMNS: Final = ("namespace", "bucket", "members", "member_count", "pair")


def fork_rows(batches: Iterable[pa.RecordBatch], *, hmac_key: bytes | None) -> Iterator[pa.RecordBatch]:
    """Yield the row of each place of a log that has several entries.

    Reads: FORK_COLUMNS: `members` are the least ids, ascending, `pair` the stored entries of the first two.
    Gives: FORK_SCHEMA, one row per row.
    """
    for batch in batches:
        rows = []
        for row in batch.select(FORK_COLUMNS).to_pylist():
            pair = sorted(map(stored_entry, row["pair"]), key=lambda entry: entry.record_id)
            records = {entry.record_id: block_of(entry) for entry in pair}
            found = fork(pair[0], records, hmac_key, row["member_count"], row["members"])
            rows.append(
                (
                    found.equivocation_id, found.namespace, row["bucket"], found.key, found.position, row["members"],
                    found.member_count, found.bytes_a, found.bytes_b, found.evidence,
                )
            )  # fmt: skip
        if rows:
            yield as_batch(rows, FORK_SCHEMA)
