"""Node journals as a file that other lakes and nodes read: one text journal, or frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import journal_rows
from strandline.dialects.sdmp.spark.line_columns import node
from strandline.dialects.sdmp.spark.tables import LINES
from strandline.dialects.sdmp.spark.to_files import frame_text
from strandline.frames.lift import map_batches
from strandline.frames.listed import is_listed
from strandline.frames.namespaces import only_namespaces

LINES_PER_PAGE: Final = 10_000
"""The maximum number of lines of a frame, or of a piece of a text: far below the limits of a frame."""

_PAGES_PER_PARTITION: Final = 16
ORDER: Final = ("namespace", "branch", "page")


def export(lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
    """Return the accepted lines of journals: one journal without a fork as its text, others as frames.

    Every line is written once: a branch starts after the line where it forks.
    """
    lines = only_namespaces(lake.read(LINES).select(*kernels.LINE_COLUMNS), namespaces, lake.buckets)
    found = jobs.row(
        journal_rows.counted(lines).agg(
            F.coalesce(F.sum("line_count"), F.lit(0)).alias("lines"),
            F.collect_list(F.when(F.col("line_count") > F.col("top_n"), F.col("namespace"))).alias("forked"),
        )
    )
    is_forked = is_listed("namespace", found["forked"])
    branched = unforked(lines.where(~is_forked))
    if found["forked"]:
        branched = branched.unionByName(_forked(lines.where(is_forked)))
    is_text = len(namespaces) == 1 and not found["forked"]
    paged = pages(branched)
    written = texts(paged) if is_text else _frames(paged, lines)
    return ExportFile(
        form="text journal" if is_text else "frames",
        head=b"",
        rows=in_order(written, found["lines"]).select("content", "records"),
        ids=lines.select("namespace", "record_id"),
        heads=journal_rows.leaves(lines, lines).select("namespace", "record_id"),
        counts={"forked": len(found["forked"])},
    )


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


def _forked(lines: DataFrame) -> DataFrame:
    """Shape the lines of journals with forks, each with its branch.

    Reads:  LINE_COLUMNS of whole journals.  Gives: namespace, n, line_number, line, branch.  Rows: one per row.
    """
    shaped = lines.select(
        "namespace", "n", "record_id", "line_number", "line_hash", journal_rows.exact_line().alias("line")
    )
    in_order = shaped.repartition("namespace").sortWithinPartitions("namespace", "n", "record_id")
    return map_batches(in_order, kernels.branches, kernels.BRANCH_SCHEMA)


def pages(branched: DataFrame) -> DataFrame:
    """Combine consecutive lines of a branch into pages.

    Reads:  namespace, n, line_number, line, branch.
    Gives:  namespace, branch, page, entries (the lines, in order), number (of the first line), records.
    Rows:   one per LINES_PER_PAGE positions of a branch.
    """
    page = F.floor((F.col("n") - 1) / LINES_PER_PAGE).alias("page")
    in_order = F.array_sort(F.collect_list(F.struct("n", "line")))
    return branched.groupBy("namespace", "branch", page).agg(
        F.transform(in_order, lambda each: each["line"]).alias("entries"),
        F.min_by("line_number", "n").alias("number"),
        F.count(F.lit(1)).alias("records"),
    )


def texts(paged: DataFrame) -> DataFrame:
    """Write the pages of journals without a fork as text journals: LF between lines.

    Reads:  `pages`.  Gives: ORDER, content BINARY, records.  Rows: one per row.
    """
    text = F.concat(F.when(F.col("page") > 0, "\n").otherwise(""), F.array_join("entries", "\n"))
    return paged.select(*ORDER, text.cast("binary").alias("content"), "records")


def _frames(paged: DataFrame, lines: DataFrame) -> DataFrame:
    """Write pages as frames, one per line of the file.

    Reads:  `pages`; lines: LINE_COLUMNS of these journals.
    Gives:  ORDER, content BINARY, records.
    Rows:   one per row. `since` is the number of the line before the page; for a page that starts with line 1 or 2 it
            is the fingerprint.
    """
    before = lines.select(
        "namespace", F.col("line_hash").alias("number"), F.col("line_number").alias("number_before")
    )
    since = F.coalesce("number_before", node())
    frame = F.concat(frame_text(node(), since, F.col("entries")), F.lit("\n"))
    return paged.join(before, ["namespace", "number"], "left").select(
        *ORDER, frame.cast("binary").alias("content"), "records"
    )


def in_order(written: DataFrame, lines: int) -> DataFrame:
    """Put pages in the order of the file, in partitions small enough for the memory of a task.

    Reads:  ORDER, content, records; `lines` is the approximate number of lines.
    Gives:  the same columns.
    Rows:   one per row.
    """
    partitions = 1 + lines // (LINES_PER_PAGE * _PAGES_PER_PARTITION)
    return written.repartitionByRange(partitions, *ORDER).sortWithinPartitions(*ORDER)
