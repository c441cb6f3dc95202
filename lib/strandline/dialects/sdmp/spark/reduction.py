"""Reduction of node journals: of all lines, or of the news on top of the stored state, with equal rows.

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
"""Up to so many touched journals are looked up by name: Parquet then reads the pages that hold them, no more."""


@dataclass(frozen=True, slots=True)
class _Folded:
    """Journals with the columns that `as_node_journal` reads, and forks with those that `as_equivocation` reads."""

    journals: DataFrame
    forks: DataFrame | None


def reduce(changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce what `changes` (rows of the change feed) touch, or everything without them: both give the same rows."""
    return _of_all(tables, jobs, scope) if changes is None else _of_changes(changes, tables, jobs, scope)


def _of_all(tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce every journal from all of its lines, as of one version of their table."""
    lines = tables.read_version(LINES, scope.version).select(*journal_rows.LINE_COLUMNS)
    return _reduction([_folded(lines, jobs)], jobs, scope)


def _of_changes(changes: DataFrame, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the journals that `changes` (rows of the change feed) touch.

    From their stored state and the changes where that is exact; from all of their lines where a run was killed between
    two tables, so that row and state hash disagree, and for forked journals of profile 0.12, whose leaves do not
    tell hashes.
    """
    fresh = jobs.persist(changes.select(*journal_rows.LINE_COLUMNS), "changes")
    touched = jobs.checkpoint(
        journal_rows.counted(fresh).withColumnRenamed("line_count", "new_lines"), "touched journals"
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
    compared = old.withColumn("own_hash", journal_rows.state_hash()).join(stored, "namespace", "full_outer")
    is_sound = F.coalesce(F.col("own_hash") == F.col("stored_hash"), F.lit(False))
    tells_leaves = (F.size("leaves") == 1) | (F.col("profile") == "0.9")
    judged = jobs.checkpoint(compared.withColumn("sound", is_sound & tells_leaves), "stored journals")
    unsound = judged.where("NOT sound").select("namespace")
    parts: list[_Folded] = []
    good = fresh
    if jobs.row(unsound.agg(F.count(F.lit(1)).alias("rows")))["rows"]:
        every = (
            tables.read_version(LINES, scope.version)
            .where(F.col("bucket").isin(*buckets))
            .select(*journal_rows.LINE_COLUMNS)
        )
        parts.append(_folded(every.join(unsound, "namespace", "left_semi"), jobs))
        good = fresh.join(unsound, "namespace", "left_anti")
        touched = touched.join(unsound, "namespace", "left_anti")
    parts.append(_continued(good, touched, judged.where("sound"), buckets, tables, jobs, scope))
    return _reduction(parts, jobs, scope)


def _folded(lines: DataFrame, jobs: Jobs) -> _Folded:
    counts = jobs.checkpoint(journal_rows.counted(lines), "lines of journals")
    is_forked = F.col("line_count") > F.col("top_n")
    ends = lines.join(
        counts.where(~is_forked).select("namespace", F.col("top_n").alias("n")),
        ["namespace", "n"],
        "left_semi",
    )
    forks = fork_counts = None
    if jobs.row(counts.agg(F.count(F.when(is_forked, 1)).alias("rows")))["rows"]:
        torn = lines.join(counts.where(is_forked).select("namespace"), "namespace", "left_semi")
        ends = ends.unionByName(journal_rows.leaves(torn, torn))
        forks = jobs.checkpoint(journal_rows.forks(journal_rows.siblings(torn), torn), "forks")
        fork_counts = _fork_counts(forks)
    ends = jobs.checkpoint(journal_rows.as_tip(ends).drop("author_fp", "resource_id"), "leaves")
    journals = (
        counts.join(journal_rows.tips(ends), "namespace")
        .join(journal_rows.folded_leaves(ends), "namespace")
        .join(journal_rows.pair_counts(lines), "namespace", "left")
        .withColumn("pair_count", F.coalesce("pairs", F.lit(0)))
    )
    return _Folded(_with_forks(journals, fork_counts), forks)


def _with_forks(journals: DataFrame, fork_counts: DataFrame | None) -> DataFrame:
    if fork_counts is None:
        null = F.lit(None).cast("bigint")
        return journals.withColumns({"fork_count": F.lit(0).cast("bigint"), "fork_n": null})
    joined = journals.join(fork_counts, "namespace", "left")
    return joined.withColumn("fork_count", F.coalesce("fork_count", F.lit(0).cast("bigint")))


def _fork_counts(forks: DataFrame) -> DataFrame:
    return forks.groupBy("namespace").agg(F.count(F.lit(1)).alias("fork_count"), F.min("n").alias("fork_n"))


def _continued(
    news: DataFrame, touched: DataFrame, old: DataFrame, buckets: tuple[int, ...], tables: Tables, jobs: Jobs,
    scope: ReduceScope,
) -> _Folded:  # fmt: skip
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
        candidates.unionByName(journal_rows.as_tip(news).select(*columns)), "candidates for leaves"
    )
    ends = jobs.checkpoint(journal_rows.leaves(candidates, news), "leaves")
    forks = _forks_continued(news, candidates, buckets, tables, jobs, scope)
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
        .join(journal_rows.folded_leaves(ends), "namespace")
        .join(_new_pairs(news, old, buckets, tables, jobs, scope), "namespace", "left")
    )
    journals = _with_forks(journals, fork_counts)
    return _Folded(
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
    news: DataFrame,
    old: DataFrame,
    buckets: tuple[int, ...],
    tables: Tables,
    jobs: Jobs,
    scope: ReduceScope,
) -> DataFrame:
    """Count, per journal, the pairs of the news that its older lines lack: of those, the two pair columns are read."""
    pair = ["namespace", "author_fp", "resource_id"]
    fresh = jobs.persist(news.where("n > 1").select(*pair).distinct(), "new pairs")
    counts = fresh.groupBy("namespace").agg(F.count(F.lit(1)).alias("fresh"))
    if scope.previous_version is None or not jobs.has_rows(old):
        return counts.withColumnRenamed("fresh", "pairs")
    older = (
        tables.read_version(LINES, scope.previous_version).where(F.col("bucket").isin(*buckets)).select(*pair)
    )
    names = jobs.row(
        old.select("namespace").limit(NAMED_JOURNALS + 1).agg(F.collect_set("namespace").alias("names"))
    )["names"]
    if len(names) <= NAMED_JOURNALS:
        older = older.where(F.col("namespace").isin(*names))
    known = older.join(fresh, pair).distinct().groupBy("namespace").agg(F.count(F.lit(1)).alias("known"))
    left = F.col("fresh") - F.coalesce("known", F.lit(0))
    return counts.join(known, "namespace", "left").select("namespace", left.alias("pairs"))


