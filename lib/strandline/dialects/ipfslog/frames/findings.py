"""Documents that were not accepted, in the form that every dialect hands to the quarantine."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.frames.blocks import PLACE
from strandline.dialects.ipfslog.frames.fates import waits_for
from strandline.frames.quarantine import FINDING_COLUMNS


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
        F.when(is_damage, waits_for(damage_waits)).otherwise(F.col("waits_for")).alias("waits_for"),
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
