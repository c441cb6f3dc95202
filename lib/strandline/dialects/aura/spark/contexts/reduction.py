"""Reduction of contexts: those with new facts, and those that depend on a state that lost a fork."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from functools import reduce as fold
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import EQUIVOCATIONS, SNAPSHOTS, STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialect_api.refusals import together
from strandline.dialects.aura.info import reads_transitions
from strandline.dialects.aura.reduce.contexts import REDUCER
from strandline.dialects.aura.reduce.contexts.forks import COMMIT_FORK
from strandline.dialects.aura.spark import snapshots
from strandline.dialects.aura.spark.contexts import bodies, forks, views
from strandline.dialects.aura.spark.contexts.advance import Advanced, advanced
from strandline.dialects.aura.spark.contexts.dependencies import Members
from strandline.dialects.aura.spark.contexts.encoding import state_hashes
from strandline.dialects.aura.spark.contexts.groups import Contexts, with_invalidated
from strandline.dialects.aura.spark.contexts.retained import retained_facts
from strandline.dialects.aura.spark.namespaces import of_members
from strandline.dialects.aura.spark.reduction import Authorities
from strandline.dialects.aura.spark.retained_operations import PrunedOperations
from strandline.dialects.aura.spark.tables import (
    BINDINGS,
    CAPABILITIES,
    CHANNELS,
    FACTS,
    FLOWS,
    HOME,
    REDUCED,
)
from strandline.dialects.aura.spark.touched import Group, Touched, facts_of
from strandline.dialects.aura.types import DIALECT
from strandline.frames.one_task import broadcast
from strandline.frames.states import as_namespace_state
from strandline.frames.strays import strays
from strandline.frames.union import union

_GROUP_OF: Final[dict[str, Group]] = {
    BINDINGS: "grants", CHANNELS: "grants", FLOWS: "flows", CAPABILITIES: "refinements"
}  # fmt: skip
"""The tables of contexts: the facts that their rows depend on."""


def reduce(
    touched: Touched,
    authorities: Authorities | None,
    pruned: PrunedOperations | None,
    tables: Tables,
    jobs: Jobs,
    scope: ReduceScope,
) -> Reduction:
    """Reduce the contexts that the run touches and those that depend on a lost state; then as `_together`.

    `authorities` are those that this run reduced. Rows are computed again only for groups with new facts, and for the
    group `grants` of contexts that depend on a lost state: facts that restrict count at lost states, too. A context
    whose members only grew keeps its rows; its state names their new tips.
    """
    members = Members(authorities, tables, jobs, is_full=touched.is_full, pruned=pruned)
    parts = [] if authorities is None else [authorities.rows]
    named, buckets, groups = touched.of("context"), touched.buckets["context"], frozenset(touched.groups)
    everywhere = frozenset(group for group, count in touched.groups.items() if count == touched.contexts)
    is_few = touched.is_few
    dependents = None if touched.is_full else members.dependents(scope.retry_namespaces)
    if dependents is not None:
        if dependents.invalidated_buckets:
            named = jobs.checkpoint(with_invalidated(named, dependents.invalidated()), "contexts")
            buckets, groups = tuple(sorted({*buckets, *dependents.invalidated_buckets})), groups | {"grants"}
            everywhere, is_few = frozenset(), False
        parts.append(Reduction({}, _as_states(members.refreshed(dependents, named), scope)))
    if buckets:
        facts = facts_of(None, buckets, "context", tables, scope.version)
        retained = retained_facts(facts, tables, jobs)
        if touched.is_full and retained.pruned is not None:
            groups |= {
                "flows"
            }  # All charges of a context may be pruned: then its budgets are only in carries.
        elif not touched.is_full:
            homes = named.select(*HOME)
            retained = retained.of(broadcast(homes) if is_few else homes)
        contexts = Contexts(named, groups, everywhere, retained.looked_through(jobs), touched.is_full)
        parts.append(_reduced(contexts, members, touched, tables, jobs, scope))
    return _together(parts) if parts else Reduction({}, tables.read(STATES).limit(0))


def _as_states(states: DataFrame, scope: ReduceScope) -> DataFrame:
    return as_namespace_state(states, dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id)


def _reduced(
    contexts: Contexts,
    members: Members,
    touched: Touched,
    tables: Tables,
    jobs: Jobs,
    scope: ReduceScope,
) -> Reduction:
    """Compute the rows of groups again from all facts of these groups; the other rows of a state are as stored."""
    of_contexts = jobs.checkpoint(bodies.context_members(contexts.retained.facts), "members")
    rows: dict[str, DataFrame] = {}
    deletes: dict[str, DataFrame] = {}
    if "grants" in contexts.groups:
        rows, deletes = _granted(contexts, of_contexts, members, tables, jobs, scope)
    found = advanced(contexts, touched, tables, jobs) if "flows" in contexts.groups else None
    if "flows" in contexts.groups:
        rows[FLOWS] = _budgets(contexts, found, touched, jobs)
    if "refinements" in contexts.groups:
        rows[CAPABILITIES] = views.capability_rows(contexts.facts_of("refinements"), of_contexts, jobs)
    unchanged: dict[str, DataFrame] = {}
    if contexts.is_full:
        for table in (each for each in _GROUP_OF if each not in deletes):
            stored = tables.read(table)
            rows.setdefault(table, stored.limit(0))
            deletes[table] = strays(table, stored, rows[table], contexts.named)
    else:
        for table, stored in views.stored_rows(tables).items():
            if _GROUP_OF[table] not in contexts.everywhere:
                theirs = contexts.without(_GROUP_OF[table])
                unchanged[table] = stored.join(theirs, list(HOME), "left_semi")
    counts = contexts.retained.counted() if found is None else found.counts
    hashed = state_hashes(counts, views.hashes(rows, unchanged))
    states = hashed.withColumn("reducer_version", F.lit(REDUCER))
    states = states.join(of_members(of_contexts, members.tips(), "depends_on"), "namespace", "left")
    damaged = contexts.retained.damaged()
    if touched.has_snapshots:
        judged = _judged_snapshots(contexts, members, tables, jobs, scope)
        rows[SNAPSHOTS], deletes[SNAPSHOTS] = judged.rows, judged.strays
    return Reduction(
        rows, _as_states(states, scope), deletes, damaged={} if damaged is None else {SNAPSHOTS: damaged}
    )


def _budgets(contexts: Contexts, found: Advanced | None, touched: Touched, jobs: Jobs) -> DataFrame:
    """Return the budgets: the advanced ones, and those of the other contexts, added up from all of their charges."""
    if found is None:
        return views.flow_rows(contexts.facts_of("flows"), contexts.carried(jobs), jobs)
    if found.number == touched.groups["flows"]:
        return found.budgets
    others = contexts.named.join(found.contexts, list(HOME), "left_anti")
    rest = replace(contexts, named=jobs.checkpoint(others, "other contexts"))
    return found.budgets.unionByName(views.flow_rows(rest.facts_of("flows"), rest.carried(jobs), jobs))


def _judged_snapshots(
    contexts: Contexts, members: Members, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> snapshots.Judged:
    retained = contexts.retained
    found = snapshots.judged_contexts(retained.records, retained.pruned, members.chains(), tables, jobs)
    return snapshots.as_judged(found, "context", contexts.named, REDUCER, tables, scope)


def _granted(
    contexts: Contexts,
    of_contexts: DataFrame,
    members: Members,
    tables: Tables,
    jobs: Jobs,
    scope: ReduceScope,
) -> tuple[dict[str, DataFrame], dict[str, DataFrame]]:
    """Return the rows that follow from attestations on chain, and the keys of stored ones that are no rows any more."""
    facts, theirs = contexts.facts_of("grants"), contexts.of("grants")
    seen = views.view(
        facts, members.chains(), of_contexts, jobs, has_transitions=reads_transitions(scope.lake_options)
    )
    rows = views.granted_rows(seen, jobs)
    deletes = {table: strays(table, tables.read(table), found, theirs) for table, found in rows.items()}
    contradictions = forks.contradictions(facts, seen.committed)
    evidence, key = contexts.retained.evidence(tables), list(contract(EQUIVOCATIONS).key)
    stays = contradictions.select(*key)
    if evidence is not None:
        contradictions = contradictions.join(evidence, key, "left_anti")
        stays = stays.unionByName(evidence.select(*key))
    commit_forks = tables.read(EQUIVOCATIONS).where(F.col("kind") == COMMIT_FORK)
    deletes[EQUIVOCATIONS] = strays(EQUIVOCATIONS, commit_forks, stays, theirs)
    equivocations = forks.equivocations(contradictions, facts, members.pruned, tables, jobs, scope.version)
    if equivocations is not None:
        rows[EQUIVOCATIONS] = equivocations
    if contexts.is_full and (evidence is not None or members.pruned is not None):
        made = rows.get(EQUIVOCATIONS)
        kept = forks.kept(contradictions, made, evidence, tables)
        kept = jobs.checkpoint(kept, "evidence that stays")
        rows[EQUIVOCATIONS] = kept if made is None else made.unionByName(kept)
    return rows, deletes


def _together(parts: Sequence[Reduction]) -> Reduction:
    """Return the parts of a reduction as one, the tables in the order in which they are written."""
    rows: dict[str, DataFrame] = {}
    deletes: dict[str, DataFrame] = {}
    for table in (*REDUCED, SNAPSHOTS):
        found = [part.tables[table] for part in parts if table in part.tables]
        if found:
            rows[table] = union(found)
        deleted = [part.deletes[table] for part in parts if table in part.deletes]
        if deleted:
            deletes[table] = union(deleted)
    states = fold(partial(DataFrame.unionByName, allowMissingColumns=True), [part.states for part in parts])
    return Reduction(
        rows, states, deletes,
        damaged={
            table: union([part.damaged[table] for part in parts if table in part.damaged])
            for table in (FACTS, SNAPSHOTS)
            if any(table in part.damaged for part in parts)
        },
        refused=together(part.refused for part in parts),
    )  # fmt: skip
