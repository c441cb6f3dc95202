"""Forks of logs: the evidence of two entries at one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from strandline.dialects.devicelog.codec import block_of
from strandline.dialects.devicelog.kernels.packing import stored_entry
from strandline.dialects.devicelog.verify import fork
from strandline.kernels.batches import as_batch, slices
from strandline.kernels.equivocations import FORK_SCHEMA

FORK_COLUMNS: Final = ("namespace", "bucket", "members", "member_count", "pair")

_FORKS: Final = 8
"""Forks that are Python values at once: the bytes and the evidence of one can have 2 MiB, its members 5."""


def fork_rows(batches: Iterable[pa.RecordBatch], *, hmac_key: bytes | None) -> Iterator[pa.RecordBatch]:
    """Yield the row of each place of a log that has several entries.

    Reads: FORK_COLUMNS: `members` are the least ids, ascending, `pair` the stored entries of the first two.
    Gives: FORK_SCHEMA, one row per row. An entry is at one place, so all rows together grow with the bytes of entries.
    """
    for batch in batches:
        for some in slices(batch.select(FORK_COLUMNS), _FORKS):
            yield as_batch([_row(row, hmac_key) for row in some.to_pylist()], FORK_SCHEMA)


def _row(row: dict[str, Any], hmac_key: bytes | None) -> tuple[Any, ...]:
    pair = sorted(map(stored_entry, row["pair"]), key=lambda entry: entry.record_id)
    records = {entry.record_id: block_of(entry) for entry in pair}
    found = fork(pair[0], records, hmac_key, row["member_count"], row["members"])
    return (
        found.equivocation_id, found.namespace, row["bucket"], found.key, found.position, row["members"],
        found.member_count, found.bytes_a, found.bytes_b, found.evidence,
    )  # fmt: skip
