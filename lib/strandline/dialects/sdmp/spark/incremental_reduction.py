"""Reduction of node journals from their stored state and new lines."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import journal_rows
from strandline.dialects.sdmp.spark.full_reduction import ReducedRows, with_forks
from strandline.dialects.sdmp.spark.tables import LINES
from strandline.frames.buckets import in_buckets
from strandline.frames.listed import MOST_PUSHED, is_listed


def from_state(
    new_lines: DataFrame, touched: DataFrame, old: DataFrame, buckets: tuple[int, ...], tables: Tables, jobs: Jobs,
    scope: ReduceScope,
) -> ReducedRows:  # fmt: skip
    """Reduce journals from their stored rows and new lines.

    A journal whose greatest n equals its number of lines has no fork and one leaf, the line at that n. Only other
    journals need joins of lines with lines.

    Reads:  new_lines: LINE_COLUMNS; touched: namespace, bucket, new_lines (BIGINT), top_n; old: stored rows of
            `node_journal`.
    Rows:   one journal per row of `touched`, one fork per forked line with a new successor.
    """
    before = old.select(
        "namespace",
        F.col("line_count").alias("old_lines"),
        F.col("pair_count").alias("old_pairs"),
        F.col("fork_count").alias("old_forks"),
        F.when(F.col("fork_count") > 0, F.col("common_n")).alias("old_fork_n"),
        F.col("tip_n").alias("old_top_n"),
    )
    zero = F.lit(0).cast("bigint")
    line_count = F.col("new_lines") + F.coalesce("old_lines", zero)
    # The greatest of a number and null is the number.
    is_forked = line_count > F.greatest("top_n", "old_top_n")
    grown = jobs.checkpoint(
        touched.join(before, "namespace", "left").withColumns(
            {"line_count": line_count, "is_forked": is_forked}
        ),
        "stored counts",
    )
    named = _named(grown, jobs)
    ends = journal_rows.as_tip(journal_rows.at_top(new_lines, grown.where("NOT is_forked")))
    forks = fork_counts = None
    if named.has_forked:
        forked = grown.where("is_forked").select("namespace")
        its_lines = new_lines.join(forked, "namespace", "left_semi")
        candidates = _candidates(its_lines, old.join(forked, "namespace", "left_semi"), jobs)
        ends = ends.select(*candidates.columns).unionByName(journal_rows.leaves(candidates, its_lines))
        forks = _new_forks(its_lines, candidates, buckets, tables, jobs, scope)
        fork_counts = None if forks is None else _new_fork_counts(forks)
    ends = jobs.checkpoint(ends, "leaves")
    journals = (
        grown.join(journal_rows.tips(ends), "namespace")
        .join(journal_rows.leaf_arrays(ends), "namespace")
        .join(_new_pairs(new_lines, named, buckets, tables, jobs, scope), "namespace", "left")
    )
    journals = with_forks(journals, fork_counts)
    return ReducedRows(
        journals.withColumns(
            {
                "pair_count": F.coalesce("pairs", zero) + F.coalesce("old_pairs", zero),
                "fork_count": F.col("fork_count") + F.coalesce("old_forks", zero),
                "fork_n": F.least("fork_n", "old_fork_n"),
            }
        ),
        forks,
    )


def _candidates(new_lines: DataFrame, old: DataFrame, jobs: Jobs) -> DataFrame:
    """Return what may be a leaf of a forked journal: its stored leaves and its new lines.

    Gives:  namespace, n, record_id, profile, line_hash, and the columns of a tip.
    """
    known_leaves = old.select("*", F.posexplode("leaves").alias("place", "leaf"))
    is_tip = F.col("place") == 0
    null = F.lit(None).cast("string")
    stored = known_leaves.select(
        "namespace",
        F.col("leaf.n").alias("n"),
        F.col("leaf.record_id").alias("record_id"),
        "profile",
        F.when(is_tip, F.col("tip_hash")).otherwise(F.lower(F.hex("leaf.record_id"))).alias("line_hash"),
        *(
            F.when(is_tip, F.col(name)).otherwise(null).alias(name)
            for name in ("tip_number", "tip_line", "tip_hash")
        ),
    )
    return jobs.checkpoint(
        stored.unionByName(journal_rows.as_tip(new_lines).select(*stored.columns)), "candidates for leaves"
    )


@dataclass(frozen=True, slots=True)
class _Named:
    """Of journals with new lines: whether one is forked or stored; the namespaces of stored ones, None if many."""

    has_forked: bool
    has_stored: bool
    stored: tuple[str, ...] | None


def _named(grown: DataFrame, jobs: Jobs) -> _Named:
    """Ask for all in one query if there are few journals."""
    rows = jobs.few(grown.select("namespace", "is_forked", "old_lines"), MOST_PUSHED)
    if rows is None:
        is_stored = grown.where(F.col("old_lines").isNotNull())
        return _Named(jobs.has_rows(grown.where("is_forked")), jobs.has_rows(is_stored), None)
    stored = tuple(row["namespace"] for row in rows if row["old_lines"] is not None)
    return _Named(any(row["is_forked"] for row in rows), bool(stored), stored)


def _new_pairs(
    new_lines: DataFrame,
    named: _Named,
    buckets: tuple[int, ...],
    tables: Tables,
    jobs: Jobs,
    scope: ReduceScope,
) -> DataFrame:
    """Count, per journal, the pairs of new lines that no older line has.

    Only the pair columns of older lines are read.
    """
    pair = ["namespace", "author_fp", "resource_id"]
    delivered = jobs.persist(new_lines.where("n > 1").select(*pair).distinct(), "new pairs")
    counts = delivered.groupBy("namespace").agg(F.count(F.lit(1)).alias("delivered"))
    if scope.previous_version is None or not named.has_stored:
        return counts.withColumnRenamed("delivered", "pairs")
    older = tables.read_version(LINES, scope.previous_version).where(in_buckets(buckets)).select(*pair)
    if named.stored is not None:
        older = older.where(is_listed("namespace", named.stored))
    known = (
        delivered.join(older, pair, "left_semi").groupBy("namespace").agg(F.count(F.lit(1)).alias("known"))
    )
    added = F.col("delivered") - F.coalesce("known", F.lit(0))
    return counts.join(known, "namespace", "left").select("namespace", added.alias("pairs"))


def _new_forks(
    new_lines: DataFrame,
    candidates: DataFrame,
    buckets: tuple[int, ...],
    tables: Tables,
    jobs: Jobs,
    scope: ReduceScope,
) -> DataFrame | None:
    """Return the forks with a new line: one with a new sibling, or one that does not follow a leaf.

    Gives:  as `journal_rows.forks`, and carriers (the number of new members).
    """
    parents = candidates.select("namespace", F.col("line_hash").alias("line_number"))
    numbers = journal_rows.carried_numbers(new_lines)
    inside = numbers.join(parents, ["namespace", "line_number"], "left_anti")
    forked = jobs.checkpoint(inside.unionByName(numbers.where("carriers > 1")).distinct(), "forked lines")
    span = jobs.row(forked.agg(F.min("n").alias("low"), F.max("n").alias("high")))
    if span["low"] is None:
        return None
    lines = (
        tables.read_version(LINES, scope.version)
        .where(in_buckets(buckets) & F.col("n").between(span["low"] - 1, span["high"]))
        .select(*kernels.LINE_COLUMNS)
    )
    carried = forked.select("namespace", F.col("line_number").alias("position"), "carriers")
    found = journal_rows.forks(forked, lines).join(carried, ["namespace", "position"])
    return jobs.checkpoint(found, "forks")


def _new_fork_counts(forks: DataFrame) -> DataFrame:
    """Count the forks that the old lines did not make; fork_n is the least n of all forks with a new line.

    Rows of `equivocation` do not tell: a killed run writes them without those of its journals, and a run of another
    dialect then writes the table last.
    """
    is_new = F.col("member_count") - F.col("carriers") < 2
    return forks.groupBy("namespace").agg(F.count_if(is_new).alias("fork_count"), F.min("n").alias("fork_n"))
