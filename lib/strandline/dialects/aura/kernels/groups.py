"""Rows sorted by namespace, one group per namespace: a batch may end inside a namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import Any

import pyarrow as pa


def by_namespace(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    """Yield each namespace with its rows, which follow one another: read them before the next one."""
    rows = chain.from_iterable(batch.to_pylist() for batch in batches)
    yield from groupby(rows, key=lambda row: str(row["namespace"]))


def in_batches(rows: Iterable[dict[str, Any]], schema: pa.Schema, size: int) -> Iterator[pa.RecordBatch]:
    """Yield rows as batches of at most `size` rows; absent columns are null."""
    held: list[dict[str, Any]] = []
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield pa.RecordBatch.from_pylist(held, schema=schema)
            held = []
    if held:
        yield pa.RecordBatch.from_pylist(held, schema=schema)
