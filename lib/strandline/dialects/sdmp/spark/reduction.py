"""Reduction of node journals: from all lines, or from the stored state and new lines, with equal rows.

Source: node journal rules, section "State of a journal".
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.sdmp.reduce import REDUCER_VERSION
from strandline.dialects.sdmp.spark import journal_rows
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.states import as_namespace_state

LINES = "node_journal_line"
NAMED_JOURNALS = 200
"""Up to this many journals are selected by name: Parquet then reads only the pages that contain them."""


@dataclass(frozen=True, slots=True)
class _ReducedRows:
    """Journals with the columns that `as_node_journal` reads, and forks with those that `as_equivocation` reads."""

    journals: DataFrame
    forks: DataFrame | None


def reduce(changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the journals in `changes` (rows of the change feed), or all journals if it is None, with equal rows."""
    return _of_all(tables, jobs, scope) if changes is None else _of_changes(changes, tables, jobs, scope)


def _of_all(tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce every journal from all of its lines, as of one version of their table."""
    lines = tables.read_version(LINES, scope.version).select(*journal_rows.LINE_COLUMNS)
    return _reduction([_from_all(lines, jobs)], jobs, scope)


def _of_changes(changes: DataFrame, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the journals in `changes` (rows of the change feed).

    A journal is reduced from its stored state and the changes, except in two cases that need all of its lines: a run
    was killed between two tables, so that row and state hash disagree; or it is a forked journal of profile 0.12,
    whose leaves do not contain their hashes.
    """
    new_lines = jobs.persist(changes.select(*journal_rows.LINE_COLUMNS), "changes")
    touched = jobs.checkpoint(
        journal_rows.counted(new_lines).withColumnRenamed("line_count", "new_lines"), "touched journals"
    )
    buckets = tuple(sorted(jobs.row(touched.agg(F.collect_set("bucket").alias("buckets")))["buckets"]))
    old = (
        tables.read("node_journal")
        .where(F.col("bucket").isin(*buckets))
        .join(touched, ["namespace", "bucket"], "left_semi")
    )
    stored = (
        tables.read("namespace_state").where((F.col("dialect") == DIALECT) & F.col("bucket").isin(*buckets))
        .join(touched, ["namespace", "bucket"], "left_semi").select("namespace",
        F.col("state_hash").alias("stored_hash"))
    )  # fmt: skip
    compared = old.withColumn("row_hash", journal_rows.state_hash()).join(stored, "namespace", "full_outer")
    is_whole = F.coalesce(F.col("row_hash") == F.col("stored_hash"), F.lit(False))
    has_leaf_hashes = (F.size("leaves") == 1) | (F.col("profile") == "0.9")
    judged = jobs.checkpoint(compared.withColumn("usable", is_whole & has_leaf_hashes), "stored journals")
    unusable = judged.where("NOT usable").select("namespace")
    parts: list[_ReducedRows] = []
    continued = new_lines
    if jobs.row(unusable.agg(F.count(F.lit(1)).alias("rows")))["rows"]:
        every = (
            tables.read_version(LINES, scope.version)
            .where(F.col("bucket").isin(*buckets))
            .select(*journal_rows.LINE_COLUMNS)
        )
        parts.append(_from_all(every.join(unusable, "namespace", "left_semi"), jobs))
        continued = new_lines.join(unusable, "namespace", "left_anti")
        touched = touched.join(unusable, "namespace", "left_anti")
    parts.append(_from_state(continued, touched, judged.where("usable"), buckets, tables, jobs, scope))
    return _reduction(parts, jobs, scope)


def _from_all(lines: DataFrame, jobs: Jobs) -> _ReducedRows:
    counts = jobs.checkpoint(journal_rows.counted(lines), "lines of journals")
    is_forked = F.col("line_count") > F.col("top_n")
    ends = lines.join(
        counts.where(~is_forked).select("namespace", F.col("top_n").alias("n")),
        ["namespace", "n"],
        "left_semi",
    )
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
    return _ReducedRows(_with_forks(journals, fork_counts), forks)


def _with_forks(journals: DataFrame, fork_counts: DataFrame | None) -> DataFrame:
    if fork_counts is None:
        null = F.lit(None).cast("bigint")
        return journals.withColumns({"fork_count": F.lit(0).cast("bigint"), "fork_n": null})
    joined = journals.join(fork_counts, "namespace", "left")
    return joined.withColumn("fork_count", F.coalesce("fork_count", F.lit(0).cast("bigint")))


def _fork_counts(forks: DataFrame) -> DataFrame:
    return forks.groupBy("namespace").agg(F.count(F.lit(1)).alias("fork_count"), F.min("n").alias("fork_n"))


def _from_state(
    new_lines: DataFrame, touched: DataFrame, old: DataFrame, buckets: tuple[int, ...], tables: Tables, jobs: Jobs,
    scope: ReduceScope,
) -> _ReducedRows:  # fmt: skip
    known_leaves = old.select("*", F.posexplode("leaves").alias("place", "leaf"))
    is_tip = F.col("place") == 0
    null = F.lit(None).cast("string")
    candidates = known_leaves.select(
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
    columns = candidates.columns
    candidates = jobs.checkpoint(
        candidates.unionByName(journal_rows.as_tip(new_lines).select(*columns)), "candidates for leaves"
    )
    ends = jobs.checkpoint(journal_rows.leaves(candidates, new_lines), "leaves")
    forks = _new_forks(new_lines, candidates, buckets, tables, jobs, scope)
    fork_counts = None if forks is None else _new_fork_counts(forks, buckets, tables)
    before = old.select(
        "namespace",
        F.col("line_count").alias("old_lines"),
        F.col("pair_count").alias("old_pairs"),
        F.col("fork_count").alias("old_forks"),
        F.when(F.col("fork_count") > 0, F.col("common_n")).alias("old_fork_n"),
    )
    zero = F.lit(0).cast("bigint")
    journals = (
        touched.join(before, "namespace", "left")
        .join(journal_rows.tips(ends), "namespace")
        .join(journal_rows.leaf_arrays(ends), "namespace")
        .join(_new_pairs(new_lines, old, buckets, tables, jobs, scope), "namespace", "left")
    )
    journals = _with_forks(journals, fork_counts)
    return _ReducedRows(
        journals.withColumns(
            {
                "line_count": F.col("new_lines") + F.coalesce("old_lines", zero),
                "pair_count": F.coalesce("pairs", zero) + F.coalesce("old_pairs", zero),
                "fork_count": F.col("fork_count") + F.coalesce("old_forks", zero),
                "fork_n": F.least("fork_n", "old_fork_n"),
            }
        ),
        forks,
    )


def _new_pairs(
    new_lines: DataFrame,
    old: DataFrame,
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
    if scope.previous_version is None or not jobs.has_rows(old):
        return counts.withColumnRenamed("delivered", "pairs")
    older = (
        tables.read_version(LINES, scope.previous_version).where(F.col("bucket").isin(*buckets)).select(*pair)
    )
    names = jobs.row(
        old.select("namespace").limit(NAMED_JOURNALS + 1).agg(F.collect_set("namespace").alias("names"))
    )["names"]
    if len(names) <= NAMED_JOURNALS:
        older = older.where(F.col("namespace").isin(*names))
    known = older.join(delivered, pair).distinct().groupBy("namespace").agg(F.count(F.lit(1)).alias("known"))
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
    """Return the forks with a new line: one with a new sibling, or one that does not follow a leaf."""
    parents = candidates.select("namespace", F.col("line_hash").alias("line_number"))
    numbers = new_lines.where("line_number IS NOT NULL").select("namespace", "line_number", "n")
    inside = numbers.join(parents, ["namespace", "line_number"], "left_anti")
    siblings = numbers.join(journal_rows.siblings(new_lines), ["namespace", "line_number"], "left_semi")
    forked = jobs.checkpoint(inside.unionByName(siblings).distinct(), "forked lines")
    span = jobs.row(forked.agg(F.min("n").alias("low"), F.max("n").alias("high")))
    if span["low"] is None:
        return None
    lines = (
        tables.read_version(LINES, scope.version)
        .where(F.col("bucket").isin(*buckets) & F.col("n").between(span["low"] - 1, span["high"]))
        .select(*journal_rows.LINE_COLUMNS)
    )
    return jobs.checkpoint(journal_rows.forks(forked.drop("n"), lines), "forks")


def _new_fork_counts(forks: DataFrame, buckets: tuple[int, ...], tables: Tables) -> DataFrame:
    """Count the forks that are not stored yet; fork_n is the least n of all forks with a new line."""
    known = tables.read("equivocation").where((F.col("kind") == "SDMP_FORK") & F.col("bucket").isin(*buckets))
    known = known.select("namespace", "position", F.lit(True).alias("is_known"))
    return (
        forks.join(known, ["namespace", "position"], "left")
        .groupBy("namespace")
        .agg(F.count(F.when(F.col("is_known").isNull(), 1)).alias("fork_count"), F.min("n").alias("fork_n"))
    )


def _reduction(parts: list[_ReducedRows], jobs: Jobs, scope: ReduceScope) -> Reduction:
    shaped = [journal_rows.as_node_journal(part.journals) for part in parts]
    journals = jobs.checkpoint(functools.reduce(DataFrame.unionByName, shaped), "journals")
    forks = [journal_rows.as_equivocation(part.forks) for part in parts if part.forks is not None]
    tables = {"node_journal": journals}
    if forks:
        tables["equivocation"] = functools.reduce(DataFrame.unionByName, forks)
    states = journals.select(
        "namespace", "bucket", F.col("line_count").alias("record_count"), journal_rows.state_hash().alias("state_hash"),
        F.lit(REDUCER_VERSION).alias("reducer_version"),
    )  # fmt: skip
    shaped_states = as_namespace_state(
        states,
        dialect=DIALECT,
        reduced_version=scope.version,
        run_id=scope.run_id,
    )
    return Reduction(tables, shaped_states)