def _forks_continued(
    news: DataFrame,
    candidates: DataFrame,
    buckets: tuple[int, ...],
    tables: Tables,
    jobs: Jobs,
    scope: ReduceScope,
) -> DataFrame | None:
    """Return the forks that news take part in: lines with a sibling among the news, or that follow no leaf."""
    parents = candidates.select("namespace", F.col("line_hash").alias("line_number"))
    numbers = news.where("line_number IS NOT NULL").select("namespace", "line_number", "n")
    late = numbers.join(parents, ["namespace", "line_number"], "left_anti")
    twins = numbers.join(journal_rows.siblings(news), ["namespace", "line_number"], "left_semi")
    forked = jobs.checkpoint(late.unionByName(twins).distinct(), "forked lines")
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
    """Count the forks that no earlier reduction knew; fork_n is the least of all that the news took part in."""
    known = tables.read("equivocation").where((F.col("kind") == "SDMP_FORK") & F.col("bucket").isin(*buckets))
    known = known.select("namespace", "position", F.lit(True).alias("is_known"))
    return (
        forks.join(known, ["namespace", "position"], "left")
        .groupBy("namespace")
        .agg(F.count(F.when(F.col("is_known").isNull(), 1)).alias("fork_count"), F.min("n").alias("fork_n"))
    )


def _reduction(parts: list[_Folded], jobs: Jobs, scope: ReduceScope) -> Reduction:
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
