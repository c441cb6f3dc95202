"""`reduce`: brings the reduced tables up to the record tables, at a cost that follows the news."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.base import Dialect, ReduceScope, Reduction, Refusal
from strandline.dialect_api.journals import JournalOptions
from strandline.pipelines import init, reducer_options
from strandline.pipelines.init import InitOptions
from strandline.pipelines.local_journals import write_peers
from strandline.pipelines.rebuild_diff import STATES, delete_strays, differences, with_nulls
from strandline.pipelines.reducer_options import GivenFile, ReducerOptions
from strandline.pipelines.report import Report, ReportError
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.store import TableStore, Written

LARGE_CHANGES: Final = 1_000_000
"""From so many new records on what is kept of them is kept on disk; if they outnumber the others, all is reduced."""


@dataclass(frozen=True, slots=True)
class ReduceRequest:
    """What `reduce` was asked for: `full` reduces everything again and names what differs.

    `files` are the files given for dialects' reducer options, by option: None drops the one in force. A namespace of
    more than `walk_entries` records is not held by one task. `own` are the own nodes, by dialect, whose peers are
    looked at.
    """

    full: bool = False
    files: Mapping[str, GivenFile | None] = field(default_factory=dict)
    walk_entries: int = 10_000_000
    own: Mapping[str, JournalOptions] = field(default_factory=dict)


@dataclass(slots=True)
class Done:
    """What a reduction did so far."""

    written: dict[str, Written] = field(default_factory=dict)
    read_versions: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {"new_records": 0, "reduced": 0})
    namespaces: int = 0
    differences: dict[str, list[str]] = field(default_factory=dict)
    refused: dict[str, Refusal] = field(default_factory=dict)
    members: dict[str, Any] = field(default_factory=dict)


def run(
    store: TableStore, dialects: Iterable[Dialect], request: ReduceRequest, context: RunContext
) -> Report:
    """Reduce what came since the last time; with `full` then everything again, which must change no row.

    Writes a MERGE a table, `namespace_state` last: views join on it, so that no reader sees a namespace half updated.
    Namespaces that a limit forbids are left as they are and named, with the outcome `fault`, after all others.
    Raises: UsageError (a lake that is not ours, a file that a dialect refuses), FaultError WRITE_CONFLICT.
    """
    dialects = tuple(dialects)
    reducer_options.check(dialects, request.files)
    lake.require(store, init.design(InitOptions(), dialects))
    done = reduce_tables(store, dialects, request, context)
    error = refusal_of(done)
    return record_run(
        store, context, outcome="fault" if error else "found" if done.differences else "ok", counts=done.counts,
        namespaces=done.namespaces, read_versions=done.read_versions, written=done.written, members=done.members,
        error=error,
    )  # fmt: skip


def refusal_of(done: Done) -> ReportError | None:
    """Return the error of a run that left namespaces as they are, since a limit forbids to reduce them, or None."""
    refused = tuple(done.refused.values())
    if not refused:
        return None
    more = f" {len(refused) - 1} more likewise." if len(refused) > 1 else ""
    return ReportError(
        "REDUCE_LIMIT",
        f"{refused[0].message}{more}",
        "Everything else was reduced. Give the machine memory and raise the limit, or leave out the writer.",
    )


def reduce_tables(
    store: TableStore, dialects: Iterable[Dialect], request: ReduceRequest, context: RunContext
) -> Done:
    """Do what `run` does, on a lake that is there, and leave the run's row to the caller."""
    dialects = tuple(dialects)
    held = {dialect.name: store.stored_bytes(dialect.record_table) for dialect in dialects}
    # What runs were told is looked up among all of them: not for a dialect of which nothing is held.
    asking = [dialect for dialect in dialects if held[dialect.name] or request.files]
    in_force = reducer_options.in_force(store, asking, request.files)
    for note in in_force.notes:
        context.progress.note(note)
    done = Done(members=dict(in_force.members))
    for dialect in dialects:
        _reduce_tables(store, dialect, held[dialect.name], request, in_force, context, done)
    done.members[reducer_options.REFUSED] = sorted(done.refused)
    if request.full:
        done.members["differences"] = done.differences
    return done


