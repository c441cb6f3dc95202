"""The partition column of every table, in functions of Spark."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from strandline.contracts import bucket_ranges


def bucket_of(namespace: Column, buckets: int) -> Column:
    """Return INT: the first two bytes of SHA-256 of the namespace's UTF-8, big-endian, modulo `buckets`.

    Equals `core.ids.bucket_of`; the CHECK constraint of every table repeats it.
    """
    return (F.conv(F.substring(F.sha2(namespace, 256), 1, 4), 16, 10).cast("int") % F.lit(buckets)).cast(
        "int"
    )


def bucket_of_id(digest: Column, buckets: int) -> Column:
    """Return INT: the first two bytes of a BINARY id, big-endian, modulo `buckets`: for rows without a namespace."""
    return (F.conv(F.substring(F.hex(digest), 1, 4), 16, 10).cast("int") % F.lit(buckets)).cast("int")


def in_buckets(buckets: Iterable[int]) -> Column:
    """Return whether a row is in one of these buckets: files of others are not opened."""
    listed = list(buckets)
    return F.expr(bucket_ranges.in_buckets("bucket", listed)) if listed else F.lit(False)
