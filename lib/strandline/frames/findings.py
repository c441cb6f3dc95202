"""Documents that were not accepted, as findings for the quarantine."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.frames.blocks import PLACE
from strandline.frames.provenance import of_files
from strandline.frames.quarantine import FINDING_COLUMNS
from strandline.frames.verdicts import waits_for
from strandline.kernels.guard import NEXT_RULES

LAST = 2**62
"""The place (`PLACE`) of a record that no file of this run delivered."""


def findings(
    documents: DataFrame, of_documents: DataFrame, verdicts: DataFrame, sources: DataFrame
) -> DataFrame:
    """Shape documents that were not accepted to findings.

    Reads:  documents; columns of `delivered`; VERDICT; sources: `provenance.batch_sources`.
    Gives:  FINDING_COLUMNS.
    Rows:   one per document that was rejected or waits.
    """
    bad = of_documents.where("status IN ('rejected', 'deferred')").select(*PLACE, "status")
    found = verdicts.select(
        "judge_id", F.col("namespace").alias("found_namespace"), F.col("reasons").alias("found_reasons"),
        F.col("evidence").alias("found_evidence"), "waits_for",
    )  # fmt: skip
    is_damage = F.col("damage").isNotNull()
    joined = documents.join(bad, list(PLACE)).join(found, "judge_id", "left")
    damage_waits = waits_for(F.when(F.col("status") == "deferred", F.lit(NEXT_RULES)))
    return with_source(
        joined.select(
            F.when(is_damage, F.col("namespace")).otherwise(F.col("found_namespace")).alias("namespace"), "status",
            F.when(is_damage, F.split("damage", ",")).otherwise(F.col("found_reasons")).alias("reasons"),
            "record_id", "raw", "raw_bytes", "raw_sha256",
            F.when(is_damage, damage_waits).otherwise(F.col("waits_for")).alias("waits_for"),
            F.when(is_damage, F.col("evidence")).otherwise(F.col("found_evidence")).alias("evidence"),
            "file_no", F.col("offset").alias("source_offset"), F.struct(*PLACE).alias("order_key"),
        ),
        sources,
    )  # fmt: skip


def with_source(found: DataFrame, sources: DataFrame) -> DataFrame:
    """Add scope and source to records that were not accepted.

    Reads:  FINDING_COLUMNS without scope and source, file_no; sources: `provenance.batch_sources`.
    Gives:  FINDING_COLUMNS; a row of `quarantine` that was judged again keeps its source and offset.
    Rows:   one per row.
    """
    named = found.join(sources, "file_no", "left")
    added = {"scope": F.lit("record"), "source_offset": F.col("base_offset") + F.col("source_offset")}
    return named.withColumns(added).select(*FINDING_COLUMNS)


def recalled_findings(judged: DataFrame, verdicts: DataFrame, recalled: DataFrame) -> DataFrame:
    """Shape waiting records that were judged again and not accepted to findings; this run did not deliver them.

    Reads:  judged: judge_id, record_id, block; VERDICT of these; recalled: record_id, waits_for, source,
            source_offset.
    Gives:  FINDING_COLUMNS.
    Rows:   one per record that was rejected, or now waits for another record.
    """
    before = recalled.select(
        F.col("record_id").alias("judge_id"),
        F.col("waits_for").alias("waited_for"),
        "source",
        "source_offset",
    )
    bad = verdicts.where("outcome IN ('rejected', 'deferred')").drop("record_id").join(before, "judge_id")
    changed = bad.where((F.col("outcome") == "rejected") | (F.col("waits_for") != F.col("waited_for")))
    found = judged.select("judge_id", "record_id", "block").join(changed, "judge_id")
    return found.select(
        "namespace", F.lit("record").alias("scope"), F.col("outcome").alias("status"), "reasons", "record_id",
        F.col("block").alias("raw"), F.length("block").cast("bigint").alias("raw_bytes"),
        F.lit(None).cast("binary").alias("raw_sha256"), "waits_for", "evidence", "source", "source_offset",
        F.struct(*(F.lit(LAST).cast("bigint").alias(name) for name in PLACE)).alias("order_key"),
    )  # fmt: skip


def first_damages(
    of_documents: DataFrame, verdicts: DataFrame, documents: DataFrame, sources: DataFrame
) -> DataFrame:
    """Find the first rejected document of each file.

    Reads:  columns of `delivered`; VERDICT; documents; sources: `provenance.batch_sources`.
    Gives:  source, offset, reasons (joined by commas), accepted_before.
    Rows:   one per file with a rejected document, by file.
    """
    bad = (
        of_documents.where("status = 'rejected'")
        .groupBy("file_no")
        .agg(F.min(F.struct("part", "frame")).alias("at"))
    )
    at = F.struct("part", "frame")
    numbered = of_documents.withColumn("here", at).join(bad, "file_no")
    before = (
        numbered.where("status = 'accepted' AND here < at")
        .groupBy("file_no")
        .agg(F.count(F.lit(1)).alias("accepted_before"))
    )
    first = numbered.where("here = at").select(*PLACE, "offset", "judge_id")
    found = verdicts.select("judge_id", F.array_join("reasons", ",").alias("found_reasons"))
    return (
        first.join(documents.select(*PLACE, "damage"), list(PLACE))
        .join(found, "judge_id", "left").join(before, "file_no", "left").join(of_files(sources), "file_no")
        .orderBy("file_no")
        .select("source", "offset", F.coalesce("damage", "found_reasons").alias("reasons"),
                F.coalesce("accepted_before", F.lit(0)).alias("accepted_before"))
    )  # fmt: skip
