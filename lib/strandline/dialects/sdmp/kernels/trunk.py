"""The lines of forked journals that are not on the trunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.kernels.batches import as_batch

OFF_TRUNK_SCHEMA: Final = pa.schema({"namespace": pa.string(), "line_hash": pa.string()})


def off_trunk(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the lines of journals that are not on the path from line 1 to the tip.

    Reads: namespace, tip_hash (the same in all rows of a journal), line_hash, line_number (null: line 1): all lines of
            a journal above some position, sorted by namespace and by n, the last one first.
    Gives: OFF_TRUNK_SCHEMA.
    Memory: one batch. The path has one line at each position, and its number names the one at the position before.
    """
    here: str | None = None
    on_path: str | None = None
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in _COLUMNS)
        found: list[tuple[str, str]] = []
        for namespace, tip_hash, line_hash, number in zip(*columns, strict=True):
            if namespace != here:
                here, on_path = namespace, tip_hash
            if line_hash == on_path:
                on_path = number
            else:
                found.append((namespace, line_hash))
        if found:
            yield as_batch(found, OFF_TRUNK_SCHEMA)


_COLUMNS: Final = ("namespace", "tip_hash", "line_hash", "line_number")
