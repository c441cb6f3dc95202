"""`gc`: removes records that decide nothing any more, after a proof that no result changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce as fold
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.errors import FaultError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.pruning import Prunes
from strandline.pipelines import gc_runs, prune_plans
from strandline.pipelines.collections import Proved, choose, prove
from strandline.pipelines.gc_deletes import carry_out, still_shown
from strandline.pipelines.prune_plans import PRUNED, PruneRequest
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.prunings import append_pruned, next_number
from strandline.tables.store import TableStore, Written

ROUNDS: Final = 10
_COUNTS: Final = ("prunable", "pruned", "bytes", "refused", "finished", "erased", "still_shown")


@dataclass(frozen=True, slots=True)
class GcRequest(PruneRequest):
    """The arguments of `gc`: those of a plan, the least number of records worth a collection, and `what_if`."""

    min_prunable: int = 1
    what_if: bool = False


@dataclass(slots=True)
class _Done:
    """The results so far."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))
    written: dict[str, Written] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    holds: dict[str, dict[str, int]] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    namespaces: int = 0


def run(store: TableStore, dialects: Iterable[Dialect], request: GcRequest, context: RunContext) -> Report:
    """Remove what decides nothing any more from the record tables; or, with `what_if`, say what would go.

    1. Rows that `pruned_record` lists are deleted: a killed run left them, or an ingest that ran beside a collection.
    2. Each namespace is planned and its newest snapshot is judged; where it cannot be applied, a new one is taken.
    3. Two full reductions must give the same rows: `gc_run` then says PROVED.
    4. If a state of another namespace that a plan relies on has moved since, all begins again from 2. Else one append
       to `pruned_record` is the moment of pruning, for all namespaces.
    5. The rows are deleted from the record tables, and `gc_run` says DONE.

    `counts` has `prunable`, `pruned`, `bytes`, `refused` (namespaces), `finished` (rows of 1), `erased` (of `pruned`,
    those whose row stays without its body) and `still_shown` (places that show an erased body: forks, rejected copies).
    Members: `what_if`, `collections` (the first 1000 rows of `gc_run`), `holds` (by dialect and rule, how many records
    stay) and `differences` (rows that a failed proof found). A refused namespace ends the run with exit code 1.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, CONTRACT_OLDER, TABLE_MISSING, NAMESPACE_UNKNOWN,
    NAMESPACE_AMBIGUOUS, TABLE_APPEND_ONLY; FaultError WRITE_CONFLICT, GC_LOST_RACES.
    """
    lake.check_there(store)
    every = tuple(dialects)
    pairs = prune_plans.pruning_dialects(every, request)
    asked = request.dialects or tuple(each.info.name for each in every)
    gc_runs.check_tables(store, pairs)
    done = _Done()
    if not request.what_if:
        others = tuple(pair for pair in prune_plans.every_pruning(every) if pair[0].info.name in asked)
        done.counts["finished"], written = gc_runs.finish(store, others, context)
        done.written |= written
    last = 0
    for _ in range(ROUNDS):
        used = _round(store, every, pairs, request, context, done, last)
        if used is None:
            break
        last = used
    else:
        raise FaultError(
            "GC_LOST_RACES",
            f"Other collections were faster {ROUNDS} times; this run pruned nothing.",
            "Run `strandline gc` again when no other collection is running.",
        )
    done.holds |= gc_runs.kept_by_others(store, every, pairs, request.dialects)
    return record_run(
        store, context, outcome="found" if done.counts["refused"] else "ok", counts=done.counts,
        namespaces=done.namespaces, read_versions=done.read, written=done.written,
        members={
            "what_if": request.what_if, "skip_window": request.skip_window, "collections": done.rows,
            "holds": done.holds, "differences": done.differences,
        },
    )  # fmt: skip


def _round(
    store: TableStore,
    every: tuple[Dialect, ...],
    pairs: Iterable[tuple[Dialect, Prunes]],
    request: GcRequest,
    context: RunContext,
    done: _Done,
    last: int,
) -> int | None:
    """Plan, prove and prune once. Return None if that is done, else the greatest number that is used up.

    `last` is the one of the round before.
    """
    version = store.version(PRUNED)
    number = max(next_number(store, version), last + 1)
    pairs = [pair for pair in pairs if store.stored_bytes(pair[0].info.record_table)]
    work_bytes = sum(store.stored_bytes(dialect.info.record_table) for dialect, _ in pairs)
    with store.sized(work_bytes), SparkJobs(context.progress) as jobs:
        chosen = prune_plans.named(store, every, request.namespaces, jobs)
        excluded = prune_plans.named(store, every, request.excluded, jobs)
        proved = []
        for pair in pairs:
            if chosen and pair[0].info.name not in chosen:
                continue
            planned = prune_plans.plan(store, pair, request, chosen, excluded, context, jobs)
            done.read |= planned.versions
            found = choose(planned, request.min_prunable, jobs)
            if not request.what_if:
                done.written |= prune_plans.write_snapshots(
                    store, planned, found.taken, found.chosen, context, jobs
                )
            context.progress.stage("proving that no result changes")
            proved.append(prove(store, found, jobs))
        _total(proved, request, jobs, done)
        if not proved:
            return None
        return _write(store, proved, request, context, done, number, jobs)


