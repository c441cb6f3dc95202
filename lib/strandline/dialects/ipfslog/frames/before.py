"""What an earlier run knows of a block, so that nothing is verified twice."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog.frames.blocks import is_block
from strandline.dialects.ipfslog.types import DIALECT

NOT_FOR_GOOD = ("DEFERRED_LIMIT", "INTERNAL_ERROR", "LIBRARY_DISAGREEMENT", "LOG_ID_MISMATCH", "NOT_AN_ENTRY")
"""Reasons of something beside block and address, or that may be others the next time."""

FATES = (
    "judge_id", "record_id", "namespace", "kind", "outcome", "reasons", "evidence", "waits_for", "identity_digest",
    "heads",
)  # fmt: skip
"""What became of a block. `outcome`: accepted, rejected, deferred, foreign or stray."""


def asked_for(documents: DataFrame) -> DataFrame:
    """Name the blocks whose verdict an earlier run may have found.

    Reads:  DOCUMENT_COLUMNS, bucket.
    Gives:  judge_id, record_id, claimed, namespace, bucket.
    Rows:   one per block and address that is not its own; none for one that a snapshot of another log holds.
    """
    found = documents.where(is_block() & F.col("snapshot_id").isNull())
    firsts = (F.first(name).alias(name) for name in ("record_id", "claimed", "namespace", "bucket"))
    return found.groupBy("judge_id").agg(*firsts)


def held(asked: DataFrame, entries: DataFrame) -> DataFrame:
    """Keep the blocks that are entries of the table, and came with no address but their own.

    Reads:  judge_id, claimed, namespace; entries: namespace, record_id.
    Gives:  FATES.
    Rows:   one per block that is held.
    """
    known = entries.select("namespace", F.col("record_id").alias("judge_id"))
    found = asked.where("claimed IS NULL").join(known, ["namespace", "judge_id"], "left_semi")
    return _fates(found, outcome="accepted", kind="entry")


def rows_with_verdict(quarantine: DataFrame, *, rules_version: int, rejected: bool) -> DataFrame:
    """Keep the rows of `quarantine` that tell a verdict: on a block alone, or on it and the address in the evidence.

    Reads:  the columns of `quarantine`.
    Gives:  those columns; told_claim: that address, or null.
    Rows:   those of blocks that wait, and unless `rejected` is false those that the rules of today reject.
    """
    rows = quarantine.where(
        (F.col("dialect") == DIALECT) & F.col("record_id").isNotNull() & F.col("raw_whole")
    )
    waits = (F.col("status") == "deferred") & F.array_contains("reasons", "IDENTITY_MISSING")
    is_verdict = (
        (F.col("status") == "rejected")
        & (F.col("rules_version") == rules_version)
        & ~F.arrays_overlap("reasons", F.array(*map(F.lit, NOT_FOR_GOOD)))
    )
    return rows.withColumn("told_claim", _claim()).where(waits | is_verdict if rejected else waits)


def _claim() -> Column:
    """The address that a rejected block came with, as its evidence tells; null where that was its own."""
    told = [F.get_json_object("evidence", "$.HASH_MISMATCH.claimed")]
    for code in ("CID_MALFORMED", "CID_UNSUPPORTED"):
        is_of_block = F.get_json_object("evidence", f"$.{code}.field") == "cid"
        told.append(F.when(is_of_block, F.get_json_object("evidence", f"$.{code}.actual")))
    return F.coalesce(*told)


def remembered(asked: DataFrame, rows: DataFrame) -> DataFrame:
    """Give the verdicts of rows of `quarantine` on the blocks that are asked for.

    Reads:  judge_id, record_id, claimed; what `rows_with_verdict` gives.
    Gives:  FATES.
    Rows:   one per block and address that has such a row.
    """
    named = asked.select("judge_id", "record_id", "claimed")
    same = (F.col("a.record_id") == F.col("r.record_id")) & F.col("claimed").eqNullSafe(F.col("told_claim"))
    found = named.alias("a").join(rows.alias("r"), same).dropDuplicates(["judge_id"])
    return found.select(
        "judge_id", F.col("a.record_id").alias("record_id"), "namespace", F.lit("entry").alias("kind"),
        F.col("status").alias("outcome"), "reasons", "evidence", "waits_for",
        F.lit(None).cast("binary").alias("identity_digest"), F.lit(None).cast("array<binary>").alias("heads"),
    )  # fmt: skip


def _fates(found: DataFrame, *, outcome: str, kind: str) -> DataFrame:
    nothing = F.array().cast("array<string>")
    return found.select(
        "judge_id", F.col("judge_id").alias("record_id"), "namespace", F.lit(kind).alias("kind"),
        F.lit(outcome).alias("outcome"), nothing.alias("reasons"), F.lit(None).cast("string").alias("evidence"),
        nothing.alias("waits_for"), F.lit(None).cast("binary").alias("identity_digest"),
        F.lit(None).cast("array<binary>").alias("heads"),
    )  # fmt: skip
