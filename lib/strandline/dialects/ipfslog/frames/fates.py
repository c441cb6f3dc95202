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
from strandline.frames.quarantine import FINDING_COLUMNS

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
        _waits_for(F.when(missing, identity).when(is_fault, F.lit(kernels.NEXT_RULES))).alias("waits_for"),
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


def _waits_for(thing: Column) -> Column:
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


def findings(
    documents: DataFrame, of_documents: DataFrame, of_blocks: DataFrame, sources: DataFrame
) -> DataFrame:
    """Shape documents that were not accepted to findings.

    Reads:  DOCUMENT_COLUMNS; what `delivered` gives; FATES; file_no, source.
    Gives:  FINDING_COLUMNS.
    Rows:   one per document that was rejected or waits.
    """
    bad = of_documents.where("fate IN ('rejected', 'deferred')").select(*PLACE, F.col("fate").alias("status"))
    told = of_blocks.select(
        "judge_id", F.col("namespace").alias("told_namespace"), F.col("reasons").alias("told_reasons"),
        F.col("evidence").alias("told_evidence"), "waits_for",
    )  # fmt: skip
    is_damage = F.col("damage").isNotNull()
    joined = documents.join(bad, list(PLACE)).join(told, "judge_id", "left")
    damage_waits = F.when(F.col("status") == "deferred", F.lit(kernels.NEXT_RULES))
    found = joined.select(
        F.when(is_damage, F.col("namespace")).otherwise(F.col("told_namespace")).alias("namespace"),
        F.lit("record").alias("scope"),
        "status",
        F.when(is_damage, F.split("damage", ",")).otherwise(F.col("told_reasons")).alias("reasons"),
        "record_id",
        "raw",
        "raw_bytes",
        "raw_sha256",
        F.when(is_damage, _waits_for(damage_waits)).otherwise(F.col("waits_for")).alias("waits_for"),
        F.when(is_damage, F.col("evidence")).otherwise(F.col("told_evidence")).alias("evidence"),
        "file_no",
        F.col("offset").alias("source_offset"),
        F.struct(*PLACE).alias("order_key"),
    )
    return found.join(F.broadcast(sources), "file_no", "left").select(*FINDING_COLUMNS)


def recalled_findings(concluded_waiting: DataFrame, of_blocks: DataFrame) -> DataFrame:
    """Shape waiting entries that were judged again, and not accepted, to findings: nobody delivered them now.

    Reads:  judge_id, block; FATES.  Gives: FINDING_COLUMNS.  Rows: one per entry that its identity refutes.
    """
    null = F.lit(None)
    bad = of_blocks.where("outcome IN ('rejected', 'deferred')").drop("record_id")
    return (
        concluded_waiting.select("judge_id", "record_id", "block")
        .join(bad, "judge_id")
        .select(
            "namespace",
            F.lit("record").alias("scope"),
            F.col("outcome").alias("status"),
            "reasons",
            "record_id",
            F.col("block").alias("raw"),
            F.length("block").cast("bigint").alias("raw_bytes"),
            null.cast("binary").alias("raw_sha256"),
            "waits_for",
            "evidence",
            null.cast("string").alias("source"),
            null.cast("bigint").alias("source_offset"),
            F.struct(*(F.lit(2**62).cast("bigint").alias(name) for name in PLACE)).alias("order_key"),
        )
    )


def first_damages(
    of_documents: DataFrame, of_blocks: DataFrame, documents: DataFrame, sources: DataFrame
) -> DataFrame:
    """Tell, per file, the first document that was rejected.

    Reads:  what `delivered` gives; FATES; DOCUMENT_COLUMNS; file_no, source.
    Gives:  source, offset, reasons (joined by commas), accepted_before.
    Rows:   one per file with a rejected document, by file.
    """
    bad = (
        of_documents.where("fate = 'rejected'")
        .groupBy("file_no")
        .agg(F.min(F.struct("part", "frame")).alias("at"))
    )
    at = F.struct("part", "frame")
    numbered = of_documents.withColumn("here", at).join(bad, "file_no")
    before = (
        numbered.where("fate = 'accepted' AND here < at")
        .groupBy("file_no")
        .agg(F.count(F.lit(1)).alias("accepted_before"))
    )
    first = numbered.where("here = at").select(*PLACE, "offset", "judge_id")
    told = of_blocks.select("judge_id", F.array_join("reasons", ",").alias("told_reasons"))
    return (
        first.join(documents.select(*PLACE, "damage"), list(PLACE))
        .join(told, "judge_id", "left").join(before, "file_no", "left").join(F.broadcast(sources), "file_no", "left")
        .orderBy("file_no")
        .select("source", "offset", F.coalesce("damage", "told_reasons").alias("reasons"),
                F.coalesce("accepted_before", F.lit(0)).alias("accepted_before"))
    )  # fmt: skip


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
