"""Reduction of node journals from all of their lines."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs
from strandline.dialects.sdmp.spark import journal_rows


@dataclass(frozen=True, slots=True)
class ReducedRows:
    """Journals with the columns that `as_node_journal` reads, and forks with those that `as_equivocation` reads."""

    journals: DataFrame
    forks: DataFrame | None


def from_all(lines: DataFrame, jobs: Jobs) -> ReducedRows:
    """Reduce journals from all of their lines.

    Reads:  LINE_COLUMNS of whole journals.
    Rows:   one journal per namespace, one fork per forked line.
    """
    counts = jobs.checkpoint(journal_rows.counted(lines), "lines of journals")
    is_forked = F.col("line_count") > F.col("top_n")
    ends = journal_rows.at_top(lines, counts.where(~is_forked))
    forks = fork_counts = None
    if jobs.row(counts.agg(F.count(F.when(is_forked, 1)).alias("rows")))["rows"]:
        forked = lines.join(counts.where(is_forked).select("namespace"), "namespace", "left_semi")
        ends = ends.unionByName(journal_rows.leaves(forked, forked))
        forks = jobs.checkpoint(journal_rows.forks(journal_rows.siblings(forked), forked), "forks")
        fork_counts = _fork_counts(forks)
    ends = jobs.checkpoint(journal_rows.as_tip(ends).drop("author_fp", "resource_id"), "leaves")
    journals = (
        counts.join(journal_rows.tips(ends), "namespace")
        .join(journal_rows.leaf_arrays(ends), "namespace")
        .join(journal_rows.pair_counts(lines), "namespace", "left")
        .withColumn("pair_count", F.coalesce("pairs", F.lit(0)))
    )
    return ReducedRows(with_forks(journals, fork_counts), forks)


def with_forks(journals: DataFrame, fork_counts: DataFrame | None) -> DataFrame:
    """Add fork_count and fork_n (least n of a forked line, or null) to journals.

    `fork_counts` is None if no journal has a fork.
    """
    if fork_counts is None:
        null = F.lit(None).cast("bigint")
        return journals.withColumns({"fork_count": F.lit(0).cast("bigint"), "fork_n": null})
    joined = journals.join(fork_counts, "namespace", "left")
    return joined.withColumn("fork_count", F.coalesce("fork_count", F.lit(0).cast("bigint")))


def _fork_counts(forks: DataFrame) -> DataFrame:
    return forks.groupBy("namespace").agg(F.count(F.lit(1)).alias("fork_count"), F.min("n").alias("fork_n"))
