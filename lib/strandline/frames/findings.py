"""Documents that were not accepted, as findings for the quarantine."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.frames.blocks import PLACE
from strandline.frames.provenance import of_files
from strandline.frames.quarantine import FINDING_COLUMNS

LAST = 2**62
"""The place (`PLACE`) of a record that no file of this run delivered."""


def findings(documents: DataFrame, of_documents: DataFrame, sources: DataFrame) -> DataFrame:
    """Shape documents that were not accepted to findings.

    Reads:  documents; columns of `delivered`; sources: `provenance.batch_sources`.
    Gives:  FINDING_COLUMNS.
    Rows:   one per document that was rejected or waits.
    """
    bad = of_documents.where("status IN ('rejected', 'deferred')")
    found = bad.select(*PLACE, "status", "namespace", "reasons", "evidence", "waits_for")
    raw = documents.select(*PLACE, "offset", "record_id", "raw", "raw_bytes", "raw_sha256")
    placed = {"source_offset": F.col("offset"), "order_key": F.struct(*PLACE)}
    return with_source(raw.join(found, list(PLACE)).withColumns(placed), sources)


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

    Reads:  judged: judge_id, record_id, block; VERDICT of these; recalled: judge_id, waits_for, source,
            source_offset.
    Gives:  FINDING_COLUMNS.
    Rows:   one per record that was rejected, or now waits for another record.
    """
    before = recalled.select(
        F.col("judge_id").alias("judge_id"),
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


def first_damages(of_documents: DataFrame, sources: DataFrame) -> DataFrame:
    """Find the first rejected document of each file.

    Reads:  columns of `delivered`; sources: `provenance.batch_sources`.
    Gives:  source, offset, reasons (joined by commas), accepted_before.
    Rows:   one per file with a rejected document, by file.
    """
    here = F.struct("part", "frame", "offset", F.array_join("reasons", ",").alias("reasons"))
    is_rejected = F.col("status") == "rejected"
    first = of_documents.where(is_rejected).groupBy("file_no").agg(F.min(here).alias("first"))
    first = first.join(of_files(sources), "file_no").select("file_no", "source", "first")
    is_before = (F.col("status") == "accepted") & (
        F.struct("part", "frame") < F.struct("first.part", "first.frame")
    )
    counted = (
        of_documents.select("file_no", "part", "frame", "status").join(first, "file_no").groupBy("file_no")
    )
    return (
        counted.agg(
            F.first("source").alias("source"),
            F.first("first").alias("first"),
            F.count_if(is_before).alias("accepted_before"),
        )
        .orderBy("file_no")
        .select("source", "first.offset", "first.reasons", "accepted_before")
    )
