"""Reduction of authorities: each touched one from all of its operations, by stored columns or only by the facts.

The contexts that depend on them are reduced after them: `spark.contexts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import EQUIVOCATIONS, SNAPSHOTS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.aura import kernels
from strandline.dialects.aura.reduce import REDUCER
from strandline.dialects.aura.spark import snapshots, stored_rows
from strandline.dialects.aura.spark.continuation import continued
from strandline.dialects.aura.spark.histories import relied_states
from strandline.dialects.aura.spark.retained_operations import PrunedOperations, is_operation, with_remains
from strandline.dialects.aura.spark.tables import AUTHORITIES, FACTS, HOME, LEAVES, OPERATIONS
from strandline.dialects.aura.spark.touched import Touched, facts_of
from strandline.dialects.aura.types import DIALECT
from strandline.frames.lift import map_batches, nested_rows
from strandline.frames.listed import is_listed
from strandline.frames.states import as_namespace_state
from strandline.frames.strays import strays

_NESTED: Final = {OPERATIONS: "operations", LEAVES: "leaves", EQUIVOCATIONS: "forks"}


@dataclass(frozen=True, slots=True)
class Authorities:
    """The authorities that a run reduced.

    `onward`: namespace, of those of which `rows` has only new operations; None without any.
    """

    rows: Reduction
    onward: DataFrame | None


def reduce(
    touched: Touched, pruned: PrunedOperations | None, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> Authorities | None:
    """Reduce the authorities that the run touches, with the rows of a full reduction; None without any."""
    buckets = touched.buckets["authority"]
    if not buckets:
        return None
    named = touched.of("authority")
    onward = None
    if touched.changes is not None:
        # The stored state of a refused authority is older than the facts before these changes.
        is_retried = is_listed("namespace", scope.retry_namespaces)
        onward = continued(named.where(~is_retried), touched.changes, tables, jobs)
    if onward is not None:
        others = named.join(onward.select("namespace"), "namespace", "left_anti")
        named = jobs.checkpoint(others, "authorities")
        if not jobs.has_rows(named):
            return _as_rows(onward, None, onward, None, tables, scope)
    facts = facts_of(None if touched.changes is None else named, buckets, "authority", tables, scope.version)
    pruned_here = None if pruned is None else pruned.of(named)
    facts = facts if pruned_here is None else pruned_here.kept(facts)
    judged = (
        _judged_snapshots(facts, named, pruned_here, tables, jobs, scope) if touched.has_snapshots else None
    )
    in_force = None if judged is None else snapshots.in_force(judged.rows)
    states = authority_states(facts, in_force, pruned_here, full=scope.full)
    whole = jobs.checkpoint(states.join(counted(facts, pruned_here), "namespace"), "states")
    reduced = whole if onward is None else whole.unionByName(onward)
    found = _as_rows(reduced, whole, onward, judged, tables, scope)
    if pruned_here is None:
        return found
    return Authorities(
        stored_rows.with_unrepeatable(found.rows, whole, pruned_here, tables, jobs), found.onward
    )


def _as_rows(
    reduced: DataFrame,
    whole: DataFrame | None,
    onward: DataFrame | None,
    judged: snapshots.Judged | None,
    tables: Tables,
    scope: ReduceScope,
) -> Authorities:
    """Return reduced authorities as rows of tables.

    Reads:  `kernels.REDUCED_SCHEMA`, record_count; of `whole` with all operations, of `onward` with only the new ones.
    """
    is_there = F.col("state_hash").isNotNull()
    rows = authority_rows(reduced)
    states = reduced.where(is_there).select(
        *HOME, "record_count", "state_hash", F.lit(REDUCER).alias("reducer_version")
    )
    shaped = as_namespace_state(states, dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id)
    deletes = {LEAVES: strays(LEAVES, tables.read(LEAVES), rows[LEAVES], reduced.where(is_there))}
    if whole is not None:
        stored = tables.read(OPERATIONS)
        deletes[OPERATIONS] = strays(OPERATIONS, stored, rows[OPERATIONS], whole.where(is_there))
    if judged is not None:
        rows[SNAPSHOTS], deletes[SNAPSHOTS] = judged.rows, judged.strays
        rows[EQUIVOCATIONS] = rows[EQUIVOCATIONS].unionByName(judged.forks)
    damaged = {FACTS: reduced.where("is_damaged").select("namespace")}
    names = None if onward is None else onward.select("namespace")
    return Authorities(Reduction(rows, shaped, deletes, damaged=damaged), names)


def authority_rows(reduced: DataFrame) -> dict[str, DataFrame]:
    """Return reduced authorities as rows of their tables, without those that have no state.

    Reads:  `kernels.REDUCED_SCHEMA`.
    """
    columns = [field.name for field in kernels.STATE_FIELDS]
    rows = {AUTHORITIES: reduced.where("state_hash IS NOT NULL").select(*HOME, *columns)}
    return rows | {table: nested_rows(reduced, column) for table, column in _NESTED.items()}


def counted(facts: DataFrame, pruned: PrunedOperations | None) -> DataFrame:
    """Count the records of each authority, with pruned ones.  Gives: namespace, record_count.  Rows: one for each."""
    ids = facts.select("namespace")
    if pruned is not None:
        ids = ids.unionByName(pruned.rows.select("namespace"))
    return ids.groupBy("namespace").agg(F.count(F.lit(1)).alias("record_count"))


def _judged_snapshots(
    facts: DataFrame,
    named: DataFrame,
    pruned: PrunedOperations | None,
    tables: Tables,
    jobs: Jobs,
    scope: ReduceScope,
) -> snapshots.Judged:
    found = snapshots.judged_authorities(facts, relied_states(tables, jobs), pruned, tables, jobs)
    return snapshots.as_judged(found, "authority", named, REDUCER, tables, scope)


def authority_states(
    facts: DataFrame,
    in_force: DataFrame | None,
    pruned: PrunedOperations | None = None,
    *,
    full: bool = False,
) -> DataFrame:
    """Reduce the authorities of these facts, with the remains of pruned ones.

    Reads:  facts: rows of `aura_fact`; in_force: `snapshots.in_force`, or None.
    Gives:  `kernels.REDUCED_SCHEMA`.
    Rows:   one per authority.
    """
    grouped = with_remains(
        with_bases(facts.where(is_operation()), facts, in_force), pruned, kernels.REDUCTION_COLUMNS
    )
    return map_batches(grouped, kernels.reduced, kernels.REDUCED_SCHEMA, full=full)


def with_bases(rows: DataFrame, facts: DataFrame, in_force: DataFrame | None) -> DataFrame:
    """Return facts of authorities and the snapshots in force, which are marked.

    Gives:  the columns of kernels.REDUCTION_COLUMNS but remains.  Rows: one per fact, and at most one per authority.
    """
    columns = ("namespace", "bucket", "fact_cbor", "is_base", *kernels.DERIVED)
    marked = rows.withColumn("is_base", F.lit(False)).select(*columns)
    if in_force is None:
        return marked
    bases = facts.where(F.col("kind") == "Snapshot").join(
        in_force, ["namespace", "bucket", "record_id"], "left_semi"
    )
    return marked.unionByName(bases.withColumn("is_base", F.lit(True)).select(*columns))
