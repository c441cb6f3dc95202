"""What became of each block, and of each document that delivered it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.core.verdict import encode_evidence
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.frames.before import FATES
from strandline.dialects.ipfslog.frames.blocks import PLACE, is_block
from strandline.dialects.ipfslog.types import DIALECT

FAULTS = ("INTERNAL_ERROR", "LIBRARY_DISAGREEMENT")
"""Reasons that are no fault of the record: the run says so by its exit code."""


def fates(concluded: DataFrame, refuted: DataFrame | None) -> DataFrame:
    """Give what became of blocks.

    Reads:  what `identities.concluded` and `identities.refuted` give.
    Gives:  FATES.
    Rows:   one per block.
    """
    identity = F.concat(F.lit("identity:"), F.lower(F.hex("identity_digest")))
    is_fault = F.array_contains("reasons", "INTERNAL_ERROR")
    missing = (F.col("outcome") == "deferred") & ~is_fault
    told = concluded.select(
        "judge_id",
        "record_id",
        "namespace",
        "kind",
        F.when(F.col("outcome") == "refuted", F.lit("rejected")).otherwise(F.col("outcome")).alias("outcome"),
        F.when(missing, F.array(F.lit("IDENTITY_MISSING"))).otherwise(F.col("reasons")).alias("reasons"),
        "evidence",
        waits_for(F.when(missing, identity).when(is_fault, F.lit(kernels.NEXT_RULES))).alias("waits_for"),
        "identity_digest",
        "heads",
    )
    if refuted is None:
        return told
    more = refuted.select(
        "judge_id", F.col("reasons").alias("all_reasons"), F.col("evidence").alias("all_evidence")
    )
    return (
        told.join(more, "judge_id", "left")
        .withColumns(
            {
                "reasons": F.coalesce("all_reasons", "reasons"),
                "evidence": F.coalesce("all_evidence", "evidence"),
            }
        )
        .select(*FATES)
    )


def waits_for(thing: Column) -> Column:
    """What a row of `quarantine` waits for: this thing, or nothing where it is null."""
    return F.when(thing.isNull(), F.array().cast("array<string>")).otherwise(F.array(thing))


def limited(of_blocks: DataFrame, full: DataFrame, limit: int) -> DataFrame:
    """Turn away blocks for which their namespace has no room among its waiting records.

    Reads:  FATES; full: the namespaces concerned, and how many rows of theirs wait: namespace, waits.
    Gives:  FATES; those beyond the room, in the order of their ids, are rejected with DEFERRED_LIMIT.
    Rows:   one per row.
    """
    order = Window.partitionBy("namespace", "outcome").orderBy("record_id")
    evidence = encode_evidence({"DEFERRED_LIMIT": {"expected": limit}})
    is_over = (
        (F.col("outcome") == "deferred") & F.array_contains("reasons", "IDENTITY_MISSING")
        & F.coalesce(F.row_number().over(order) > F.lit(limit) - F.col("waits"), F.lit(False))
    )  # fmt: skip
    turned = of_blocks.join(full, "namespace", "left").withColumn("is_over", is_over)
    return turned.withColumns(
        {
            "outcome": F.when(F.col("is_over"), F.lit("rejected")).otherwise(F.col("outcome")),
            "reasons": F.when(F.col("is_over"), F.array(F.lit("DEFERRED_LIMIT"))).otherwise(F.col("reasons")),
            "evidence": F.when(F.col("is_over"), F.lit(evidence)).otherwise(F.col("evidence")),
            "waits_for": F.when(F.col("is_over"), F.array().cast("array<string>")).otherwise(
                F.col("waits_for")
            ),
        }
    ).select(*FATES)


def delivered(documents: DataFrame, of_blocks: DataFrame) -> DataFrame:
    """Give what became of each document that was delivered; claims of heads are none.

    Reads:  DOCUMENT_COLUMNS; FATES.
    Gives:  PLACE, offset, judge_id, fate: accepted, rejected, deferred or foreign; is_fault.
    Rows:   one per document.
    """
    known = of_blocks.select(
        "judge_id", "outcome", F.arrays_overlap("reasons", F.array(*map(F.lit, FAULTS))).alias("is_fault")
    )
    in_car = F.col("kind") == "car"
    fate = (
        F.when((F.col("outcome") == "stray") & in_car, F.lit("foreign"))
        .when(F.col("outcome") == "stray", F.lit("rejected"))
        .otherwise(F.col("outcome"))
    )
    place = (*PLACE, "offset")
    judged = documents.where(is_block()).join(known, "judge_id")
    unread = documents.where(F.col("kind").isNull() | (F.col("kind") == "foreign"))
    is_ours = F.coalesce(F.col("damage") == "INTERNAL_ERROR", F.lit(False))
    unread_fate = (
        F.when(F.col("kind") == "foreign", F.lit("foreign"))
        .when(is_ours, F.lit("deferred"))
        .otherwise(F.lit("rejected"))
    )
    return judged.select(*place, "judge_id", fate.alias("fate"), "is_fault").unionByName(
        unread.select(*place, "judge_id", unread_fate.alias("fate"), is_ours.alias("is_fault"))
    )


def waiting(quarantine: DataFrame) -> DataFrame:
    """Keep the rows of `quarantine` that wait for an identity.

    Gives: quarantine_id, bucket, namespace, record_id, raw, identity_digest.
    """
    rows = quarantine.where(
        (F.col("dialect") == DIALECT)
        & (F.col("status") == "deferred")
        & F.array_contains("reasons", "IDENTITY_MISSING")
    )
    digest = F.unhex(F.substring_index(F.col("waits_for")[0], ":", -1))
    return rows.select(
        "quarantine_id", "bucket", "namespace", "record_id", "raw", digest.alias("identity_digest")
    )
