"""Pruning of logs: the holds of `reduce.pruning` as joins on the rows of a full reduction."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce as fold

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.pruning import PrunePlan, PruneScope, ReducedTables
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.reduce import KIND
from strandline.dialects.ipfslog.spark import logs
from strandline.dialects.ipfslog.spark.reduced_rows import ReducedRows
from strandline.dialects.ipfslog.spark.reduction import ConfiguredLogs, configured_logs
from strandline.dialects.ipfslog.spark.retained import Pruned, RetainedEntries, retained_entries
from strandline.dialects.ipfslog.spark.tables import DOCUMENTS, HEADS, TAILS, VIEW
from strandline.dialects.ipfslog.spark.write_lists import WriteLists, described
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches
from strandline.frames.pruning import GENERATION, boundary

_STATE = ("namespace", "record_count", "state_hash", "order_blocks", "document_groups", "reducer_version")


def plan(tables: Tables, jobs: Jobs, scope: PruneScope) -> PrunePlan:
    """Reduce logs from all of their entries, and say of each entry what keeps it."""
    asked = retained_entries(tables, jobs, scope.reduction.version).where(scope.is_asked())
    # No log is known: stored rows are not looked at.
    planned = configured_logs(asked, tables, jobs, scope.reduction, are_known=False)
    every = planned.retained
    reduced = planned.reduced(tables, jobs, scope.reduction)
    members = _members(every, reduced, scope.skip_window)
    states = described(reduced.states, every.lists).select(
        "namespace", "bucket", "state_hash", "reducer_version"
    )
    return PrunePlan(
        jobs.persist(members, "what keeps entries"), states, _tables(reduced, every.lists), planned,
        None if every.pruned is None else planned.configured.where("is_bereft").select("namespace"),
    )  # fmt: skip


def skeletons(plan: PrunePlan, chosen: DataFrame, jobs: Jobs) -> DataFrame:
    """Encode the skeletons of chosen entries."""
    planned: ConfiguredLogs = plan.context
    entries = planned.retained.entries.select(*kernels.ENTRY_COLUMNS)
    named = entries.join(chosen.select(*KEY), list(KEY), "left_semi")
    encoded = map_batches(named, kernels.encoded_skeletons, kernels.ENCODED_SCHEMA)
    return jobs.checkpoint(chosen.join(encoded, list(KEY), "left"), "skeletons")


def carries(plan: PrunePlan, chosen: DataFrame) -> DataFrame:
    """Encode the carry of each log of a plan."""
    planned: ConfiguredLogs = plan.context
    gone = chosen.select("namespace")
    if planned.retained.pruned is not None:
        gone = gone.unionByName(planned.retained.pruned.rows.select("namespace"))
    counts = gone.groupBy("namespace").agg(F.count(F.lit(1)).alias("pruned"))
    configured, lists = planned.configured, planned.retained.lists
    whole = configured if lists is None else lists.expanded(configured)
    carried = whole.select("namespace", "store", "write").join(counts, "namespace", "left")
    counted = carried.withColumn("pruned", F.coalesce("pruned", F.lit(0).cast("bigint")))
    return map_batches(counted.select(*kernels.CARRY_COLUMNS), kernels.carries, kernels.CARRY_SCHEMA)


def reduce_rest(
    plan: PrunePlan, gone: DataFrame, carries: DataFrame, tables: Tables, jobs: Jobs, scope: PruneScope
) -> ReducedTables:
    """Reduce the logs of a plan from the entries that stay and all skeletons."""
    planned: ConfiguredLogs = plan.context
    bones = gone.select(*KEY, "skeleton", "bucket")
    rest = planned.retained.without(Pruned(bones, carries.join(bones, "namespace", "left_semi")))
    return _tables(replace(planned, retained=rest).reduced(tables, jobs, scope.reduction), rest.lists)


def _tables(reduced: ReducedRows, lists: WriteLists | None) -> ReducedTables:
    return {**reduced.rows, STATES: described(reduced.states, lists).select(*_STATE)}


def _members(retained: RetainedEntries, reduced: ReducedRows, skip_window: int) -> DataFrame:
    """Say of each stored entry what keeps it: the first of `reduce.plan_log`.

    Gives:  as `PrunePlan.members`.
    Rows:   one per entry of a log that was reduced.
    """
    logs_ = reduced.states.select("namespace", "store")
    view = reduced.rows[VIEW].select("namespace", "record_id", "position", "mode")
    sizes = view.groupBy("namespace").agg(F.max("position").alias("entries"), F.max("mode").alias("mode"))
    entries = retained.entries.select(
        "namespace", "bucket", "record_id", F.octet_length("block").alias("size")
    )
    placed = entries.join(retained.hint(logs_), "namespace").join(retained.hint(sizes), "namespace", "left")
    found = placed.join(view.drop("mode"), list(KEY), "left")
    for flag, table in (("is_head", HEADS), ("is_tail", TAILS), ("in_document", DOCUMENTS)):
        named = reduced.rows[table].select(*KEY).distinct().withColumn(flag, F.lit(True))
        found = found.join(named, list(KEY), "left")
    rules = (
        (F.col("mode") == "walk", "WALK_MODE"),
        (~logs.has_documents(), "STORE_KEEPS_ALL"),
        (F.col("position").isNull(), "KIND_KEPT"),
        (F.col("is_head"), "HEAD"),
        (F.col("is_tail"), "TAIL"),
        (F.col("in_document"), "DOCUMENT_ROW"),
        (F.col("position") >= boundary(F.col("entries"), skip_window), "WINDOW"),
    )
    hold = fold(
        lambda rest, rule: F.when(rule[0], F.lit(rule[1])).otherwise(rest),
        reversed(rules),
        F.lit(None).cast("string"),
    )
    return found.select(
        "namespace", "bucket", "record_id", F.lit(KIND).alias("kind"), F.lit(None).cast("binary").alias("alt_id"),
        F.col("position").cast(GENERATION).alias("generation"), hold.alias("hold"),
        F.col("size").cast("bigint").alias("size"),
    )  # fmt: skip
