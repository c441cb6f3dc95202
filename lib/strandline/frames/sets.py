"""set_hash of columns of 32-byte values, so that no task holds a whole set."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.kernels.sets import bucket_digests, set_digests


def set_hashes(values: DataFrame) -> DataFrame:
    """Return the set_hash of each group of 32-byte values.

    Reads:  namespace, value (BINARY, 32 bytes; repeated values count once).
    Gives:  namespace, set_hash BINARY, size BIGINT.
    Rows:   one per namespace.
    One sort per (namespace, first byte) in parallel, then one fold over at most 256 digests a namespace.
    """
    split = F.substring(F.col("value"), 1, 1)
    sorted_values = (
        values.select("namespace", "value").distinct().withColumn("first", split)
        .repartition("namespace", "first").sortWithinPartitions("namespace", "first", "value")
    )  # fmt: skip
    parts = sorted_values.mapInArrow(
        bucket_digests, "namespace STRING, first BINARY, digest BINARY, size BIGINT"
    )
    return (
        parts.repartition("namespace").sortWithinPartitions("namespace", "first")
        .mapInArrow(set_digests, "namespace STRING, set_hash BINARY, size BIGINT")
    )  # fmt: skip