def _write(
    store: TableStore,
    proved: list[Proved],
    request: GcRequest,
    context: RunContext,
    done: _Done,
    number: int,
    jobs: SparkJobs,
) -> int | None:
    runs = fold(DataFrame.unionByName, (each.runs for each in proved))
    if request.what_if:
        done.written |= gc_runs.write_runs(store, runs.withColumn("outcome", _what_if()))
        done.rows = gc_runs.shown(runs.withColumn("outcome", _what_if()))
        return None
    done.written |= gc_runs.write_runs(store, runs)
    context.faults.reach("gc.proved")
    rows = fold(DataFrame.unionByName, (each.rows for each in proved))
    if not jobs.has_rows(rows):
        done.rows = gc_runs.shown(runs)
        return None
    if not all(_still_holds(store, each, jobs) for each in proved):
        _give_up(store, runs, "VOID", done)
        return number - 1
    context.progress.stage("pruning")
    marked = rows.withColumns({"run_id": F.lit(store.run_id), "gc_number": F.lit(number).cast("bigint")})
    if not append_pruned(store, marked, number):
        _give_up(store, runs, "LOST_RACE", done)
        return number
    context.faults.reach("gc.pruned")
    closed = []
    for each in proved:
        deleted = _delete(store, each, jobs, done, context)
        is_proved = F.col("outcome") == "PROVED"
        closed.append(
            each.runs.withColumns(
                {
                    "gc_number": F.when(is_proved, F.lit(number).cast("bigint")),
                    "delete_version": F.when(is_proved, F.lit(deleted).cast("bigint")),
                    "outcome": F.when(is_proved, F.lit("DONE")).otherwise(F.col("outcome")),
                }
            )
        )
    context.faults.reach("gc.deleted")
    finished = fold(DataFrame.unionByName, closed)
    done.written |= gc_runs.write_runs(store, finished)
    done.rows = gc_runs.shown(finished)
    return None


def _still_holds(store: TableStore, proved: Proved, jobs: SparkJobs) -> bool:
    """Return whether a plan relies on what is so now; without new records nothing has moved."""
    planned = proved.round.planned
    table = planned.dialect.info.record_table
    is_old = store.version(table) != planned.versions[table]
    return not is_old or planned.prunes.still_holds(planned.plan, store, jobs)


def _give_up(store: TableStore, runs: DataFrame, outcome: str, done: _Done) -> None:
    """Close the proved rows of a round that prunes nothing."""
    lost = runs.where("outcome = 'PROVED'").withColumn("outcome", F.lit(outcome))
    done.written |= gc_runs.write_runs(store, lost.withColumn("pruned", F.lit(0).cast("bigint")))


def _delete(
    store: TableStore, proved: Proved, jobs: SparkJobs, done: _Done, context: RunContext
) -> int | None:
    """Delete or erase the pruned rows of a dialect; return the version of its record table after that."""
    info = proved.round.planned.dialect.info
    buckets = jobs.row(proved.rows.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
    if not buckets:
        return None
    context.faults.reach("gc.delete")
    done.written[info.record_table] = carry_out(store, info, proved.rows, tuple(sorted(buckets)))
    if info.erasable is not None:
        done.counts["erased"] += jobs.row(proved.rows.agg(F.count(F.lit(1)).alias("rows")))["rows"]
        done.counts["still_shown"] += still_shown(store, proved.rows, jobs)
    return done.written[info.record_table].version


def _what_if() -> Any:
    return F.when(F.col("outcome") == "REFUSED", F.lit("REFUSED")).otherwise(F.lit("WHAT_IF"))


def _total(proved: Iterable[Proved], request: GcRequest, jobs: SparkJobs, done: _Done) -> None:
    """Count a round: what stays and why, and what is proved to go."""
    done.counts |= dict.fromkeys(("prunable", "pruned", "bytes", "refused"), 0)
    done.namespaces, done.differences, done.holds = 0, [], {}
    for each in proved:
        planned = each.round.planned
        total = jobs.row(
            each.runs.agg(
                F.coalesce(F.sum("pruned"), F.lit(0)).alias("pruned"),
                F.coalesce(F.sum("bytes"), F.lit(0)).alias("bytes"),
                F.count_if(F.col("outcome") == "REFUSED").alias("refused"),
            )
        )  # fmt: skip
        done.counts["prunable"] += total["pruned"]
        done.counts["pruned"] += 0 if request.what_if else total["pruned"]
        done.counts["bytes"] += total["bytes"]
        done.counts["refused"] += total["refused"]
        counts = planned.plan.members.where("hold IS NOT NULL").groupBy("hold").count()
        rows = jobs.row(counts.agg(F.collect_list(F.struct("hold", "count")).alias("holds")))["holds"]
        done.holds[planned.dialect.info.name] = {row["hold"]: row["count"] for row in sorted(rows)}
        done.differences += each.lost
        done.namespaces += jobs.row(planned.verdicts.agg(F.count(F.lit(1)).alias("rows")))["rows"]
