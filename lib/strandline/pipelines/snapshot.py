"""`snapshot`: states what namespaces reduce to, which records that covers, and which of them can be pruned."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.dialect import Dialect
from strandline.pipelines import named_namespaces, new_snapshots, prune_plans
from strandline.pipelines.prune_plans import Planned, PruneRequest
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.store import TableStore
from strandline.tables.written import Written, add_written


def run(store: TableStore, dialects: Iterable[Dialect], request: PruneRequest, context: RunContext) -> Report:
    """Take a snapshot of each namespace that changed since its last one. Nothing is pruned.

    A namespace has changed if its records, its reducer, the skip window or what is applied differ, or if its last
    snapshot is damaged; then the new one lists all members again. `counts` has `snapshots`, `covered` and `prunable`
    (records of the new snapshots), and `damaged` (snapshots that were changed). The member `without_snapshots` has the
    dialects that the request names, itself or by a namespace, and that keep their records.

    A kill leaves members without a snapshot, which are ignored; the same command then takes the same snapshots.
    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, CONTRACT_OLDER, TABLE_MISSING; NAMESPACE_UNKNOWN,
    NAMESPACE_AMBIGUOUS; FaultError WRITE_CONFLICT.
    """
    lake.check_there(store)
    every = tuple(dialects)
    counts = dict.fromkeys(("snapshots", "covered", "prunable", "damaged"), 0)
    written: dict[str, Written] = {}
    read: dict[str, int] = {}
    namespaces = 0
    names = named_namespaces.named(store, every, request, context)
    pairs = prune_plans.pruning_dialects(every, request)
    without = sorted({*request.dialects, *names.chosen} - {dialect.info.name for dialect, _ in pairs})
    for name in without:
        context.progress.note(f"namespaces of {name} have no snapshots: it keeps its records")
    with SparkJobs(context.progress) as jobs:
        for pair in pairs:
            work_bytes = store.stored_bytes(pair[0].info.record_table)
            if not work_bytes or names.leaves_out(pair[0].info.name):
                continue
            with store.sized(work_bytes, pair[0].info.tables):
                planned = prune_plans.plan(store, pair, request, names, context, jobs)
                read |= planned.versions
                taken = _taken(planned, jobs)
                add_written(
                    written, new_snapshots.write_snapshots(store, planned, taken, None, context, jobs)
                )
                total = jobs.row(
                    taken.agg(
                        F.count(F.lit(1)).alias("snapshots"), F.sum("record_count").alias("covered"),
                        F.sum("prune_count").alias("prunable"), F.count_if("is_damaged").alias("damaged"),
                    )
                )  # fmt: skip
                counts = {name: count + (total[name] or 0) for name, count in counts.items()}
                namespaces += planned.verdicts.count()
    members = {"skip_window": request.skip_window, "without_snapshots": without}
    result = RunResult(
        counts=counts, namespaces=namespaces, read_versions=read, written=written, members=members
    )
    return record_run(store, context, result)


def _taken(planned: Planned, jobs: SparkJobs) -> DataFrame:
    """Return the snapshots of changed namespaces. They can prune all that may go."""
    prunable = planned.prunable
    carries = jobs.checkpoint(planned.prunes.carries_of(planned.plan, prunable), "carries")
    # A snapshot that says the same has the sequence and the base of the last one, and so its id.
    same = planned.verdicts.withColumns(
        {"s_sequence": F.col("s_sequence") - 1, "applied_id": F.col("s_base")}
    ).where("s_sequence IS NOT NULL")
    again = new_snapshots.new_snapshots(planned, same, prunable, carries, jobs)
    unchanged = (
        planned.verdicts.where(
            ~F.col("is_damaged") & (F.col("s_skip_window") == planned.scope.skip_window)
            & F.col("s_base").eqNullSafe(F.col("applied_id")) & (F.col("s_reducer_version") == F.col("reducer_version"))
        )
        .select("namespace", F.col("s_snapshot_id").alias("snapshot_id"))
        .join(again.select("namespace", "snapshot_id"), ["namespace", "snapshot_id"], "left_semi")
    )  # fmt: skip
    changed = planned.verdicts.join(unchanged, "namespace", "left_anti")
    taken = new_snapshots.new_snapshots(planned, changed, prunable, carries, jobs)
    return jobs.checkpoint(taken, "new snapshots")
