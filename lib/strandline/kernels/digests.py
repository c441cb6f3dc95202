"""Digests over sorted batches: one per run of rows with equal keys."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from strandline.kernels.batches import as_batch


def run_digests(
    batches: Iterable[pa.RecordBatch], keys: tuple[str, ...], *, tag: bytes = b""
) -> Iterator[pa.RecordBatch]:
    """Yield SHA-256 of `tag` and the concatenated values of each run of rows with equal keys.

    Reads: the columns `keys` and value (BINARY), sorted by the keys, then in the order of hashing.
    Gives: the keys, digest BINARY, size BIGINT (rows of the run). Memory does not grow with the values.
    """
    here: tuple[Any, ...] | None = None
    digest, size = hashlib.sha256(tag), 0
    schema: pa.Schema | None = None
    for batch in batches:
        if schema is None:
            kept = [batch.schema.field(name) for name in keys]
            schema = pa.schema([*kept, pa.field("digest", pa.binary()), pa.field("size", pa.int64())])
        out: list[tuple[Any, ...]] = []
        columns = (batch.column(name).to_pylist() for name in (*keys, "value"))
        for *key, value in zip(*columns, strict=True):
            there = tuple(key)
            if there != here:
                if here is not None:
                    out.append((*here, digest.digest(), size))
                here, digest, size = there, hashlib.sha256(tag), 0
            digest.update(value)
            size += 1
        if out:
            yield as_batch(out, schema)
    if here is not None and schema is not None:
        yield as_batch([(*here, digest.digest(), size)], schema)
