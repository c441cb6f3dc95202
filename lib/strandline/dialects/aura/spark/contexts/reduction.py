"""Reduction of contexts: those with new facts, and those that an authority left that lost a state."""

from __future__ import annotations

from functools import reduce as fold
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.aura.reduce.contexts import REDUCER
from strandline.dialects.aura.reduce.contexts.forks import COMMIT_FORK
from strandline.dialects.aura.spark.contexts import bodies, forks, views
from strandline.dialects.aura.spark.contexts.dependencies import Members, depends_on
from strandline.dialects.aura.spark.contexts.encoding import state_hashes
from strandline.dialects.aura.spark.contexts.retained import RetainedFacts, retained_facts
from strandline.dialects.aura.spark.tables import (
    CONTEXT_REDUCED,
    EQUIVOCATIONS,
    FACTS,
    REDUCED,
    SNAPSHOTS,
)
from strandline.dialects.aura.types import DIALECT
from strandline.frames.states import as_namespace_state

_PREFIX: Final = "context:"
_HOME: Final = ("namespace", "bucket")


def reduce(
    changes: DataFrame | None, authorities: Reduction, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> Reduction:
    """Reduce the contexts in `changes` and those that depend on a lost state, or all; then as `_together`.

    `authorities` is what this run makes of authorities. A context whose members only grew keeps its rows; its state
    names their new tips.
    """
    facts = tables.read_version(FACTS, scope.version).where(F.startswith("namespace", F.lit(_PREFIX)))
    is_full = changes is None or tables.has_partial_run(REDUCED)
    members = Members(authorities, tables, jobs, is_full=is_full)
    retained = retained_facts(facts, tables, jobs)
    touched = None
    if changes is not None and not is_full:
        named = changes.where(F.startswith("namespace", F.lit(_PREFIX))).select(*_HOME)
        touched = jobs.checkpoint(named.unionByName(members.bereft()).distinct(), "contexts")
        buckets = jobs.row(touched.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
        if not buckets:
            return _together(authorities, Reduction({}, _as_states(members.refreshed(touched), scope)))
        retained = retained.where(F.col("bucket").isin(*buckets)).of(touched)
    return _together(authorities, _reduced(retained, touched, members, tables, jobs, scope))


def _as_states(states: DataFrame, scope: ReduceScope) -> DataFrame:
    return as_namespace_state(states, dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id)


def _reduced(
    retained: RetainedFacts,
    touched: DataFrame | None,
    members: Members,
    tables: Tables,
    jobs: Jobs,
    scope: ReduceScope,
) -> Reduction:
    """Reduce contexts from all of their facts, and from the carries of pruned ones."""
    facts = retained.facts
    of_contexts = jobs.checkpoint(bodies.context_members(facts), "members")
    seen = views.view(facts, members.chains(), of_contexts, jobs)
    rows = views.reduced_rows(seen, facts, retained.carried(), of_contexts, jobs)
    counts = retained.counted()
    hashed = state_hashes(counts, views.row_hashes(rows)).withColumn("reducer_version", F.lit(REDUCER))
    states = hashed.join(depends_on(of_contexts, members.tips()), "namespace", "left")
    if touched is not None:
        states = states.unionByName(members.refreshed(touched))
    contradictions = forks.contradictions(facts, seen.committed)
    evidence = retained.evidence(tables)
    if evidence is not None:
        contradictions = contradictions.join(evidence, list(contract(EQUIVOCATIONS).key), "left_anti")
    found = forks.equivocations(contradictions, facts, tables, jobs, scope.version)
    deletes = {table: _strays(table, rows[table], counts, tables) for table in CONTEXT_REDUCED}
    commit_forks = tables.read(EQUIVOCATIONS).where(F.col("kind") == COMMIT_FORK)
    deletes[EQUIVOCATIONS] = _without(EQUIVOCATIONS, commit_forks, contradictions, counts)
    of_forks = [each for each in (found, evidence) if each is not None]
    if of_forks:
        columns = list(contract(EQUIVOCATIONS).compared)
        rows[EQUIVOCATIONS] = fold(DataFrame.unionByName, (each.select(*columns) for each in of_forks))
    damaged = retained.damaged()
    return Reduction(
        rows, _as_states(states, scope), deletes, damaged={} if damaged is None else {SNAPSHOTS: damaged}
    )


def _strays(table: str, rows: DataFrame, contexts: DataFrame, tables: Tables) -> DataFrame:
    """Return the keys of stored rows of these contexts that are no rows any more."""
    return _without(table, tables.read(table), rows, contexts)


def _without(table: str, stored: DataFrame, rows: DataFrame, contexts: DataFrame) -> DataFrame:
    key = list(contract(table).key)
    theirs = stored.select("bucket", *key).join(contexts.select("namespace"), "namespace", "left_semi")
    return theirs.join(rows.select(*key), key, "left_anti")


def _together(authorities: Reduction, contexts: Reduction) -> Reduction:
    """Return both reductions as one."""
    rows = {**authorities.tables}
    for table, found in contexts.tables.items():
        rows[table] = rows[table].unionByName(found) if table in rows else found
    ordered: dict[str, DataFrame] = {table: rows[table] for table in REDUCED if table in rows}
    return Reduction(
        ordered, authorities.states.unionByName(contexts.states, allowMissingColumns=True),
        {**authorities.deletes, **contexts.deletes}, damaged={**authorities.damaged, **contexts.damaged},
    )  # fmt: skip
