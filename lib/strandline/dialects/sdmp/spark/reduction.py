"""Reduction of node journals: from all lines, or from the stored state and new lines, with equal rows.

Source: node journal rules, section "State of a journal".
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import EQUIVOCATIONS, STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.info import INFO
from strandline.dialects.sdmp.reduce import REDUCER_VERSION
from strandline.dialects.sdmp.spark import journal_rows
from strandline.dialects.sdmp.spark.few_lines import from_few
from strandline.dialects.sdmp.spark.full_reduction import ReducedRows, from_all
from strandline.dialects.sdmp.spark.incremental_reduction import from_state
from strandline.dialects.sdmp.spark.tables import JOURNALS, LINES
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.buckets import in_buckets
from strandline.frames.states import as_namespace_state
from strandline.frames.union import union


def reduce(changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the journals in `changes` (rows of the change feed), or all journals if it is None, with equal rows."""
    # Rows that a killed run wrote may be older than their states, also of journals without new lines.
    is_partial = changes is not None and tables.begin_repair(INFO.reduced_tables)
    few = from_few(tables, jobs, scope, of_changes=changes is not None and not is_partial)
    if few is not None:
        return few
    if changes is None:
        return _of_all(tables, jobs, scope)
    return _of_changes(changes, tables, jobs, scope, with_stale=is_partial)


def _of_all(tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce every journal from all of its lines, as of one version of their table."""
    lines = tables.read_version(LINES, scope.version).select(*kernels.LINE_COLUMNS)
    return _reduction([from_all(lines, jobs)], jobs, scope)


def _of_changes(
    changes: DataFrame, tables: Tables, jobs: Jobs, scope: ReduceScope, *, with_stale: bool
) -> Reduction:
    """Reduce the journals in `changes` (rows of the change feed), and `with_stale` those whose row is not of its state.

    A journal is reduced from its stored state and the changes, except in two cases that need all of its lines: a run
    was killed between two tables, so that row and state hash disagree; or it is a forked journal of profile 0.12, whose
    leaves do not contain their hashes.
    """
    new_lines = jobs.persist(changes.select(*kernels.LINE_COLUMNS), "changes")
    touched = jobs.checkpoint(
        journal_rows.counted(new_lines).withColumnRenamed("line_count", "new_lines"), "touched journals"
    )
    buckets = tuple(sorted(jobs.row(touched.agg(F.collect_set("bucket").alias("buckets")))["buckets"]))
    old = tables.read(JOURNALS)
    states = tables.read(STATES).where(F.col("dialect") == DIALECT)
    if not with_stale:
        old, states = (
            rows.where(in_buckets(buckets)).join(touched, ["namespace", "bucket"], "left_semi")
            for rows in (old, states)
        )
    stored = states.select("namespace", F.col("state_hash").alias("stored_hash"))
    compared = old.withColumn("row_hash", journal_rows.state_hash()).join(stored, "namespace", "full_outer")
    is_whole = F.coalesce(F.col("row_hash") == F.col("stored_hash"), F.lit(False))
    is_usable = is_whole & ((F.size("leaves") == 1) | (F.col("profile") == "0.9"))
    if with_stale:
        new = touched.select("namespace", "new_lines")
        compared = compared.join(new, "namespace", "full_outer").where(
            F.col("new_lines").isNotNull() | ~is_whole
        )
    judged = jobs.checkpoint(compared.withColumn("usable", is_usable).drop("new_lines"), "stored journals")
    unusable = judged.where("NOT usable").select("namespace")
    parts: list[ReducedRows] = []
    continued = new_lines
    if jobs.row(unusable.agg(F.count(F.lit(1)).alias("rows")))["rows"]:
        every = tables.read_version(LINES, scope.version).select(*kernels.LINE_COLUMNS)
        if not with_stale:
            every = every.where(in_buckets(buckets))
        parts.append(from_all(every.join(unusable, "namespace", "left_semi"), jobs))
        continued = new_lines.join(unusable, "namespace", "left_anti")
        touched = touched.join(unusable, "namespace", "left_anti")
    parts.append(from_state(continued, touched, judged.where("usable"), buckets, tables, jobs, scope))
    return _reduction(parts, jobs, scope)


def _reduction(parts: list[ReducedRows], jobs: Jobs, scope: ReduceScope) -> Reduction:
    shaped = [journal_rows.as_node_journal(part.journals) for part in parts]
    journals = jobs.checkpoint(union(shaped), "journals")
    forks = [journal_rows.as_equivocation(part.forks) for part in parts if part.forks is not None]
    tables = {JOURNALS: journals}
    if forks:
        tables[EQUIVOCATIONS] = union(forks)
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
