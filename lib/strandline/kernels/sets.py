"""set_hash over sorted batches: a digest per first byte, then one digest per set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from strandline.core.hashing import EMPTY_BUCKET, SET_BUCKET_TAG, set_hash_of_buckets
from strandline.kernels.batches import as_batch
from strandline.kernels.digests import run_digests

DIGEST_SCHEMA = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("first", pa.binary()),
        pa.field("digest", pa.binary()),
        pa.field("size", pa.int64()),
    ]
)
SET_SCHEMA = pa.schema(
    [pa.field("namespace", pa.string()), pa.field("set_hash", pa.binary()), pa.field("size", pa.int64())]
)
_BUCKET_TAG = SET_BUCKET_TAG.encode("ascii") + b"\x00"


def bucket_digests(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the digest of each (namespace, first byte) of ascending values; repeated ones count once.

    Reads: namespace, first (BINARY, 1 byte), value (BINARY, 32 bytes), sorted by all three.
    Gives: DIGEST_SCHEMA.
    """
    return run_digests(batches, ("namespace", "first"), tag=_BUCKET_TAG, distinct=True)


def set_digests(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the set_hash of each namespace from its digests by first byte. Reads DIGEST_SCHEMA sorted by namespace."""
    here: str | None = None
    digests, size = [EMPTY_BUCKET] * 256, 0
    for batch in batches:
        out: list[tuple[str, bytes, int]] = []
        columns = (batch.column(name).to_pylist() for name in DIGEST_SCHEMA.names)
        for namespace, first, digest, count in zip(*columns, strict=True):
            if namespace != here:
                if here is not None:
                    out.append((here, set_hash_of_buckets(size, digests), size))
                here, digests, size = namespace, [EMPTY_BUCKET] * 256, 0
            digests[first[0]] = digest
            size += count
        if out:
            yield as_batch(out, SET_SCHEMA)
    if here is not None:
        yield as_batch([(here, set_hash_of_buckets(size, digests), size)], SET_SCHEMA)
