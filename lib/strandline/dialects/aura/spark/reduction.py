"""Reduction of authorities: every touched one from all of its operations, by stored columns or by the facts alone.

The contexts that depend on them are reduced after them: `spark.contexts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.aura import kernels
from strandline.dialects.aura.reduce import REDUCER
from strandline.dialects.aura.spark import snapshots
from strandline.dialects.aura.spark.contexts.retained import retained_facts
from strandline.dialects.aura.spark.continuation import continued
from strandline.dialects.aura.spark.histories import stored_bases
from strandline.dialects.aura.spark.tables import (
    AUTHORITIES,
    EQUIVOCATIONS,
    FACTS,
    HOME,
    LEAVES,
    OPERATIONS,
    SNAPSHOTS,
)
from strandline.dialects.aura.spark.touched import Touched, facts_of
from strandline.dialects.aura.types import DIALECT
from strandline.frames.lift import map_batches
from strandline.frames.states import as_namespace_state

_NESTED: Final = {OPERATIONS: "operations", LEAVES: "leaves", EQUIVOCATIONS: "forks"}


@dataclass(frozen=True, slots=True)
class Authorities:
    """What a run makes of authorities.

    `onward`: namespace, of those of which `rows` has only new operations; None without any.
    """

    rows: Reduction
    onward: DataFrame | None


def reduce(touched: Touched, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Authorities | None:
    """Reduce the authorities that the run touches, with the rows of a full reduction; None without any."""
    buckets = touched.buckets["authority"]
    if not buckets:
        return None
    named = touched.of("authority")
    onward = None if touched.changes is None else continued(named, touched.changes, tables, jobs)
    if onward is not None:
        others = named.join(onward.select("namespace"), "namespace", "left_anti")
        named = jobs.checkpoint(others, "authorities")
        if not jobs.has_rows(named):
            return _as_rows(onward, None, onward, None, tables, scope)
    facts = facts_of(None if touched.changes is None else named, buckets, "authority", tables, scope.version)
    counts = facts.groupBy("namespace").agg(F.count(F.lit(1)).alias("record_count"))
    judged = _judged_snapshots(facts, named, tables, jobs, scope) if touched.has_snapshots else None
    in_force = None if judged is None else snapshots.in_force(judged.rows)
    states = authority_states(facts, in_force, full=scope.full)
    whole = jobs.checkpoint(states.join(counts, "namespace"), "states")
    reduced = whole if onward is None else whole.unionByName(onward)
    return _as_rows(reduced, whole, onward, judged, tables, scope)


def _as_rows(
    reduced: DataFrame,
    whole: DataFrame | None,
    onward: DataFrame | None,
    judged: snapshots.Judged | None,
    tables: Tables,
    scope: ReduceScope,
) -> Authorities:
    """Return reduced authorities as rows of tables.

    Reads:  `kernels.REDUCED_SCHEMA`, record_count; of `whole` with all operations, of `onward` with the new ones alone.
    """
    state_columns = [field.name for field in kernels.STATE_FIELDS]
    rows = {AUTHORITIES: reduced.select(*HOME, *state_columns)}
    rows |= {table: _exploded(reduced, column) for table, column in _NESTED.items()}
    states = reduced.select(*HOME, "record_count", "state_hash", F.lit(REDUCER).alias("reducer_version"))
    shaped = as_namespace_state(states, dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id)
    deletes = {LEAVES: _strays(LEAVES, rows[LEAVES], reduced, tables)}
    if whole is not None:
        deletes[OPERATIONS] = _strays(OPERATIONS, rows[OPERATIONS], whole, tables)
    if judged is not None:
        rows[SNAPSHOTS], deletes[SNAPSHOTS] = judged.rows, judged.strays
        rows[EQUIVOCATIONS] = rows[EQUIVOCATIONS].unionByName(judged.forks)
    damaged = {FACTS: reduced.where("is_damaged").select("namespace")}
    names = None if onward is None else onward.select("namespace")
    return Authorities(Reduction(rows, shaped, deletes, damaged=damaged), names)


def _judged_snapshots(
    facts: DataFrame, named: DataFrame, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> snapshots.Judged:
    relied = stored_bases(tables, retained_facts(facts, tables, jobs)).relied
    found = snapshots.judged_authorities(facts, relied, jobs)
    return snapshots.as_judged(found, "authority", named, REDUCER, tables, scope)


def authority_states(facts: DataFrame, in_force: DataFrame | None, *, full: bool = False) -> DataFrame:
    """Reduce the authorities of these facts.

    Reads:  facts: rows of `aura_fact`; in_force: `snapshots.in_force`, or None.
    Gives:  `kernels.REDUCED_SCHEMA`.
    Rows:   one per authority.
    """
    grouped = _grouped(facts, in_force).repartition("namespace").sortWithinPartitions("namespace")
    return map_batches(grouped, kernels.reduced, kernels.REDUCED_SCHEMA, full=full)


def _grouped(facts: DataFrame, in_force: DataFrame | None) -> DataFrame:
    """Return what the kernel reads of each authority: its operations, and the snapshot in force if it has one.

    Gives:  kernels.REDUCTION_COLUMNS.  Rows: one per operation, and at most one more per authority.
    """
    columns = kernels.REDUCTION_COLUMNS
    operations = (
        facts.where(F.col("kind") == "AttestedOp").withColumn("is_base", F.lit(False)).select(*columns)
    )
    if in_force is None:
        return operations
    bases = facts.where(F.col("kind") == "Snapshot").join(
        in_force, ["namespace", "bucket", "record_id"], "left_semi"
    )
    return operations.unionByName(bases.withColumn("is_base", F.lit(True)).select(*columns))


def _exploded(reduced: DataFrame, column: str) -> DataFrame:
    each = reduced.select("namespace", "bucket", F.explode(column).alias("row"))
    return each.select("namespace", "bucket", "row.*")


def _strays(table: str, rows: DataFrame, reduced: DataFrame, tables: Tables) -> DataFrame:
    """Return the keys of stored rows of these authorities that are no rows any more."""
    key = list(contract(table).key)
    stored = tables.read(table).select("bucket", *key)
    theirs = stored.join(reduced.select("namespace"), "namespace", "left_semi")
    return theirs.join(rows.select(*key), key, "left_anti")
