"""One round of `gc` over a dialect: which records go, the proof, and the rows of `gc_run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.pruning import PruneScope, form_of
from strandline.frames.known import KEY
from strandline.frames.pruning import differing, row_hashes, totals
from strandline.pipelines import new_snapshots, prune_plans
from strandline.pipelines.prune_plans import BASE_MOVED, CONTRACT_MOVED, DAMAGED, HELD, Planned
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.store import TableStore

NOTHING, FAILED = "NOTHING_TO_PRUNE", "PROOF_FAILED"
SHOWN_DIFFERENCES: Final = 20
_COUNT: Final = "map<string,bigint>"
_STAYS: Final = (*KEY, "bucket", "alt_id", "kind", "generation", "skeleton")


@dataclass(frozen=True, slots=True)
class Round:
    """What a collection can do with the namespaces of a dialect.

    - `verdicts`: those of `Planned`, with `reason`, `is_usable` (the newest snapshot is applied), `is_refused`;
    - `chosen`: the members that go: rows of `PrunePlan.members`; `is_all`: that is all that may go;
    - `carries`: namespace, carry; `taken`: the new snapshots, as `new_snapshots.new_snapshots`;
    - `namespaces`: the number of rows of `verdicts`.
    """

    planned: Planned
    verdicts: DataFrame
    chosen: DataFrame
    is_all: bool
    carries: DataFrame
    taken: DataFrame
    namespaces: int


def choose(planned: Planned, min_prunable: int, jobs: SparkJobs) -> Round:
    """Choose what goes: what the newest snapshot lists if it can still be applied, else all that may go now.

    Of a namespace whose snapshot is damaged, and of one with fewer than `min_prunable` records, nothing goes.
    """
    judged = planned.verdicts.withColumn("reason", _reason(planned.scope))
    usable = F.col("reason").isNull() & F.col("s_snapshot_id").isNotNull() & prune_plans.has_base()
    judged = jobs.checkpoint(judged.withColumn("is_usable", usable), "choice of snapshots")
    is_damaged = F.col("reason") == DAMAGED
    namespaces, usable_count, damaged_count = jobs.row(
        judged.agg(F.count(F.lit(1)), F.count_if("is_usable"), F.count_if(is_damaged))
    )
    chosen = prunable = planned.prunable
    # Mostly no snapshot waits to be applied: joins by record would shuffle all that may go.
    if usable_count:
        using = judged.where("is_usable").select("namespace")
        only = planned.to_prune.join(using, "namespace", "left_semi")
        free = prunable.join(using, "namespace", "left_anti")
        chosen = free.unionByName(prunable.join(only, list(KEY), "left_semi"))
    if damaged_count:
        damaged = judged.where(is_damaged).select("namespace")
        chosen = chosen.join(damaged, "namespace", "left_anti")
    if chosen is not prunable:
        chosen = jobs.checkpoint(chosen, "what goes")
    carries = jobs.checkpoint(planned.prunes.carries_of(planned.plan, chosen), "carries")
    # A snapshot whose carry is not what its records add up to is damaged, too.
    compared = judged.join(carries, "namespace", "left")
    is_wrong = F.col("is_usable") & ~F.col("s_carry").eqNullSafe(F.col("carry"))
    judged = compared.withColumns(
        {
            "reason": F.when(is_wrong, F.lit(DAMAGED)).otherwise(F.col("reason")),
            "is_usable": F.col("is_usable") & ~is_wrong,
        }
    ).withColumn("is_refused", F.coalesce(is_damaged, F.lit(False)))
    judged = jobs.checkpoint(judged.drop("carry"), "verdicts on snapshots")
    sizes = jobs.checkpoint(
        chosen.groupBy("namespace").agg(F.count(F.lit(1)).alias("records")), "sizes of what goes"
    )
    kept = sizes.where(F.col("records") < min_prunable).select("namespace")
    out = judged.where("is_refused").select("namespace").unionByName(kept)
    marked = sizes.join(out.distinct().withColumn("is_out", F.lit(True)), "namespace", "left")
    going = F.when(F.col("is_out").isNull(), F.col("records"))
    found = jobs.row(marked.agg(F.sum("records").alias("chosen"), F.sum(going).alias("goes")))
    may_go, goes = found["chosen"] or 0, found["goes"] or 0
    is_narrowed = goes < may_go
    if chosen is not prunable:
        may_go = jobs.row(prunable.agg(F.count(F.lit(1)).alias("records")))["records"]
    if is_narrowed:
        chosen = jobs.checkpoint(chosen.join(out, "namespace", "left_anti"), "what goes")
    some = judged.join(marked.where("is_out IS NULL").select("namespace"), "namespace", "left_semi")
    taken = new_snapshots.new_snapshots(planned, some.where("NOT is_usable"), chosen, carries, jobs)
    taken = jobs.checkpoint(taken, "new snapshots")
    return Round(planned, judged, chosen, goes == may_go, carries, taken, namespaces)


def _reason(scope: PruneScope) -> Column:
    is_applied = F.col("s_snapshot_id").eqNullSafe(F.col("applied_id"))
    # What may be erased is said with each collection, so no snapshot of another one counts.
    is_erasing = F.lit(scope.erasing is not None)
    moved = (
        is_erasing
        | (F.col("s_skip_window") != scope.skip_window)
        | (F.col("s_reducer_version") != F.col("reducer_version"))
    )
    return (
        F.when(F.col("is_damaged"), F.lit(DAMAGED))
        .when(F.col("s_snapshot_id").isNull(), F.lit(None).cast("string"))
        .when(is_applied, F.lit(None).cast("string"))
        .when(~prune_plans.has_base(), F.lit(BASE_MOVED))
        .when(~F.col("s_inputs").eqNullSafe(F.col("inputs")), F.lit(BASE_MOVED))
        .when(moved, F.lit(CONTRACT_MOVED))
        .when(F.col("is_held"), F.lit(HELD))
    )


@dataclass(frozen=True, slots=True)
class Proved:
    """A proved round: the rows to append to `pruned_record`, one row of `gc_run` per namespace with something to tell.

    The rows are not computed yet: the append does that, once. `totals` of `runs` has the numbers of namespaces that are
    `proved` and `refused`, `pruned`, `bytes` and `buckets`. `lost` are places where the two reductions differ, at most
    SHOWN_DIFFERENCES of `lost_total`.
    """

    round: Round
    rows: DataFrame
    runs: DataFrame
    totals: Row
    lost: tuple[str, ...]
    lost_total: int


def prove(store: TableStore, found: Round, jobs: SparkJobs) -> Proved:
    """Reduce the namespaces again without what goes, and compare all rows; a namespace that differs is refused."""
    planned, chosen = found.planned, found.chosen
    bones = planned.prunes.skeletons_of(planned.plan, chosen, jobs).select(*_STAYS)
    reduced = planned.prunes.reduce_rest(planned.plan, bones, found.carries, store, jobs, planned.scope)
    names = jobs.checkpoint(bones.select("namespace").distinct(), "namespaces with something to prune")
    sides = {}
    for side, tables in (("before", planned.plan.reduced), ("after", reduced)):
        lasting = planned.prunes.lasting(tables, chosen)
        ours = {table: rows.join(names, "namespace", "left_semi") for table, rows in lasting.items()}
        sides[side] = jobs.persist(row_hashes(ours), f"rows {side}")
    compared = names.join(totals(sides["before"], "before"), "namespace", "left").join(
        totals(sides["after"], "after"), "namespace", "left"
    )
    is_equal = F.coalesce(F.col("before_hash") == F.col("after_hash"), F.lit(False))
    proofs = jobs.checkpoint(compared.withColumn("is_proved", is_equal), "proofs")
    lost: tuple[str, ...] = ()
    lost_total = 0
    if jobs.has_rows(proofs.where("NOT is_proved")):
        places = differing(sides["before"], sides["after"])
        first = places.orderBy("namespace", "place").limit(SHOWN_DIFFERENCES).collect()
        lost, lost_total = tuple(f"{row['namespace']} {row['place']}" for row in first), places.count()
    runs = jobs.checkpoint(_runs(store, found, proofs), "what is done")
    is_proved = F.col("outcome") == "PROVED"
    # All of it is computed now: of rows that are known to be few, the join below shuffles nothing.
    counted = jobs.row(
        runs.agg(
            F.count_if(is_proved).alias("proved"), F.count_if(F.col("outcome") == "REFUSED").alias("refused"),
            F.coalesce(F.sum("pruned"), F.lit(0)).alias("pruned"), F.coalesce(F.sum("bytes"), F.lit(0)).alias("bytes"),
            F.collect_set("bucket").alias("buckets"),
        )
    )  # fmt: skip
    ids = runs.where(is_proved).select("namespace", "snapshot_id")
    form = form_of(planned.dialect.info)
    rows = bones.join(ids, "namespace").select(
        "namespace", "bucket", "record_id", "alt_id", F.lit(form).alias("form"), "kind", "skeleton",
        "generation", "snapshot_id",
    )  # fmt: skip
    return Proved(found, rows, runs, counted, lost, lost_total)


def _runs(store: TableStore, found: Round, proofs: DataFrame) -> DataFrame:
    """Return the rows of `gc_run`, with the outcome PROVED where records may go now."""
    members, prunable = found.planned.plan.members, found.planned.prunable
    holds = _counted(members.where("hold IS NOT NULL"), "hold", "holds")
    kinds = _counted(prunable, "kind", "kinds")
    gone = found.chosen.groupBy("namespace").agg(
        F.count(F.lit(1)).alias("pruned"), F.sum("size").alias("bytes")
    )
    new = found.taken.select("namespace", F.col("snapshot_id").alias("new_id"))
    joined = found.verdicts
    for part in (holds, kinds, gone, proofs, new):
        joined = joined.join(part, "namespace", "left")
    concerned = joined.where("kinds IS NOT NULL OR is_refused")
    proved = F.coalesce("is_proved", F.lit(False))
    failed = F.col("is_proved").isNotNull() & ~proved
    outcome = (
        F.when(F.col("is_refused") | failed, F.lit("REFUSED"))
        .when(proved, F.lit("PROVED"))
        .otherwise(F.lit("DONE"))
    )
    reason = (
        F.when(failed, F.lit(FAILED))
        .when(F.col("is_refused") | proved, F.col("reason"))
        .otherwise(F.lit(NOTHING))
    )
    used = F.when(F.col("is_usable"), F.col("s_snapshot_id")).otherwise(F.col("new_id"))
    empty = F.map_from_arrays(F.array().cast("array<string>"), F.array().cast("array<bigint>"))
    goes = F.coalesce("pruned", F.lit(0).cast("bigint"))
    return concerned.select(
        "namespace", "bucket", F.lit(store.run_id).alias("run_id"), outcome.alias("outcome"), reason.alias("reason"),
        used.alias("snapshot_id"), F.lit(None).cast("bigint").alias("gc_number"), "before_hash", "after_hash",
        "before_rows", "after_rows", F.coalesce("holds", empty).alias("holds"),
        F.coalesce("kinds", empty).alias("kinds"),
        F.when(proved, goes).otherwise(F.lit(0).cast("bigint")).alias("pruned"),
        F.when(proved, F.coalesce("bytes", F.lit(0).cast("bigint"))).otherwise(F.lit(0).cast("bigint")).alias("bytes"),
        F.lit(None).cast("bigint").alias("delete_version"), F.lit(None).cast("timestamp").alias("vacuumed_at"),
    )  # fmt: skip


def _counted(rows: DataFrame, by: str, name: str) -> DataFrame:
    """Count rows by a column.  Gives: namespace, `name` (map of value to count).  Rows: one per namespace with rows."""
    counts = rows.groupBy("namespace", by).agg(F.count(F.lit(1)).alias("records"))
    pairs = F.map_from_entries(F.sort_array(F.collect_list(F.struct(by, "records")))).cast(_COUNT)
    return counts.groupBy("namespace").agg(pairs.alias(name))
