"""Reduction of contexts: those with new facts, and those that an authority left that lost a state."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from functools import reduce as fold

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.aura.reduce.contexts import REDUCER
from strandline.dialects.aura.reduce.contexts.forks import COMMIT_FORK
from strandline.dialects.aura.spark.contexts import bindings, bodies, capabilities, channels, flows, forks
from strandline.dialects.aura.spark.contexts.dependencies import Members, depends_on
from strandline.dialects.aura.spark.contexts.encoding import state_hashes
from strandline.dialects.aura.spark.tables import (
    BINDINGS,
    CAPABILITIES,
    CHANNELS,
    CONTEXT_REDUCED,
    EQUIVOCATIONS,
    FLOWS,
    HOME,
    REDUCED,
    STATES,
)
from strandline.dialects.aura.spark.touched import Touched, facts_of
from strandline.dialects.aura.types import DIALECT
from strandline.frames.states import as_namespace_state


def reduce(
    touched: Touched, authorities: Reduction | None, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> Reduction:
    """Reduce the contexts that the run touches and those that depend on a lost state; then as `_together`.

    `authorities` is what this run makes of authorities. A context whose members only grew keeps its rows; its state
    names their new tips.
    """
    members = Members(authorities, tables, jobs, is_full=touched.is_full)
    parts = [] if authorities is None else [authorities]
    named, buckets = touched.of("context"), touched.buckets["context"]
    dependents = None if touched.is_full else members.dependents()
    if dependents is not None:
        if dependents.bereft_buckets:
            named = jobs.checkpoint(named.unionByName(dependents.bereft()).distinct(), "contexts")
            buckets = tuple(sorted({*buckets, *dependents.bereft_buckets}))
        parts.append(Reduction({}, _as_states(members.refreshed(dependents, named), scope)))
    if buckets:
        facts = facts_of(None if touched.is_full else named, buckets, "context", tables, scope.version)
        parts.append(_reduced(facts, members, tables, jobs, scope))
    return _together(parts) if parts else Reduction({}, tables.read(STATES).limit(0))


def _as_states(states: DataFrame, scope: ReduceScope) -> DataFrame:
    return as_namespace_state(states, dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id)


def _reduced(facts: DataFrame, members: Members, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce contexts from all of their facts."""
    of_contexts = jobs.checkpoint(bodies.context_members(facts), "members")
    granted = jobs.checkpoint(bodies.granted(facts, members.chains(), of_contexts), "bodies")
    proven = jobs.checkpoint(bindings.proven_pairs(granted), "consensus")
    committed = jobs.checkpoint(channels.commits(granted, proven), "commits")
    rows = {
        BINDINGS: jobs.checkpoint(bindings.bindings(granted, proven), BINDINGS),
        FLOWS: jobs.checkpoint(flows.flow_budgets(facts), FLOWS),
        CHANNELS: jobs.checkpoint(channels.channel_epochs(granted, committed), CHANNELS),
        CAPABILITIES: jobs.checkpoint(capabilities.capabilities(facts, of_contexts), CAPABILITIES),
    }
    hashes = (
        rows[BINDINGS].select("namespace", "row_hash")
        .unionByName(flows.flow_hashes(rows[FLOWS]))
        .unionByName(channels.channel_hashes(rows[CHANNELS]))
        .unionByName(capabilities.capability_hashes(rows[CAPABILITIES]))
    )  # fmt: skip
    counts = facts.groupBy(*HOME).agg(F.count(F.lit(1)).alias("record_count"))
    hashed = state_hashes(counts, hashes).withColumn("reducer_version", F.lit(REDUCER))
    states = hashed.join(depends_on(of_contexts, members.tips()), "namespace", "left")
    contradictions = forks.contradictions(facts, committed)
    found = forks.equivocations(contradictions, facts, tables, jobs, scope.version)
    deletes = {table: _strays(table, rows[table], counts, tables) for table in CONTEXT_REDUCED}
    commit_forks = tables.read(EQUIVOCATIONS).where(F.col("kind") == COMMIT_FORK)
    deletes[EQUIVOCATIONS] = _without(EQUIVOCATIONS, commit_forks, contradictions, counts)
    if found is not None:
        rows[EQUIVOCATIONS] = found
    return Reduction(rows, _as_states(states, scope), deletes)


def _strays(table: str, rows: DataFrame, contexts: DataFrame, tables: Tables) -> DataFrame:
    """Return the keys of stored rows of these contexts that are no rows any more."""
    return _without(table, tables.read(table), rows, contexts)


def _without(table: str, stored: DataFrame, rows: DataFrame, contexts: DataFrame) -> DataFrame:
    key = list(contract(table).key)
    theirs = stored.select("bucket", *key).join(contexts.select("namespace"), "namespace", "left_semi")
    return theirs.join(rows.select(*key), key, "left_anti")


def _together(parts: Sequence[Reduction]) -> Reduction:
    """Return the parts of a reduction as one, the tables in the order in which they are written."""
    rows: dict[str, DataFrame] = {}
    for table in REDUCED:
        found = [part.tables[table] for part in parts if table in part.tables]
        if found:
            rows[table] = fold(DataFrame.unionByName, found)
    states = fold(partial(DataFrame.unionByName, allowMissingColumns=True), [part.states for part in parts])
    return Reduction(
        rows, states, {table: keys for part in parts for table, keys in part.deletes.items()},
        damaged={table: named for part in parts for table, named in part.damaged.items()},
    )  # fmt: skip
