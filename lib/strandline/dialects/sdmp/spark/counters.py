"""Counts of a batch of node journals that are not verdicts: wrong `since` members, shorter text journals."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark.elements import is_candidate
from strandline.dialects.sdmp.spark.line_columns import namespace, number_of
from strandline.dialects.sdmp.spark.replay import is_delivered
from strandline.dialects.sdmp.spark.tables import JOURNALS, LINES
from strandline.frames.blocks import REPLAY_FILE_NO
from strandline.frames.buckets import in_buckets


def since_mismatches(
    lines: DataFrame, heads: DataFrame, tables: Tables, jobs: Jobs, buckets: tuple[int, ...]
) -> int:
    """Count the frames whose first line is accepted and whose `since` is not the number of the line before it.

    Stored tips decide most frames; only for the rest are `lines` (the elements with their facts) looked up.
    """
    stored = tables.read(LINES).where(in_buckets(buckets))
    journals = tables.read(JOURNALS).where(in_buckets(buckets))
    starts = heads.where(
        is_delivered() & (F.col("head") == 0) & F.col("since").isNotNull() & F.col("n").isNotNull()
    ).select("head_id", "namespace", "node", "number", "since", "n")
    tips = journals.select("namespace", F.col("tip_hash").alias("number"), "tip_number", "tip_n")
    first = F.col("n") <= 2
    expected = (
        F.when(first, F.col("node")).when(F.col("tip_n") == 1, F.col("node")).otherwise(F.col("tip_number"))
    )
    placed_starts = jobs.checkpoint(
        starts.join(tips, ["namespace", "number"], "left")
        .withColumn("expected", expected)
        .drop("tip_number", "tip_n"),
        "frames",
    )
    counted = jobs.row(
        placed_starts.agg(
            F.count(F.when(F.col("expected") != F.col("since"), 1)).alias("wrong"),
            F.count(F.when(F.col("expected").isNull(), 1)).alias("undecided"),
        )
    )
    if not counted["undecided"]:
        return int(counted["wrong"])
    undecided = placed_starts.where("expected IS NULL").drop("expected")
    in_run = lines.where(is_candidate()).select(
        namespace().alias("namespace"),
        F.col("hash").alias("number"),
        number_of(F.col("raw"), F.col("node")).alias("found"),
    )
    in_table = stored.select(
        "namespace", F.col("line_hash").alias("number"), F.col("line_number").alias("found")
    )
    place = ["namespace", "number"]
    known = in_run.unionByName(in_table).join(undecided.select(*place), place, "left_semi")
    # Copies of a line have one number: many of them, and many frames that follow it, do not multiply.
    one_each = known.groupBy(*place).agg(F.min("found").alias("found"))
    wrong = undecided.join(one_each, place).where("found <> since")
    return int(counted["wrong"]) + int(jobs.row(wrong.agg(F.count(F.lit(1)).alias("rows")))["rows"])


def shorter_journals(
    text_lines: DataFrame,
    heads: DataFrame,
    tables: Tables,
    jobs: Jobs,
    buckets: tuple[int, ...],
    low_end: int | None,
) -> int:
    """Count the text journals whose last line was stored before this run and has a stored successor.

    Lines of `quarantine` that are judged again are no journals.

    `text_lines` has file_no, part, idx, hash of the last element of each part at least. `low_end` is the least n at
    which an accepted segment of a text journal ends: only lines above it are read.
    """
    if low_end is None or not buckets:
        return 0
    is_given = F.col("file_no") < REPLAY_FILE_NO
    text = heads.where(is_given & (F.col("frame") == kernels.TEXT_FRAME))
    last = F.max(F.struct("part", "head", "namespace", F.col("n").alias("head_n"), "lines")).alias("last")
    ends = text.groupBy("file_no").agg(last).select("file_no", "last.*").where("head_n IS NOT NULL")
    ends = ends.withColumn("next_n", F.col("head_n") + F.col("lines"))
    later = (
        tables.read(LINES)
        .where(in_buckets(buckets) & (F.col("n") > low_end))
        .select("namespace", F.col("n").alias("next_n"), "line_number")
    )
    place = ["namespace", "next_n"]
    followers = jobs.checkpoint(later.join(ends.select(*place), place, "left_semi"), "ends of journals")
    if not jobs.has_rows(followers):
        return 0
    last = F.max(F.struct("part", "idx", "hash")).alias("last")
    last_lines = (
        text_lines.groupBy("file_no").agg(last).select("file_no", F.col("last.hash").alias("line_number"))
    )
    shorter = ends.join(last_lines, "file_no").join(followers, [*place, "line_number"], "left_semi")
    return int(jobs.row(shorter.agg(F.count(F.lit(1)).alias("rows")))["rows"])
