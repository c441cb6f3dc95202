"""The positions of the heads of a batch: after a stored leaf, after line 1, after each other, after any stored line."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp.spark import heads
from strandline.dialects.sdmp.spark.chunks import Chunks
from strandline.dialects.sdmp.spark.tables import JOURNALS, LINES
from strandline.frames.buckets import in_buckets


def resolved(
    every: DataFrame, lines: DataFrame, chunks: Chunks | None, tables: Tables, jobs: Jobs, *, has_journals: bool
) -> DataFrame:  # fmt: skip
    """Return the heads with attached_n, has_stored, n (null: no known predecessor) and overlaps, as a checkpoint.

    Cheaper ways to find a predecessor come first; later ones are used only for the remaining heads. `lines` are the
    `heads.candidates` that were judged one by one, and the last line of each chunk. Without `has_journals` the reduced
    journals do not count: they may end with lines that are gone.
    """
    place = ["bucket", "namespace"]
    reduced = tables.read(JOURNALS) if has_journals else tables.read(JOURNALS).limit(0)
    journals = reduced.join(every.select(*place).distinct(), place, "left_semi")
    attached = jobs.checkpoint(
        heads.attached_to_leaves(heads.attached_to_first_lines(every), journals), "heads"
    )
    is_open = F.col("attached_n").isNull()
    summary = jobs.row(
        attached.agg(F.count(F.when(is_open, 1)).alias("open"), F.collect_set("bucket").alias("buckets"))
    )
    if not summary["open"]:
        return jobs.checkpoint(
            heads.with_overlaps(attached.withColumn("n", F.col("attached_n") + 1)), "positions"
        )
    parented = jobs.checkpoint(
        attached.join(heads.parents_in_run(attached, lines), "head_id", "left"), "parents"
    )
    is_root = is_open & F.col("parent_id").isNull()
    counted = _counted(parented, is_open, is_root, jobs)
    if counted["roots"] and chunks is not None:
        parented = jobs.checkpoint(_inside_chunks(parented, is_root, chunks), "parents")
        counted = _counted(parented, is_open, is_root, jobs)
    if counted["roots"]:
        stored = (
            tables.read(LINES)
            .where(in_buckets(sorted(summary["buckets"])))
            .select("namespace", "line_hash", "n")
        )
        lines = heads.attached_to_lines(
            parented.where(is_root).select("head_id", "namespace", "number"), stored
        )
        parented = jobs.checkpoint(
            parented.join(lines, "head_id", "left")
            .withColumn("attached_n", F.coalesce("attached_n", "line_n"))
            .withColumn("has_stored", F.col("has_stored") | F.col("line_n").isNotNull())
            .drop("line_n"),
            "stored lines",
        )
    if counted["children"]:
        placed = parented.join(heads.positions(parented), "head_id", "left")
    else:
        placed = parented.withColumn("n", F.col("attached_n") + 1)
    return jobs.checkpoint(heads.with_overlaps(placed.drop("parent_id", "parent_offset")), "positions")


def _counted(parented: DataFrame, is_open: Column, is_root: Column, jobs: Jobs) -> Row:
    return jobs.row(
        parented.agg(
            F.count(F.when(is_root, 1)).alias("roots"),
            F.count(F.when(is_open & ~is_root, 1)).alias("children"),
        )
    )


def _inside_chunks(parented: DataFrame, is_root: Column, chunks: Chunks) -> DataFrame:
    """Find heads that follow a line inside a chunk: their nodes' chunks are read line by line."""
    roots = parented.where(is_root)
    of_nodes = chunks.judged.join(roots.select("node").distinct(), "node", "left_semi")
    found = heads.parents_in_run(roots, heads.candidates(chunks.lines(of_nodes)))
    inside = found.withColumnsRenamed({"parent_id": "inside_id", "parent_offset": "inside_offset"})
    return (
        parented.join(inside, "head_id", "left")
        .withColumn("parent_id", F.coalesce("parent_id", "inside_id"))
        .withColumn("parent_offset", F.coalesce("parent_offset", "inside_offset"))
        .drop("inside_id", "inside_offset")
    )
