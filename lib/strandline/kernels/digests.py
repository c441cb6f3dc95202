"""Digests over sorted batches: one per run of rows with equal keys."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from strandline.kernels.batches import as_batch


def run_digests(
    batches: Iterable[pa.RecordBatch], keys: tuple[str, ...], *, tag: bytes = b"", distinct: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield SHA-256 of `tag` and the concatenated values of each run of rows with equal keys.

    Reads: the columns `keys` and value (BINARY), none of them null, sorted by the keys, then in the order of hashing.
    Gives: the keys, digest BINARY, size BIGINT (values of the run). `distinct`: equal values that follow each other
           count once. Memory does not grow with the values.
    """
    here: tuple[Any, ...] | None = None
    last: bytes | None = None
    digest, size = hashlib.sha256(tag), 0
    schema: pa.Schema | None = None
    for batch in batches:
        if schema is None:
            kept = [batch.schema.field(name) for name in keys]
            schema = pa.schema([*kept, pa.field("digest", pa.binary()), pa.field("size", pa.int64())])
        if not batch.num_rows:
            continue
        out: list[tuple[Any, ...]] = []
        rows = _distinct(batch, keys) if distinct else batch
        columns, values = [rows.column(name) for name in keys], rows.column("value")
        starts = run_starts(rows, keys)
        for start, end in zip(starts, [*starts[1:], rows.num_rows], strict=True):
            there = tuple(column[start].as_py() for column in columns)
            if there != here:
                if here is not None:
                    out.append((*here, digest.digest(), size))
                here, digest, size, last = there, hashlib.sha256(tag), 0, None
            if distinct and values[start].as_py() == last:
                start += 1
            digest.update(_joined(values, start, end))
            size += end - start
        last = values[-1].as_py()
        if out:
            yield as_batch(out, schema)
    if here is not None and schema is not None:
        yield as_batch([(*here, digest.digest(), size)], schema)


def _changes(rows: pa.RecordBatch, names: Iterable[str]) -> pa.BooleanArray:
    """Return for each row but the first whether it differs from the one before in one of these columns."""
    count = rows.num_rows - 1
    columns = (rows.column(name) for name in names)
    return reduce(pc.or_, (pc.not_equal(each.slice(1), each.slice(0, count)) for each in columns))


def run_starts(rows: pa.RecordBatch, keys: tuple[str, ...]) -> list[int]:
    """Return where runs of rows with equal keys begin."""
    return [0, *(at + 1 for at in pc.indices_nonzero(_changes(rows, keys)).to_pylist())]


def _distinct(rows: pa.RecordBatch, keys: tuple[str, ...]) -> pa.RecordBatch:
    """Keep the first of rows with equal keys and values that follow each other."""
    if rows.num_rows < 2:
        return rows
    is_new = _changes(rows, (*keys, "value"))
    return rows if pc.all(is_new).as_py() else rows.filter(pa.concat_arrays([pa.array([True]), is_new]))


def _joined(values: pa.BinaryArray | pa.LargeBinaryArray, start: int, end: int) -> memoryview:
    """Return the bytes of values one after the other, without a copy."""
    _, offsets, data = values.buffers()
    # A session can have offsets of 64 bits: spark.sql.execution.arrow.useLargeVarTypes.
    ends = memoryview(offsets).cast("q" if pa.types.is_large_binary(values.type) else "i")
    first, last = ends[values.offset + start], ends[values.offset + end]
    return memoryview(data)[first:last] if data is not None else memoryview(b"")
