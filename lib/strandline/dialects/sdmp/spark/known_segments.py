"""Segments of large input that are stored already: no line of them has to be merged."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp.spark.elements import SEGMENT
from strandline.dialects.sdmp.spark.tables import JOURNALS, LINES
from strandline.frames.buckets import in_buckets


def with_known(placed: DataFrame, lines: DataFrame, tables: Tables, jobs: Jobs) -> DataFrame:
    """Say of each segment whether all of its lines are stored.

    Only the last line of a segment is looked for: the accepted lines of a journal contain the predecessor of each. And
    only segments of a namespace of which one ends where its reduced journal ends. So new lines cost a look at the
    reduced journals, and segments of a journal that goes beyond its end, or does not come to it, are left to the MERGE.
    Reads:  placed: `positions.resolved`; lines: SEGMENT, idx, hash, of the last line of each segment at least.
    Gives:  the columns of `placed`, is_known.
    Rows:   one per row.
    """
    leaves = tables.read(JOURNALS).select("bucket", "namespace", F.explode("leaves").alias("leaf"))
    ends = placed.where("n IS NOT NULL").select(
        "head_id", *SEGMENT, "bucket", "namespace", (F.col("n") + F.col("lines") - 1).alias("last_n"), "lines"
    )
    at_leaf = leaves.select("bucket", "namespace", F.col("leaf.n").alias("last_n"))
    whole = ends.join(at_leaf, ["bucket", "namespace", "last_n"], "left_semi")
    asked = jobs.checkpoint(
        ends.join(whole.select("bucket", "namespace"), ["bucket", "namespace"], "left_semi"),
        "segments that may be known",
    )
    span = jobs.row(
        asked.agg(
            F.min("last_n").alias("low"), F.max("last_n").alias("high"),
            F.collect_set("bucket").alias("buckets"),
        )
    )  # fmt: skip
    if span["low"] is None:
        return placed.withColumn("is_known", F.lit(False))
    is_last = F.col("idx") == F.col("head") + F.col("lines") - 1
    lasts = lines.select(*SEGMENT, "idx", "hash").join(asked, list(SEGMENT)).where(is_last)
    stored = (
        tables.read(LINES)
        .where(in_buckets(span["buckets"]) & F.col("n").between(span["low"], span["high"]))
        .select("bucket", "namespace", F.col("n").alias("last_n"), F.col("line_hash").alias("hash"))
    )
    known = lasts.join(stored, ["bucket", "namespace", "last_n", "hash"], "left_semi").select("head_id")
    marked = placed.join(known.withColumn("is_known", F.lit(True)), "head_id", "left")
    return jobs.checkpoint(marked.fillna(False, ["is_known"]), "known segments")
