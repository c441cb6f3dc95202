"""One round of `gc`: plan, prove, prune by one append, delete; and the totals of all rounds of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import PRUNED
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.pruning import Prunes, form_of
from strandline.frames.known import pruned_records
from strandline.frames.union import union
from strandline.pipelines import gc_runs, new_snapshots, prune_plans
from strandline.pipelines.collections import Proved, choose, prove
from strandline.pipelines.gc_deletes import carry_out, still_shown
from strandline.pipelines.named_namespaces import Named
from strandline.pipelines.prune_plans import PruneRequest
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.commits import session_settings
from strandline.tables.prunings import append_pruned, appended, next_number
from strandline.tables.store import TableStore
from strandline.tables.work_settings import KEYS_HASHED
from strandline.tables.written import Written, add_written

_COUNTS: Final = (
    "prunable", "pruned", "bytes", "refused", "finished", "erased", "still_shown", "archived", "unarchived",
    "compacted_files", "written_files", "removed_files",
)  # fmt: skip


@dataclass(slots=True)
class Done:
    """The results of a run so far."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))
    written: dict[str, Written] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    holds: dict[str, dict[str, int]] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    differences_total: int = 0
    namespaces: int = 0


@dataclass(frozen=True, slots=True)
class CollectRequest(PruneRequest):
    """The arguments of a round: those of a plan, the least number of records worth a collection, and `what_if`."""

    min_prunable: int = 1
    what_if: bool = False


def collect(
    store: TableStore,
    pairs: Iterable[tuple[Dialect, Prunes]],
    request: CollectRequest,
    names: Named,
    context: RunContext,
    done: Done,
    last: int,
) -> int | None:
    """Plan, prove and prune once. Return None if the round is complete, else the greatest collection number in use.

    `last` is the number that the round before returned.
    """
    version = store.version(PRUNED)
    number = max(next_number(store, version), last + 1)
    pairs = [pair for pair in pairs if store.stored_bytes(pair[0].info.record_table)]
    work_bytes = sum(store.stored_bytes(dialect.info.record_table) for dialect, _ in pairs)
    tables = {table for dialect, _ in pairs for table in dialect.info.tables}
    hashed = session_settings(store.spark, KEYS_HASHED)
    with store.sized(work_bytes, tables), hashed, SparkJobs(context.progress) as jobs:
        proved, left = [], gc_runs.pruned_before(store, jobs)
        for pair in pairs:
            if names.leaves_out(pair[0].info.name):
                continue
            planned = prune_plans.plan(store, pair, request, names, context, jobs).without(left)
            done.read |= planned.versions
            found = choose(planned, request.min_prunable, jobs)
            if not request.what_if:
                chosen = None if found.is_all else found.chosen
                taken = new_snapshots.write_snapshots(store, planned, found.taken, chosen, context, jobs)
                add_written(done.written, taken)
            context.progress.stage("proving that no result changes")
            proved.append(prove(store, found, jobs))
        _total(proved, request, jobs, done)
        if not proved:
            return None
        return _write(store, proved, request, context, done, number, version, jobs)


def _write(
    store: TableStore,
    proved: list[Proved],
    request: CollectRequest,
    context: RunContext,
    done: Done,
    number: int,
    version: int,
    jobs: SparkJobs,
) -> int | None:
    """Prune the proved records; return as `collect`. `number` is tried first, `version` is that of `pruned_record`."""
    runs = union(each.runs for each in proved)
    buckets = {bucket for each in proved for bucket in each.totals["buckets"]}
    if request.what_if:
        runs = runs.withColumn("outcome", _what_if())
        add_written(done.written, gc_runs.write_runs(store, runs, "", buckets))
        done.rows = gc_runs.shown(runs)
        return None
    add_written(done.written, gc_runs.write_runs(store, runs, "", buckets))
    context.faults.reach("gc.proved")
    if not any(each.totals["proved"] for each in proved):
        done.rows = gc_runs.shown(runs)
        return None
    if not all(_still_holds(store, each, jobs) for each in proved):
        _give_up(store, runs, "VOID", done)
        return number - 1
    context.progress.stage("pruning")
    rows = union(each.rows for each in proved)
    appended = _append(store, rows, number, version)
    if appended is None:
        _give_up(store, runs, "LOST_RACE", done)
        return number
    context.faults.reach("gc.pruned")
    done.written[PRUNED] = Written(store.version(PRUNED))
    closed = []
    for each in proved:
        deleted = _delete(store, each, appended, jobs, done, context)
        is_proved = F.col("outcome") == "PROVED"
        closed.append(
            each.runs.withColumns(
                {
                    "gc_number": F.when(is_proved, F.lit(appended).cast("bigint")),
                    "delete_version": F.when(is_proved, F.lit(deleted).cast("bigint")),
                    "outcome": F.when(is_proved, F.lit("DONE")).otherwise(F.col("outcome")),
                }
            )
        )
    context.faults.reach("gc.deleted")
    finished = union(closed)
    add_written(done.written, gc_runs.write_runs(store, finished, "", buckets))
    done.rows = gc_runs.shown(finished)
    return None


