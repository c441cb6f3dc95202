"""Pruning of contexts: the rules of `reduce.contexts.pruning` as joins; of authorities as `authority_pruning` says.

A plan uses no reduced row: the states of members, and which of them are final, follow from the facts of authorities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce as fold
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.pruning import PrunePlan, PruneScope, ReducedTables
from strandline.dialects.aura import kernels
from strandline.dialects.aura.info import are_read
from strandline.dialects.aura.reduce.contexts import REDUCER
from strandline.dialects.aura.spark import authority_pruning, plan_members
from strandline.dialects.aura.spark.authority_pruning import NOTHING_WENT, PlannedAuthorities
from strandline.dialects.aura.spark.contexts import bodies, flows, holds, views
from strandline.dialects.aura.spark.contexts import carries as context_carries
from strandline.dialects.aura.spark.contexts.encoding import state_hashes
from strandline.dialects.aura.spark.contexts.retained import PrunedFacts, RetainedFacts, retained_facts
from strandline.dialects.aura.spark.histories import (
    StoredBases,
    histories_of,
    inputs_of,
    is_history,
    needed_facts,
    own_bases,
    states_of,
    stored_bases,
)
from strandline.dialects.aura.spark.namespaces import is_of
from strandline.dialects.aura.spark.retained_operations import pruned_operations
from strandline.dialects.aura.spark.tables import FACTS, FLOWS, HOME, STATES
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches

_STATE: Final = ("namespace", "bucket", "record_count", "state_hash", "reducer_version")
_INPUTS: Final = "array<struct<namespace:string,commitment:binary>>"
_COLUMNS: Final = ("namespace", "bucket", "record_id", "body_id", "kind", "variant", "content_json", "attest")


@dataclass(frozen=True, slots=True)
class PlannedFacts:
    """The contexts of a plan: their facts, genesis members, the histories of authorities, and what was carried before.

    `histories`: `kernels.HISTORY_SCHEMA`; `carried`: `flows.sums` of all pruned charges, or None; `authorities`: None
    if no operation can go.
    """

    retained: RetainedFacts
    members: DataFrame
    histories: DataFrame
    carried: DataFrame | None
    bases: StoredBases
    authorities: PlannedAuthorities | None
    has_transitions: bool


def plan(tables: Tables, jobs: Jobs, scope: PruneScope) -> PrunePlan:
    """Reduce contexts and authorities from all of their facts, contexts by all states of members and by final ones."""
    every = tables.read_version(FACTS, scope.reduction.version)
    # Read once: a plan looks at the facts some thirty times.
    read = every.where(is_of("context") & scope.is_asked()).select(*_COLUMNS, _size())
    contexts = retained_facts(jobs.checkpoint(read, "facts"), tables, jobs)
    retained = contexts.where(scope.is_asked())
    members = jobs.checkpoint(bodies.context_members(retained.facts), "members")
    pruned = pruned_operations(tables, jobs)
    bases = stored_bases(tables, jobs, pruned)
    histories = jobs.checkpoint(histories_of(needed_facts(every, members, scope), bases), "histories")
    authorities = authority_pruning.plan(every, histories, pruned, jobs, scope)
    carried = (
        None if retained.pruned is None else jobs.checkpoint(retained.pruned.skeleton_sums(), "skeletons")
    )
    whole = None if carried is None else flows.added(carried.where("NOT is_damaged"))
    has_transitions = are_read(scope.reduction.lake_options)
    planned = PlannedFacts(retained, members, histories, whole, bases, authorities, has_transitions)
    facts = _that_count(retained, jobs)
    ordinary = views.view(
        facts, states_of(histories, "chain"), members, jobs, has_transitions=has_transitions
    )
    # Without transitions: an epoch that proven bumps alone lead to is never taken back.
    final = views.view(facts, states_of(histories, "final"), members, jobs)
    reduced = _reduced(retained, facts, ordinary, planned, whole, jobs)
    found = holds.holds(facts, ordinary, final, reduced[FLOWS], scope.skip_window)
    kept = every.where(is_of("authority") & scope.is_asked()).withColumn("size", _size())
    kept = kept if pruned is None else pruned.kept(kept)
    of_authorities = plan_members.of_authorities(kept, None if authorities is None else authorities.members())
    every_member = plan_members.of_contexts(retained, found).unionByName(of_authorities)
    states = _stated(reduced[STATES], inputs_of(members, histories)).unionByName(
        _stated(histories.where(scope.is_asked()), own_bases(histories))
    )
    return PrunePlan(
        jobs.checkpoint(every_member, "what keeps facts"), jobs.checkpoint(states, "states of all"),
        reduced if authorities is None else _together(reduced, authorities.reduced()), planned,
        _damaged(planned, carried, jobs),
    )  # fmt: skip


def skeletons(plan: PrunePlan, chosen: DataFrame) -> DataFrame:
    """Encode the skeletons of chosen charges and operations; of other facts nothing stays."""
    planned: PlannedFacts = plan.context
    stored = planned.retained.records.select(*KEY, "variant", "content_json")
    named = stored.join(chosen.select(*KEY), list(KEY), "left_semi")
    charges = bodies.parsed(named, flows.CHARGE).select(*kernels.CHARGE_COLUMNS)
    encoded = map_batches(charges, kernels.charge_skeletons, kernels.SKELETON_SCHEMA)
    if planned.authorities is not None:
        bones = planned.authorities.members().where("skeleton IS NOT NULL")
        encoded = encoded.unionByName(bones.select(*KEY, "skeleton"))
    return chosen.select(*KEY).join(encoded, list(KEY), "left")


def carries(plan: PrunePlan, chosen: DataFrame) -> DataFrame:
    """Encode the carry of each namespace: the sums of pruned and chosen charges, the state of the base."""
    planned: PlannedFacts = plan.context
    named = planned.retained.facts.join(chosen.select(*KEY), list(KEY), "left_semi")
    rows = named.select(*bodies.BODY, "variant", "content_json")
    sums = flows.sums(bodies.parsed(rows, flows.CHARGE))
    if planned.carried is not None:
        sums = sums.unionByName(planned.carried)
    every, others = plan.states.select("namespace"), F.lit(NOTHING_WENT).alias("carry")
    encoded = context_carries.encoded(sums, every.where(is_of("context")))
    if planned.authorities is None:
        return encoded.unionByName(every.where(~is_of("context")).select("namespace", others))
    told = planned.authorities.carries(chosen)
    rest = every.where(~is_of("context")).join(told, "namespace", "left_anti").select("namespace", others)
    return encoded.unionByName(told).unionByName(rest)


def reduce_rest(
    plan: PrunePlan, gone: DataFrame, new_carries: DataFrame, jobs: Jobs
) -> ReducedTables:  # fmt: skip
    """Reduce the namespaces of a plan from the facts that stay and the new carries."""
    planned: PlannedFacts = plan.context
    named = plan.members.join(gone.select(*KEY, "skeleton"), list(KEY))
    rows = named.select(*HOME, "record_id", "alt_id")
    if planned.retained.pruned is not None:
        rows = rows.unionByName(planned.retained.pruned.rows.select(*rows.columns))
    homes = rows.select(*HOME).distinct()
    gone_ids = jobs.checkpoint(rows, "all that goes")
    carries_ = jobs.checkpoint(new_carries.join(homes, "namespace"), "new carries")
    pruned = PrunedFacts(gone_ids.where(is_of("context")), carries_.where(is_of("context")))
    rest = RetainedFacts(planned.retained.stored, pruned)
    facts = _that_count(rest, jobs)
    seen = views.view(
        facts, states_of(planned.histories, "chain"), planned.members, jobs,
        has_transitions=planned.has_transitions,
    )  # fmt: skip
    # The carries that would be stored, as reducers read them.
    reduced = _reduced(rest, facts, seen, planned, pruned.carried(), jobs)
    if planned.authorities is None:
        return reduced
    theirs = named.where(is_of("authority"))
    return _together(reduced, planned.authorities.reduced_without(theirs, new_carries, jobs))


def still_holds(plan: PrunePlan, tables: Tables, jobs: Jobs) -> bool:
    """Return whether the snapshots in force prove the same bases now."""
    planned: PlannedFacts = plan.context
    base = ["namespace", "base"]
    then = planned.histories.where("base IS NOT NULL").select(*base)
    names = planned.histories.select("namespace")
    facts = tables.read(FACTS).where(is_history()).join(names, "namespace", "left_semi")
    now = histories_of(facts, planned.bases).where("base IS NOT NULL").select(*base)
    moved = then.join(now, base, "left_anti").unionByName(now.join(then, base, "left_anti"))
    return not jobs.has_rows(moved)


def _that_count(retained: RetainedFacts, jobs: Jobs) -> DataFrame:
    """Return the facts that count, without the plan that leaves out pruned bodies."""
    return retained.facts if retained.pruned is None else jobs.checkpoint(retained.facts, "facts that count")


def _size() -> Column:
    return F.octet_length("fact_cbor").cast("bigint").alias("size")


def _reduced(
    retained: RetainedFacts,
    facts: DataFrame,
    seen: views.View,
    planned: PlannedFacts,
    carried: DataFrame | None,
    jobs: Jobs,
) -> dict[str, DataFrame]:
    rows = views.reduced_rows(seen, facts, carried, planned.members, jobs)
    states = state_hashes(retained.counted(), fold(DataFrame.unionByName, views.row_hashes(rows))).withColumn(
        "reducer_version", F.lit(REDUCER)
    )
    return {**rows, STATES: jobs.checkpoint(states.select(*_STATE), "states")}


def _together(contexts: dict[str, DataFrame], authorities: dict[str, DataFrame]) -> dict[str, DataFrame]:
    states = contexts[STATES].unionByName(authorities[STATES])
    return {**contexts, **authorities, STATES: states}


def _stated(states: DataFrame, inputs: DataFrame) -> DataFrame:
    """Return `PrunePlan.states` of namespaces of one kind.  Reads: inputs: namespace, inputs."""
    found = states.join(inputs, "namespace", "left")
    stated = F.coalesce("inputs", F.array().cast(_INPUTS)).alias("inputs")
    return found.select(*HOME, "state_hash", "reducer_version", stated)


def _damaged(planned: PlannedFacts, carried: DataFrame | None, jobs: Jobs) -> DataFrame | None:
    """Return the namespaces whose skeletons are not what their applied carry says: namespace."""
    parts = []
    pruned = planned.retained.pruned
    if pruned is not None and carried is not None and planned.carried is not None:
        parts.append(context_carries.damaged(pruned, carried, planned.carried))
    if planned.authorities is not None:
        parts.append(planned.authorities.torn())
    return (
        jobs.checkpoint(fold(DataFrame.unionByName, parts).distinct(), "damaged carries") if parts else None
    )
