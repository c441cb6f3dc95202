"""Journals as files: pages of a text journal, or frames, a branch after the other."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import journal_rows
from strandline.dialects.sdmp.spark.chains import frame_text
from strandline.frames.lift import map_batches

LINES_A_PAGE: Final = 10_000
"""Lines of a frame, or of a piece of a text: far below the limits of a frame."""

PAGES_A_PARTITION: Final = 16
ORDER: Final = ("namespace", "branch", "page")


def unforked(lines: DataFrame) -> DataFrame:
    """Shape the lines of journals without a fork.

    Reads:  LINE_COLUMNS.  Gives:  namespace, n, line_number, line, branch (0).  Rows: one per row.
    """
    return lines.select(
        "namespace",
        "n",
        "line_number",
        journal_rows.exact_line().alias("line"),
        F.lit(0).cast("bigint").alias("branch"),
    )


def forked(lines: DataFrame) -> DataFrame:
    """Shape the lines of journals with forks, each with its branch.

    Reads:  LINE_COLUMNS of whole journals.  Gives: namespace, n, line_number, line, branch.  Rows: one per row.
    """
    shaped = lines.select(
        "namespace", "n", "record_id", "line_number", "line_hash", journal_rows.exact_line().alias("line")
    )
    in_order = shaped.repartition("namespace").sortWithinPartitions("namespace", "n", "record_id")
    return map_batches(in_order, kernels.branches, kernels.BRANCH_SCHEMA)


def pages(branched: DataFrame) -> DataFrame:
    """Gather lines that follow one another.

    Reads:  namespace, n, line_number, line, branch.
    Gives:  namespace, branch, page, entries (the lines, in order), number (of the first of them), records.
    Rows:   one per LINES_A_PAGE positions of a branch.
    """
    page = F.floor((F.col("n") - 1) / LINES_A_PAGE).alias("page")
    in_order = F.array_sort(F.collect_list(F.struct("n", "line")))
    return branched.groupBy("namespace", "branch", page).agg(
        F.transform(in_order, lambda each: each["line"]).alias("entries"),
        F.min_by("line_number", "n").alias("number"),
        F.count(F.lit(1)).alias("records"),
    )


def texts(found: DataFrame) -> DataFrame:
    """Write pages of one journal without a fork as a text journal: LF stands before every line but the first.

    Reads:  what `pages` gives.  Gives: ORDER, content BINARY, records.  Rows: one per row.
    """
    text = F.concat(F.when(F.col("page") > 0, "\n").otherwise(""), F.array_join("entries", "\n"))
    return found.select(*ORDER, text.cast("binary").alias("content"), "records")


def frames(found: DataFrame, lines: DataFrame) -> DataFrame:
    """Write pages as frames, a line each.

    Reads:  found: what `pages` gives; lines: LINE_COLUMNS of these journals.
    Gives:  ORDER, content BINARY, records.
    Rows:   one per row. `since` is the number of the line before the first; line 1, which has none, and what is before
            it are called by the fingerprint.
    """
    before = lines.select(
        "namespace", F.col("line_hash").alias("number"), F.col("line_number").alias("number_before")
    )
    node = F.substring_index("namespace", ":", -1)
    since = F.coalesce("number_before", node)
    frame = F.concat(frame_text(node, since, F.col("entries")), F.lit("\n"))
    return found.join(before, ["namespace", "number"], "left").select(
        *ORDER, frame.cast("binary").alias("content"), "records"
    )


def in_order(written: DataFrame, lines: int) -> DataFrame:
    """Put pages in the order of the file, so many to a partition that one is little to hold.

    Reads:  ORDER, content, records; `lines` is about how many lines there are.
    Gives:  content, records.
    Rows:   one per row.
    """
    partitions = 1 + lines // (LINES_A_PAGE * PAGES_A_PARTITION)
    return (
        written.repartitionByRange(partitions, *ORDER)
        .sortWithinPartitions(*ORDER)
        .select("content", "records")
    )
