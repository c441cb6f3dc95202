"""What an earlier run knows of a block, so that nothing is verified twice."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog.frames.blocks import is_alone, is_block
from strandline.dialects.ipfslog.types import DIALECT

BY_SIGNATURE = (
    "IDENTITY_INVALID", "IDENTITY_TYPE_UNSUPPORTED", "KEY_IDENTITY_MISMATCH", "KEY_MALFORMED", "SIGNATURE_INVALID",
    "SIGNATURE_MALFORMED", "SIGNATURE_WEAK",
)  # fmt: skip
"""Reasons whose finding takes a signature, or comes with those that do."""

BY_CLAIM = (
    "CID_MALFORMED", "CID_UNSUPPORTED", "DEFERRED_LIMIT", "HASH_MISMATCH", "INTERNAL_ERROR", "LIBRARY_DISAGREEMENT",
    "LOG_ID_MISMATCH",
)  # fmt: skip
"""Reasons that are not of the block's bytes alone, or that may be others the next time."""

FATES = (
    "judge_id", "record_id", "namespace", "kind", "outcome", "reasons", "evidence", "waits_for", "identity_digest",
    "heads",
)  # fmt: skip
"""What became of a block. `outcome`: accepted, rejected, deferred, foreign or stray."""


def asked_for(documents: DataFrame) -> DataFrame:
    """Name the blocks whose verdict an earlier run may have found.

    Reads:  DOCUMENT_COLUMNS, bucket.
    Gives:  judge_id, namespace, bucket.
    Rows:   one per block that nobody claims to be what it is not.
    """
    alone = documents.where(is_block() & is_alone())
    return alone.groupBy("judge_id").agg(
        F.first("namespace").alias("namespace"), F.first("bucket").alias("bucket")
    )


def held(asked: DataFrame, entries: DataFrame) -> DataFrame:
    """Keep the blocks that are entries of the table.

    Reads:  judge_id, namespace; entries: namespace, record_id.
    Gives:  FATES.
    Rows:   one per block that is held.
    """
    known = entries.select("namespace", F.col("record_id").alias("judge_id"))
    found = asked.join(known, ["namespace", "judge_id"], "left_semi")
    return _fates(found, outcome="accepted", kind="entry")


def rows_with_verdict(quarantine: DataFrame, *, rules_version: int, rejected: bool) -> DataFrame:
    """Keep the rows of `quarantine` that tell the verdict on a block alone: it waits, or the rules of today reject it.

    Reads:  the columns of `quarantine`.
    Gives:  those columns.
    Rows:   those of blocks that wait; unless `rejected` is false those whose reasons took a signature to find.
    """
    rows = quarantine.where(
        (F.col("dialect") == DIALECT) & F.col("record_id").isNotNull() & F.col("raw_whole")
    )
    waits = (F.col("status") == "deferred") & F.array_contains("reasons", "IDENTITY_MISSING")
    is_verdict = (
        (F.col("status") == "rejected") & (F.col("rules_version") == rules_version)
        & F.arrays_overlap("reasons", _codes(BY_SIGNATURE)) & ~F.arrays_overlap("reasons", _codes(BY_CLAIM))
    )  # fmt: skip
    return rows.where(waits | is_verdict if rejected else waits)


def _codes(codes: tuple[str, ...]) -> Column:
    return F.array(*(F.lit(code) for code in codes))


def remembered(asked: DataFrame, rows: DataFrame) -> DataFrame:
    """Give the verdicts of rows of `quarantine` on the blocks that are asked for.

    Reads:  judge_id; what `rows_with_verdict` gives.
    Gives:  FATES.
    Rows:   one per block that has such a row.
    """
    told = rows.select(
        F.col("record_id").alias("judge_id"), "record_id", "namespace", F.lit("entry").alias("kind"),
        F.col("status").alias("outcome"), "reasons", "evidence", "waits_for",
        F.lit(None).cast("binary").alias("identity_digest"), F.lit(None).cast("array<binary>").alias("heads"),
    )  # fmt: skip
    found = told.join(asked.select("judge_id"), "judge_id", "left_semi")
    return found.dropDuplicates(["judge_id"]).select(*FATES)


def _fates(found: DataFrame, *, outcome: str, kind: str) -> DataFrame:
    nothing = F.array().cast("array<string>")
    return found.select(
        "judge_id", F.col("judge_id").alias("record_id"), "namespace", F.lit(kind).alias("kind"),
        F.lit(outcome).alias("outcome"), nothing.alias("reasons"), F.lit(None).cast("string").alias("evidence"),
        nothing.alias("waits_for"), F.lit(None).cast("binary").alias("identity_digest"),
        F.lit(None).cast("array<binary>").alias("heads"),
    )  # fmt: skip
