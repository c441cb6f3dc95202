"""Rejected and deferred records in the form of the table `quarantine`."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.contracts.merge import DELETED
from strandline.frames.buckets import bucket_of, bucket_of_id

ZERO = b"\x00"

FINDING_COLUMNS = (
    "namespace", "scope", "status", "reasons", "record_id", "raw", "raw_bytes", "raw_sha256", "waits_for", "evidence",
    "source", "source_offset", "order_key",
)  # fmt: skip
"""The columns of a finding, a record that was not accepted. raw_sha256 is null if raw is whole; the least order_key
decides which one of equal findings is stored."""

PRECEDENCE: Final = "precedence"
RESOLVED, FOUND, JUDGED = range(3)
"""Values of PRECEDENCE, the least of which decides what becomes of a quarantine id: a resolved row goes although it was
found again, a row that was judged again and found stays."""


def deferred(quarantine: DataFrame, dialect: str) -> DataFrame:
    """Keep records of a dialect that wait for other records or corrected rules.  Gives: the columns of `quarantine`."""
    return quarantine.where((F.col("dialect") == dialect) & (F.col("status") == "deferred"))


def identified(findings: DataFrame, *, dialect: str, buckets: int) -> DataFrame:
    """Add the key of the table: quarantine_id and bucket.

    Reads:  FINDING_COLUMNS.  Gives: FINDING_COLUMNS, quarantine_id, bucket.  Rows: one per row.
    The id includes the verdict: a record that is rejected in one file and waits in another has two rows. If bytes are
    not stored whole, the digest of all bytes follows the stored ones.
    """
    bound = F.concat(
        F.lit(dialect).cast("binary"), F.lit(ZERO),
        F.coalesce(F.col("namespace"), F.lit("")).cast("binary"), F.lit(ZERO),
        F.col("status").cast("binary"), F.lit(ZERO),
        F.array_join("reasons", ",").cast("binary"), F.lit(ZERO),
        F.col("raw"), F.coalesce(F.col("raw_sha256"), F.lit(b"")),
    )  # fmt: skip
    tag = F.concat(F.lit(b"strandline/quarantine/1"), F.lit(ZERO), bound)
    named = findings.withColumn("quarantine_id", F.unhex(F.sha2(tag, 256)))
    unknown = F.col("namespace").isNull()
    of_id, of_namespace = (
        bucket_of_id(F.col("quarantine_id"), buckets),
        bucket_of(F.col("namespace"), buckets),
    )
    return named.withColumn("bucket", F.when(unknown, of_id).otherwise(of_namespace))


def with_keys_to_delete(found: DataFrame, resolved: DataFrame | None, judged: DataFrame | None) -> DataFrame:
    """Add the keys of stored rows that go: all of `resolved`, and those of `judged` that are not found again.

    Reads:  found: columns of `identified`; resolved, judged: quarantine_id, bucket.
    Gives:  columns of `identified`, null in the added rows but for the key; precedence.
    Rows:   one per row.
    """
    marked = found.withColumn(PRECEDENCE, F.lit(FOUND))
    for keys, precedence in ((resolved, RESOLVED), (judged, JUDGED)):
        if keys is not None:
            going = keys.select("quarantine_id", "bucket", F.lit(precedence).alias(PRECEDENCE))
            marked = marked.unionByName(going, allowMissingColumns=True)
    return marked


def first_rejected(findings: DataFrame) -> DataFrame:
    """Find the first rejected record of each source.

    Reads:  FINDING_COLUMNS.
    Gives:  source, rejected (how many records), source_offset and reasons (joined by commas) of the first of them.
    Rows:   one per source with a rejected record.
    """
    bad = findings.where("status = 'rejected' AND scope = 'record'")
    first = F.min(F.struct("order_key", "source_offset", F.array_join("reasons", ",").alias("reasons")))
    return (
        bad.groupBy("source")
        .agg(F.count(F.lit(1)).alias("rejected"), first.alias("first"))
        .select("source", "rejected", "first.source_offset", "first.reasons")
    )


def as_quarantine(
    findings: DataFrame, *, dialect: str, rules_version: int, run_id: str, seen_at: Column
) -> DataFrame:
    """Shape findings to the contract of `quarantine`.

    Reads:  columns of `with_keys_to_delete`.
    Gives:  the columns of `quarantine`; is_gone, true if only the key has a value.
    Rows:   one per quarantine id: of those with the least precedence the one with the least order_key, with the least
            evidence.
    """
    first = Window.partitionBy("quarantine_id").orderBy(PRECEDENCE, "order_key")
    least = F.min("evidence").over(Window.partitionBy("quarantine_id"))
    distinct = findings.withColumns({"rank": F.row_number().over(first), "evidence": least}).where("rank = 1")
    return distinct.select(
        "quarantine_id",
        "bucket",
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
        (F.col(PRECEDENCE) != FOUND).alias(DELETED),
    )