def _append(store: TableStore, rows: DataFrame, number: int, version: int) -> int | None:
    """Append pruned records as one collection. Return its number, or None if another run was faster.

    Delta skips each transaction number that it has seen, also that of a collection whose rows a RESTORE removed. If
    nobody changed the table since `version`, the next number is tried.
    """
    while True:
        ours = {"run_id": F.lit(store.run_id), "gc_number": F.lit(number).cast("bigint")}
        if append_pruned(store, rows.withColumns(ours), number):
            return number
        if store.version(PRUNED) != version:
            return None
        number += 1


def _still_holds(store: TableStore, proved: Proved, jobs: SparkJobs) -> bool:
    """Return whether the states that a plan relies on are still current; without new records they are."""
    planned = proved.round.planned
    table = planned.dialect.info.record_table
    is_old = store.version(table) != planned.versions[table]
    return not is_old or planned.prunes.still_holds(planned.plan, store, jobs)


def _give_up(store: TableStore, runs: DataFrame, outcome: str, done: Done) -> None:
    """Close the proved rows of a round that prunes nothing."""
    lost = runs.where("outcome = 'PROVED'").withColumn("outcome", F.lit(outcome))
    add_written(done.written, gc_runs.write_runs(store, lost.withColumn("pruned", F.lit(0).cast("bigint"))))


def _delete(
    store: TableStore, proved: Proved, number: int, jobs: SparkJobs, done: Done, context: RunContext
) -> int | None:
    """Delete or erase the pruned rows of a dialect; return the version of its record table after that.

    They are read from `pruned_record`, so that the MERGE does not compute the plan a second time.
    """
    planned = proved.round.planned
    info = planned.dialect.info
    rows = pruned_records(appended(store, number), info.kinds, form_of(info))
    removed = carry_out(store, planned.dialect, planned.prunes, rows, jobs, context)
    if not removed.records:
        return None
    add_written(done.written, removed.written)
    done.written[PRUNED] = replace(
        done.written[PRUNED], inserted=done.written[PRUNED].inserted + removed.records
    )
    if info.erasable is not None:
        done.counts["erased"] += removed.records
        done.counts["still_shown"] += still_shown(store, rows, jobs)
    return removed.written[info.record_table].version


def _what_if() -> Column:
    return F.when(F.col("outcome") == "REFUSED", F.lit("REFUSED")).otherwise(F.lit("WHAT_IF"))


def _total(proved: Iterable[Proved], request: CollectRequest, jobs: SparkJobs, done: Done) -> None:
    """Add up a round: the records that stay, by rule, and those proved to be prunable."""
    done.counts |= dict.fromkeys(("prunable", "pruned", "bytes", "refused"), 0)
    done.namespaces, done.differences, done.differences_total, done.holds = 0, [], 0, {}
    for each in proved:
        planned = each.round.planned
        total = each.totals
        done.counts["prunable"] += total["pruned"]
        done.counts["pruned"] += 0 if request.what_if else total["pruned"]
        done.counts["bytes"] += total["bytes"]
        done.counts["refused"] += total["refused"]
        counts = planned.plan.members.where("hold IS NOT NULL").groupBy("hold").count()
        rows = jobs.row(counts.agg(F.collect_list(F.struct("hold", "count")).alias("holds")))["holds"]
        done.holds[planned.dialect.info.name] = {row["hold"]: row["count"] for row in sorted(rows)}
        done.differences += each.lost
        done.differences_total += each.lost_total
        done.namespaces += each.round.namespaces
