"""The snapshots that `snapshot` and `gc` take: their ids, their rows, and the members that they list."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import PRUNED, SNAPSHOT_MEMBERS, SNAPSHOTS
from strandline.frames import snapshots
from strandline.frames.buckets import bucket_of
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches
from strandline.frames.pruning import GENERATION
from strandline.kernels.snapshots import SNAPSHOT_COLUMNS, SNAPSHOT_ID_SCHEMA, snapshot_ids
from strandline.pipelines.prune_plans import Planned
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.store import TableStore
from strandline.tables.written import Written


def new_snapshots(
    planned: Planned, verdicts: DataFrame, chosen: DataFrame, carries: DataFrame, jobs: SparkJobs
) -> DataFrame:
    """Return the snapshots to take of namespaces, with their ids.

    Reads:  verdicts: rows of `Planned.verdicts`; chosen: namespace, record_id; carries: namespace, carry.
    Gives:  the columns of `snapshot` without run_id, and is_damaged (that of the one before).
    Rows:   one per row of `verdicts`.
    """
    digests = snapshots.digests(chosen.select(*KEY), "prune")
    filled = verdicts.join(digests, "namespace", "left").join(carries, "namespace").select(
        "namespace", "bucket", "is_damaged", "state_hash", "carry", "reducer_version", "inputs",
        F.col("applied_id").alias("base"), F.col("ids").alias("members_digest"),
        (F.coalesce("s_sequence", F.lit(0)) + 1).cast(GENERATION).alias("sequence"),
        snapshots.or_empty("prune").alias("prune_digest"), F.col("ids_count").alias("record_count"),
        F.coalesce("prune_count", F.lit(0).cast("bigint")).alias("prune_count"),
    )  # fmt: skip
    # It is read twice: the digest of all that goes is made once.
    filled = jobs.checkpoint(filled, "digests of what goes")
    made = map_batches(filled.select(*SNAPSHOT_COLUMNS), snapshot_ids, SNAPSHOT_ID_SCHEMA)
    info, none = planned.dialect.info, F.lit(None)
    constant = {
        "origin": F.lit("local"), "dialect": F.lit(info.name), "status": none.cast("string"),
        "state": none.cast("binary"),
        "skip_window": F.lit(planned.scope.skip_window).cast("bigint"),
        "record_version": F.lit(planned.versions[info.record_table]).cast("bigint"),
        "pruned_version": F.lit(planned.versions[PRUNED]).cast("bigint"),
    }  # fmt: skip
    return filled.join(made, "namespace").withColumns(constant)


def write_snapshots(
    store: TableStore,
    planned: Planned,
    taken: DataFrame,
    chosen: DataFrame | None,
    context: RunContext,
    jobs: SparkJobs,
) -> dict[str, Written]:
    """Write members, then the snapshots, whose rows are the commit points. A killed run leaves members without one.

    Reads:  taken: `new_snapshots`, computed; chosen: namespace, record_id, or None: all that may go.
    """
    buckets = jobs.row(taken.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
    if not buckets:
        return {}
    place = tuple(sorted(buckets))
    context.progress.stage("writing snapshots")
    members = _member_rows(store, planned, taken, chosen, jobs)
    written = {SNAPSHOT_MEMBERS: store.merge_new(SNAPSHOT_MEMBERS, members, place, {})}
    context.faults.reach("snapshot.members")
    rows = taken.withColumn("run_id", F.lit(store.run_id))
    written[SNAPSHOTS] = store.merge_new(SNAPSHOTS, rows, place, {})
    context.faults.reach("snapshot.row")
    return written


def _member_rows(
    store: TableStore, planned: Planned, taken: DataFrame, chosen: DataFrame | None, jobs: SparkJobs
) -> DataFrame:
    """Return what new snapshots list: what no earlier one lists, and what can be pruned; after damage all.

    A join by record shuffles all members, so there is none with what is empty.
    """
    of = taken.select("namespace", "snapshot_id", "is_damaged")
    stays, columns = planned.plan.members, (*KEY, "generation", "hold", "prune")
    if chosen is None:
        stays = stays.withColumn("prune", F.col("hold").isNull())
    else:
        flagged = chosen.select(*KEY).withColumn("prune", F.lit(True))
        stays = stays.join(flagged, list(KEY), "left").fillna(False, ["prune"])
    every = stays.select(*columns)
    if jobs.has_rows(planned.pruned):
        every = every.join(planned.pruned.select(*KEY), list(KEY), "left_anti")
        nothing = {"hold": F.lit(None).cast("string"), "prune": F.lit(False)}
        every = every.unionByName(planned.pruned.withColumns(nothing).select(*columns))
    every = every.join(of, "namespace")
    if jobs.has_rows(planned.covered):
        listed = planned.covered.withColumn("is_listed", F.lit(True))
        every = every.join(listed, list(KEY), "left").fillna(False, ["is_listed"])
        every = every.where("prune OR is_damaged OR NOT is_listed")
    return every.select(
        *KEY,
        bucket_of(F.col("namespace"), store.buckets).alias("bucket"),
        "snapshot_id",
        "prune",
        "hold",
        "generation",
    )
