"""Pruning of contexts: the rules of `reduce.contexts.pruning` as joins; of authorities as `authority_pruning` says.

A plan uses no reduced row: the states of members, and which of them are final, follow from the facts of authorities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.pruning import INPUTS, PrunePlan, PruneScope, ReducedTables
from strandline.dialects.aura.info import reads_transitions
from strandline.dialects.aura.reduce.contexts import REDUCER
from strandline.dialects.aura.spark import authority_pruning, plan_members
from strandline.dialects.aura.spark.authority_pruning import NOTHING_WENT, PlannedAuthorities
from strandline.dialects.aura.spark.contexts import bodies, charges, flows, views
from strandline.dialects.aura.spark.contexts import carries as context_carries
from strandline.dialects.aura.spark.contexts.encoding import state_hashes
from strandline.dialects.aura.spark.contexts.retained import PrunedFacts, RetainedFacts, retained_facts
from strandline.dialects.aura.spark.histories import (
    StoredBases,
    asked_facts,
    bases_of,
    histories_of,
    own_bases,
    states_of,
    stored_bases,
)
from strandline.dialects.aura.spark.namespaces import is_of, of_members
from strandline.dialects.aura.spark.retained_operations import pruned_operations
from strandline.dialects.aura.spark.tables import FACTS, FLOWS, HOME, STATE
from strandline.frames.known import KEY
from strandline.frames.union import union

_COLUMNS: Final = ("namespace", "bucket", "record_id", "body_id", "kind", "variant", "content_json", "attest")
_PLACE: Final = (*HOME, "record_id")


@dataclass(frozen=True, slots=True)
class PlannedFacts:
    """The contexts of a plan: their facts, genesis members, the histories of authorities, and what was carried before.

    `charges`: the facts that are charges, as `charges.charges` gives them; `others`: all others, rows of `aura_fact`;
    `histories`: `kernels.HISTORY_SCHEMA`; `carried`: `flows.sums` of all pruned charges, or None; `authorities`: None
    if no operation can go.
    """

    charges: RetainedFacts
    others: RetainedFacts
    members: DataFrame
    histories: DataFrame
    carried: DataFrame | None
    bases: StoredBases
    authorities: PlannedAuthorities | None
    has_transitions: bool


def plan(tables: Tables, jobs: Jobs, scope: PruneScope) -> PrunePlan:
    """Reduce contexts and authorities from all of their facts, contexts by all states of members and by final ones."""
    every = tables.read_version(FACTS, scope.reduction.version)
    read = every.where(is_of("context") & scope.is_asked()).select(*_COLUMNS, _size())
    # Read once: a plan looks at charges some five times, at other facts some thirty times.
    rows = jobs.persist(read.where(~charges.is_charge()), "facts")
    others = retained_facts(rows, tables, jobs).where(scope.is_asked()).looked_through(jobs)
    pruned_facts = others.pruned
    charged = RetainedFacts(jobs.persist(charges.charges(read), "charges"), pruned_facts).looked_through(jobs)
    members = jobs.checkpoint(bodies.context_members(others.facts), "members")
    pruned = pruned_operations(tables, jobs)
    bases = stored_bases(tables, jobs, pruned)
    histories = jobs.checkpoint(histories_of(asked_facts(every, members, scope), bases), "histories")
    authorities = authority_pruning.plan(every, histories, pruned, jobs, scope)
    carried = None if pruned_facts is None else jobs.checkpoint(pruned_facts.skeleton_sums(), "skeletons")
    whole = None if carried is None else flows.added(carried.where("NOT is_damaged"))
    has_transitions = reads_transitions(scope.reduction.lake_options)
    planned = PlannedFacts(charged, others, members, histories, whole, bases, authorities, has_transitions)
    facts = _that_count(others, jobs)
    ordinary = views.view(
        facts, states_of(histories, "chain"), members, jobs, has_transitions=has_transitions
    )
    # Without transitions: an epoch that only proven bumps lead to is never taken back.
    final = views.view(facts, states_of(histories, "final"), members, jobs)
    reduced = _reduced(others, charged, facts, ordinary, planned, whole, jobs)
    kept = every.where(is_of("authority") & scope.is_asked()).withColumn("size", _size())
    kept = kept if pruned is None else pruned.kept(kept)
    of_authorities = plan_members.of_authorities(kept, None if authorities is None else authorities.members())
    of_contexts = plan_members.of_contexts(
        charged, others, facts, (ordinary, final), reduced[FLOWS], scope.skip_window, jobs
    )
    every_member = of_contexts.unionByName(of_authorities, allowMissingColumns=True)
    states = _stated(reduced[STATES], of_members(members, bases_of(histories), "inputs")).unionByName(
        _stated(histories.where(scope.is_asked()), own_bases(histories))
    )
    return PrunePlan(
        jobs.persist(every_member, "what keeps facts"), jobs.checkpoint(states, "states of all"),
        reduced if authorities is None else _together(reduced, authorities.reduced()), planned,
        _damaged(planned, carried, jobs),
    )  # fmt: skip


def skeletons(plan: PrunePlan, chosen: DataFrame, jobs: Jobs) -> DataFrame:
    """Encode the skeletons of chosen charges and operations; other facts have none."""
    planned: PlannedFacts = plan.context
    found = chosen.where(is_of("context")).withColumn("skeleton", charges.skeleton())
    of_authorities = chosen.where(~is_of("context"))
    if planned.authorities is None:
        return found.unionByName(of_authorities.withColumn("skeleton", F.lit(None).cast("binary")))
    skeletons = planned.authorities.members().select(*KEY, "skeleton")
    joined = jobs.checkpoint(of_authorities.join(skeletons, list(KEY), "left"), "skeletons of operations")
    return found.unionByName(joined)


def carries(plan: PrunePlan, chosen: DataFrame) -> DataFrame:
    """Encode the carry of each namespace: the sums of pruned and chosen charges, the state of the base."""
    planned: PlannedFacts = plan.context
    sums = charges.sums(chosen)
    if planned.carried is not None:
        sums = sums.unionByName(planned.carried)
    every, others = plan.states.select("namespace"), F.lit(NOTHING_WENT).alias("carry")
    encoded = context_carries.encoded(sums, every.where(is_of("context")))
    if planned.authorities is None:
        return encoded.unionByName(every.where(~is_of("context")).select("namespace", others))
    of_authorities = planned.authorities.carries(chosen)
    rest = (
        every.where(~is_of("context"))
        .join(of_authorities, "namespace", "left_anti")
        .select("namespace", others)
    )
    return encoded.unionByName(of_authorities).unionByName(rest)


def reduce_rest(plan: PrunePlan, chosen: DataFrame, new_carries: DataFrame, jobs: Jobs) -> ReducedTables:
    """Reduce the namespaces of a plan from the facts that stay and the new carries."""
    planned: PlannedFacts = plan.context
    rows = chosen.select(*HOME, "record_id", "alt_id").where(is_of("context"))
    before = planned.others.pruned
    if before is not None:
        rows = jobs.checkpoint(rows.unionByName(before.rows.select(*rows.columns)), "all that goes")
    homes = rows.select(*HOME).distinct()
    pruned = PrunedFacts(rows, jobs.checkpoint(new_carries.join(homes, "namespace"), "new carries"))
    others, charged = (RetainedFacts(each.stored, pruned) for each in (planned.others, planned.charges))
    facts = _that_count(others, jobs)
    seen = views.view(
        facts, states_of(planned.histories, "chain"), planned.members, jobs,
        has_transitions=planned.has_transitions,
    )  # fmt: skip
    # The carries that would be stored, as reducers read them.
    reduced = _reduced(others, charged, facts, seen, planned, pruned.carried(), jobs)
    if planned.authorities is None:
        return reduced
    theirs = chosen.where(is_of("authority"))
    return _together(reduced, planned.authorities.reduced_without(theirs, new_carries, jobs))


def still_holds(plan: PrunePlan, tables: Tables, jobs: Jobs) -> bool:
    """Return whether the snapshots in force prove the same bases now."""
    planned: PlannedFacts = plan.context
    base = ["namespace", "base"]
    then = planned.histories.where("base IS NOT NULL").select(*base)
    names = planned.histories.select("namespace")
    facts = tables.read(FACTS).where(is_of("authority")).join(names, "namespace", "left_semi")
    now = histories_of(facts, planned.bases).where("base IS NOT NULL").select(*base)
    moved = then.join(now, base, "left_anti").unionByName(now.join(then, base, "left_anti"))
    return not jobs.has_rows(moved)


def _that_count(retained: RetainedFacts, jobs: Jobs) -> DataFrame:
    """Return the facts that count, without the plan that leaves out pruned bodies."""
    return (
        retained.facts
        if retained.pruned_bodies is None
        else jobs.checkpoint(retained.facts, "facts that count")
    )


def _size() -> Column:
    return F.octet_length("fact_cbor").cast("bigint").alias("size")


def _reduced(
    others: RetainedFacts,
    charged: RetainedFacts,
    facts: DataFrame,
    seen: views.View,
    planned: PlannedFacts,
    carried: DataFrame | None,
    jobs: Jobs,
) -> dict[str, DataFrame]:
    met = charged.facts.where("is_met")
    rows = views.reduced_rows(seen, facts, met, carried, planned.members, jobs)
    stored = others.stored.select(*_PLACE).unionByName(charged.stored.select(*_PLACE))
    counted = RetainedFacts(stored, others.pruned).counted()
    states = state_hashes(counted, views.hashes(rows)).withColumn("reducer_version", F.lit(REDUCER))
    return {**rows, STATES: jobs.checkpoint(states.select(*STATE), "states")}


def _together(contexts: dict[str, DataFrame], authorities: dict[str, DataFrame]) -> dict[str, DataFrame]:
    states = contexts[STATES].unionByName(authorities[STATES])
    return {**contexts, **authorities, STATES: states}


def _stated(states: DataFrame, inputs: DataFrame) -> DataFrame:
    """Return `PrunePlan.states` of namespaces of one kind.  Reads: inputs: namespace, inputs."""
    found = states.join(inputs, "namespace", "left")
    stated = F.coalesce("inputs", F.array().cast(INPUTS)).alias("inputs")
    return found.select(*HOME, "state_hash", "reducer_version", stated)


def _damaged(planned: PlannedFacts, carried: DataFrame | None, jobs: Jobs) -> DataFrame | None:
    """Return the namespaces whose skeletons are not what their applied carry says: namespace."""
    parts = []
    pruned = planned.others.pruned
    if pruned is not None and carried is not None and planned.carried is not None:
        parts.append(context_carries.damaged(pruned, carried, planned.carried))
    if planned.authorities is not None:
        parts.append(planned.authorities.inconsistent())
    return jobs.checkpoint(union(parts).distinct(), "damaged carries") if parts else None
