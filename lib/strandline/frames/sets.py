"""set_hash of columns of 32-byte values, so that no task holds a whole set."""

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
    One sort per (namespace, first byte) in parallel, then one fold over at most 256 digests a namespace.
    """
    hashes = bucket_hashes(values.select("namespace", "value").distinct())
    in_order = hashes.repartition("namespace").sortWithinPartitions("namespace", "first")
    return map_batches(in_order, set_digests, SET_SCHEMA)


def bucket_hashes(values: DataFrame) -> DataFrame:
    """Return what a set_hash is made of: the hash of the values of each first byte.

    Reads:  namespace, value (BINARY, 32 bytes, each once in its namespace).
    Gives:  namespace, first BINARY, digest BINARY, size BIGINT.
    Rows:   one per (namespace, first byte) that has a value.
    """
    sorted_values = (
        values.select("namespace", first_byte("value").alias("first"), "value")
        .repartition("namespace", "first").sortWithinPartitions("namespace", "first", "value")
    )  # fmt: skip
    return map_batches(sorted_values, bucket_digests, DIGEST_SCHEMA)


def first_byte(value: str) -> Column:
    """The first byte of a BINARY column, which says in which of the 256 parts of a set_hash its value is."""
    return F.substring(F.col(value), 1, 1)
