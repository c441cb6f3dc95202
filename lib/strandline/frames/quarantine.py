"""Rejected and deferred records in the one form of the table `quarantine`."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.frames.buckets import bucket_of, bucket_of_id

ZERO = b"\x00"

FINDING_COLUMNS = (
    "namespace", "scope", "status", "reasons", "record_id", "raw", "raw_bytes", "raw_sha256", "waits_for", "evidence",
    "source", "source_offset", "order_key",
)  # fmt: skip
"""What a dialect says of a record that was not accepted; raw_sha256 is null where raw is whole; order_key decides
which of several deliveries of one text is kept (least first)."""


def as_quarantine(
    findings: DataFrame, *, dialect: str, buckets: int, rules_version: int, run_id: str, seen_at: Column
) -> DataFrame:
    """Shape findings to the contract of `quarantine`, one row per quarantine id.

    Reads:  FINDING_COLUMNS.
    Gives:  the columns of `quarantine`.
    Rows:   one per distinct (namespace, status, reasons, raw): that of the least order_key.
    """
    bound = F.concat(
        F.lit(dialect).cast("binary"), F.lit(ZERO), F.coalesce(F.col("namespace"), F.lit("")).cast("binary"), F.lit(ZERO),
        F.col("status").cast("binary"), F.lit(ZERO), F.array_join("reasons", ",").cast("binary"), F.lit(ZERO),
        F.col("raw"), F.coalesce(F.col("raw_sha256"), F.lit(b"")),
    )  # fmt: skip
    tag = F.concat(F.lit(b"strandline/quarantine/1"), F.lit(ZERO), bound)
    identified = findings.withColumn("quarantine_id", F.unhex(F.sha2(tag, 256)))
    first = Window.partitionBy("quarantine_id").orderBy("order_key")
    distinct = identified.withColumn("rank", F.row_number().over(first)).where("rank = 1")
    return distinct.select(
        "quarantine_id",
        F.when(F.col("namespace").isNull(), bucket_of_id(F.col("quarantine_id"), buckets))
        .otherwise(bucket_of(F.col("namespace"), buckets))
        .alias("bucket"),
        "namespace",
        F.lit(dialect).alias("dialect"),
        "scope",
        "status",
        "reasons",
        "record_id",
        "raw",
        F.coalesce(F.col("raw_sha256"), F.unhex(F.sha2(F.col("raw"), 256))).alias("raw_sha256"),
        "raw_bytes",
        F.col("raw_sha256").isNull().alias("raw_whole"),
        "waits_for",
        "evidence",
        F.lit(rules_version).cast("int").alias("rules_version"),
        "source",
        "source_offset",
        seen_at.alias("first_seen"),
        seen_at.alias("last_seen"),
        F.lit(1).cast("bigint").alias("times_seen"),
        F.lit(run_id).alias("first_run"),
        F.lit(run_id).alias("last_run"),
    )
