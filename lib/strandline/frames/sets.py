"""set_hash of columns of 32-byte values; no task holds a whole set."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.frames.lift import map_batches
from strandline.kernels.sets import DIGEST_SCHEMA, SET_SCHEMA, bucket_digests, set_digests


def set_hashes(values: DataFrame) -> DataFrame:
    """Return the set_hash of each group of 32-byte values.

    Reads:  namespace, value (BINARY, 32 bytes; repeated values count once).
    Gives:  namespace, set_hash BINARY, size BIGINT.
    Rows:   one per namespace.
    One parallel sort per (namespace, first byte), then at most 256 digests per namespace.
    """
    hashes = bucket_hashes(values)
    in_order = hashes.repartition("namespace").sortWithinPartitions("namespace", "first")
    return map_batches(in_order, set_digests, SET_SCHEMA)


def bucket_hashes(values: DataFrame) -> DataFrame:
    """Return the parts of a set_hash: the hash of the values with each first byte.

    Reads:  namespace, value (BINARY, 32 bytes; repeated values count once).
    Gives:  namespace, first BINARY, digest BINARY, size BIGINT.
    Rows:   one per (namespace, first byte) that has a value.
    """
    sorted_values = (
        values.select("namespace", first_byte("value").alias("first"), "value")
        .repartition("namespace", "first").sortWithinPartitions("namespace", "first", "value")
    )  # fmt: skip
    return map_batches(sorted_values, bucket_digests, DIGEST_SCHEMA)


def first_byte(value: str) -> Column:
    """Return the first byte of a BINARY column: it selects one of the 256 parts of a set_hash."""
    return F.substring(F.col(value), 1, 1)
