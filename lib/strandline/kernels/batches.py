"""Rows as record batches, and the type of rows within a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

_SLICE_ROWS: Final = 128
"""Rows that are Python values at once: each can have some thousand ids, of 80 bytes, or pairs, of 300."""


def nested(**columns: pa.DataType) -> pa.DataType:
    """Return the type of a column that has all rows of one table: a list of structs."""
    return pa.list_(pa.struct([pa.field(name, kind) for name, kind in columns.items()]))


def as_batch(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows, at least one, as a batch."""
    columns = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


def slices(batch: pa.RecordBatch, rows: int = _SLICE_ROWS) -> Iterator[pa.RecordBatch]:
    """Yield a batch in parts of few rows, whose lists may be long."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
