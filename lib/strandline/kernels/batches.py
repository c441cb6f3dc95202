"""Rows as record batches, and the type of rows within a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa


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
