"""What `snapshot` and `gc` share: plans of namespaces, and what their newest snapshots are worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import PRUNED, SNAPSHOT_MEMBERS, SNAPSHOTS
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.pruning import INPUTS, Erasing, PrunePlan, Prunes, PruneScope, form_of, pruner
from strandline.dialect_api.reduction import WALK_ENTRIES, ReduceScope
from strandline.frames import snapshots
from strandline.frames.known import KEY, pruned_records
from strandline.pipelines import reducer_options
from strandline.pipelines.named_namespaces import Named
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.store import TableStore

DAMAGED, BASE_MOVED, CONTRACT_MOVED, HELD = "SNAPSHOT_DAMAGED", "BASE_MOVED", "CONTRACT_MOVED", "HELD"


@dataclass(frozen=True, slots=True)
class PruneRequest:
    """What both commands are asked for: dialects and namespaces (none: all), those left out, the skip window."""

    skip_window: int
    dialects: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    walk_entries: int = WALK_ENTRIES
    erase: Mapping[str, Erasing] = field(default_factory=dict)
    """Dialects of which a part of records may be erased."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A dialect's namespaces, planned at one set of versions.

    `verdicts` has one row per namespace: namespace, bucket, state_hash, reducer_version, inputs, ids (set hash
    of all covered records), ids_count, applied_id, `s_<column>` of the newest snapshot, is_damaged, is_held.
    """

    dialect: Dialect
    prunes: Prunes
    scope: PruneScope
    plan: PrunePlan
    pruned: DataFrame
    to_prune: DataFrame
    covered: DataFrame
    verdicts: DataFrame
    versions: Mapping[str, int]

    @property
    def prunable(self) -> DataFrame:
        """The members that may go."""
        return self.plan.members.where(F.col("hold").isNull())

    def without(self, namespaces: DataFrame | None) -> Planned:
        """Return the plan of the other namespaces; of all, if there are none to leave out.

        Reads:  namespaces: namespace.
        """
        if namespaces is None:
            return self
        members = self.plan.members.join(namespaces, "namespace", "left_anti")
        verdicts = self.verdicts.join(namespaces, "namespace", "left_anti")
        return replace(self, plan=replace(self.plan, members=members), verdicts=verdicts)


def pruning_dialects(
    dialects: Iterable[Dialect], request: PruneRequest
) -> tuple[tuple[Dialect, Prunes], ...]:
    """Return the asked dialects that let records go; those that erase only if they may."""
    return tuple(
        (each, prunes)
        for each, prunes in every_pruning(dialects)
        if (not request.dialects or each.info.name in request.dialects)
        and (each.info.erasable is None or each.info.name in request.erase)
    )


def every_pruning(dialects: Iterable[Dialect]) -> tuple[tuple[Dialect, Prunes], ...]:
    """Return the dialects that can let records go."""
    pairs = [(each, pruner(each)) for each in dialects]
    return tuple((each, prunes) for each, prunes in pairs if prunes is not None)


def plan(
    store: TableStore, pair: tuple[Dialect, Prunes], request: PruneRequest, names: Named, context: RunContext,
    jobs: SparkJobs,
) -> Planned:  # fmt: skip
    """Reduce the namespaces of a dialect from nothing, and compare their newest snapshots with what is there.

    Versions are pinned in this order: record tables, `pruned_record`, `snapshot`. Another order could see a deletion
    without its pruning.
    """
    dialect, prunes = pair
    info = dialect.info
    tables = (info.record_table, *info.side_tables, PRUNED)
    versions = {table: store.version(table) for table in tables}
    context.progress.stage(f"planning {info.record_table}")
    options = reducer_options.resolve(store, [dialect], {})
    reduction = ReduceScope(
        previous_version=None, version=versions[info.record_table], run_id=context.run_id,
        side_versions={table: versions[table] for table in info.side_tables},
        reducer_options=options.values.get(info.name), walk_entries=request.walk_entries,
        lake_options=lake.options_of(store, info),
    )  # fmt: skip
    scope = PruneScope(
        reduction, request.skip_window, names.chosen.get(info.name, ()) if names.chosen else None,
        names.excluded.get(info.name, ()), request.erase.get(info.name),
    )  # fmt: skip
    pruned = pruned_records(store.read_version(PRUNED, versions[PRUNED]), info.kinds, form_of(info))
    stated = snapshots.local(store.read(SNAPSHOTS).where(F.col("dialect") == info.name))
    found = prunes.plan_pruning(store, jobs, scope)
    newest = jobs.checkpoint(snapshots.newest(stated), "newest snapshots")
    members = store.read(SNAPSHOT_MEMBERS)
    covered = jobs.checkpoint(snapshots.listed(members, stated, newest), "listed members")
    to_prune = jobs.checkpoint(snapshots.listed_to_prune(members, newest), "listed to prune")
    held = newest.select("namespace").limit(0)
    # Mostly there is none: a join would shuffle all records first.
    if store.has_files(SNAPSHOT_MEMBERS) and jobs.has_rows(to_prune):
        prunable = found.members.where(F.col("hold").isNull()).select(*KEY)
        held = to_prune.join(prunable, list(KEY), "left_anti").select("namespace").distinct()
    damaged = snapshots.damaged(newest, covered, to_prune)
    verdicts = _verdicts(found, pruned, newest, damaged, held)
    return Planned(
        dialect, prunes, scope, found, pruned, to_prune, covered, jobs.checkpoint(verdicts, "verdicts on snapshots"),
        versions,
    )  # fmt: skip


def _verdicts(
    found: PrunePlan, pruned: DataFrame, newest: DataFrame, damaged: DataFrame, held: DataFrame
) -> DataFrame:
    ids = found.members.select(*KEY).unionByName(pruned.select(*KEY))
    if found.damaged is not None:
        damaged = damaged.unionByName(found.damaged).distinct()
    prefixed = newest.select("namespace", *(F.col(name).alias(f"s_{name}") for name in snapshots.STATED))
    states = found.states
    if "inputs" not in states.columns:
        states = states.withColumn("inputs", F.array().cast(INPUTS))
    joined = (
        states.join(snapshots.digests(ids, "ids"), "namespace", "left")
        .join(snapshots.applied(pruned), "namespace", "left")
        .join(prefixed, "namespace", "left")
        .join(damaged.withColumn("is_damaged", F.lit(True)), "namespace", "left")
        .join(held.withColumn("is_held", F.lit(True)), "namespace", "left")
    )  # fmt: skip
    return (
        joined.fillna(False, ["is_damaged", "is_held"])
        .fillna(0, ["ids_count"])
        .withColumn("ids", snapshots.or_empty("ids"))
    )


def has_base() -> Column:
    """True if the newest snapshot was taken on what is applied now, and is not applied itself."""
    is_applied = F.col("s_snapshot_id").eqNullSafe(F.col("applied_id"))
    return ~is_applied & F.col("s_base").eqNullSafe(F.col("applied_id"))