def _reduce_tables(
    store: TableStore,
    dialect: Dialect,
    record_bytes: int,
    request: ReduceRequest,
    in_force: ReducerOptions,
    context: RunContext,
    done: Done,
) -> None:
    own = request.own.get(dialect.name)
    done.read_versions[dialect.record_table] = last = store.version(dialect.record_table)
    with store.sized(record_bytes), SparkJobs(context.progress) as jobs:
        if record_bytes:
            _reduce(store, dialect, request, in_force, last, context, jobs, done)
        if own is not None:
            for table, written in write_peers(store, own, last, context).items():
                _add(done, table, written)


def _reduce(
    store: TableStore,
    dialect: Dialect,
    request: ReduceRequest,
    in_force: ReducerOptions,
    last: int,
    context: RunContext,
    jobs: SparkJobs,
    done: Done,
) -> None:
    states = store.read(STATES).where(F.col("dialect") == dialect.name)
    stored = jobs.row(
        states.agg(F.max("reduced_version").alias("version"), F.sum("record_count").alias("records"))
    )
    before = stored["version"]
    side_versions = {table: store.version(table) for table in dialect.side_tables}
    done.read_versions.update(side_versions)
    scope = ReduceScope(
        before, last, context.run_id, context.started_at, side_versions, in_force.values.get(dialect.name),
        request.walk_entries, in_force.retry_namespaces.get(dialect.name, ()),
    )  # fmt: skip
    asked_anyway = dialect.reducer_option is not None
    if before is None:
        _write(store, dialect.reduce_all(store, jobs, scope), context, jobs, done)
    elif last > before or asked_anyway:
        feed = _news(store, dialect, before, last)
        if feed is None:
            context.progress.note(
                f"the log of {dialect.record_table} no longer tells what came since version {before}: all is reduced"
            )
            _write(store, dialect.reduce_all(store, jobs, scope), context, jobs, done)
            return
        context.progress.stage("change feed")
        found = jobs.row(feed.agg(F.count(F.lit(1)).alias("rows")))["rows"]
        done.counts["new_records"] += found
        if found >= LARGE_CHANGES:
            jobs.persist_on_disk()
        if found >= LARGE_CHANGES and found > stored["records"]:
            context.progress.note(f"{found:,} news are more than there was before: all is reduced")
            _write(store, dialect.reduce_all(store, jobs, scope), context, jobs, done)
        elif found or asked_anyway:
            _write(store, dialect.reduce_new(feed, store, jobs, scope), context, jobs, done)
    if request.full and before is not None:
        again = dialect.reduce_all(store, jobs, scope)
        differing = differences(store, dialect, again)
        if differing:
            done.differences.update(differing)
            _write(store, again, context, jobs, done)
            delete_strays(store, dialect, again, jobs)


def _news(store: TableStore, dialect: Dialect, before: int, last: int) -> DataFrame | None:
    """Return the records that came since, maybe none, or None if the log no longer tells."""
    if last > before:
        return store.changes_since(dialect.record_table, before, last)
    return store.read_version(dialect.record_table, last).limit(0)


def _write(store: TableStore, reduction: Reduction, context: RunContext, jobs: SparkJobs, done: Done) -> None:
    done.refused.update({each.namespace: each for each in reduction.refused})
    states = jobs.checkpoint(with_nulls(store, reduction.states), "states")
    found = jobs.row(states.agg(F.count(F.lit(1)).alias("rows"), F.collect_set("bucket").alias("buckets")))
    if not found["rows"]:
        return
    done.namespaces += found["rows"]
    done.counts["reduced"] += found["rows"]
    buckets = tuple(sorted(found["buckets"]))
    for table, rows in reduction.tables.items():
        context.progress.stage(table)
        deletes = reduction.deletes.get(table)
        # Of a table without a file nothing can go: to see that costs less than to look for it.
        if deletes is not None and not (store.stored_bytes(table) and jobs.has_rows(deletes)):
            deletes = None
        if deletes is not None or jobs.has_rows(rows):
            bounds = reduction.bounds.get(table, {})
            _add(done, table, store.replace(table, rows, buckets, deletes, bounds))
        context.faults.reach(f"reduce.{table}")
    context.faults.reach("reduce.before_state")
    context.progress.stage(STATES)
    _add(done, STATES, store.replace(STATES, states, buckets))


def _add(done: Done, table: str, written: Written) -> None:
    before = done.written.get(table, Written(0))
    done.written[table] = Written(written.version, before.inserted + written.inserted)
