"""`reduce`: brings the reduced tables up to the record tables, at a cost that follows the news."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.journals import journal_writer
from strandline.dialect_api.reduction import ReduceScope, Reduction, Refusal
from strandline.pipelines import init, reducer_options
from strandline.pipelines.init import InitOptions
from strandline.pipelines.local_journals import write_peers
from strandline.pipelines.rebuild_diff import STATES, delete_strays, differences, with_nulls
from strandline.pipelines.reducer_options import ReducerOptions
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

    `files` are the files given for sticky options, by option: None drops the one in force. A namespace of more than
    `walk_entries` records is not held by one task. `options` is, by dialect, what its `parse_options` returned.
    """

    full: bool = False
    files: Mapping[str, GivenOption | None] = field(default_factory=dict)
    walk_entries: int = 10_000_000
    options: Mapping[str, object] = field(default_factory=dict)


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
    held = {dialect.info.name: store.stored_bytes(dialect.info.record_table) for dialect in dialects}
    # What runs were told is looked up among all of them: not for a dialect of which nothing is held.
    asking = [dialect for dialect in dialects if held[dialect.info.name] or request.files]
    resolved = reducer_options.resolve(store, asking, request.files)
    for note in resolved.notes:
        context.progress.note(note)
    done = Done(members=dict(resolved.members))
    for dialect in dialects:
        _reduce_tables(store, dialect, held[dialect.info.name], request, resolved, context, done)
    done.members[reducer_options.REFUSED] = sorted(done.refused)
    if request.full:
        done.members["differences"] = done.differences
    return done


def _reduce_tables(
    store: TableStore,
    dialect: Dialect,
    record_bytes: int,
    request: ReduceRequest,
    resolved: ReducerOptions,
    context: RunContext,
    done: Done,
) -> None:
    options = request.options.get(dialect.info.name)
    writer = journal_writer(dialect, options)
    done.read_versions[dialect.info.record_table] = version = store.version(dialect.info.record_table)
    with store.sized(record_bytes), SparkJobs(context.progress) as jobs:
        if record_bytes:
            _reduce(store, dialect, request, resolved, version, context, jobs, done)
        if writer is not None:
            for table, written in write_peers(store, writer, options, version, context).items():
                _add(done, table, written)


def _reduce(
    store: TableStore,
    dialect: Dialect,
    request: ReduceRequest,
    resolved: ReducerOptions,
    version: int,
    context: RunContext,
    jobs: SparkJobs,
    done: Done,
) -> None:
    states = store.read(STATES).where(F.col("dialect") == dialect.info.name)
    stored = jobs.row(
        states.agg(F.max("reduced_version").alias("version"), F.sum("record_count").alias("records"))
    )
    previous = stored["version"]
    side_versions = {table: store.version(table) for table in dialect.info.side_tables}
    done.read_versions.update(side_versions)
    scope = ReduceScope(
        previous_version=previous, version=version, run_id=context.run_id,
        side_versions=side_versions, reducer_options=resolved.values.get(dialect.info.name),
        walk_entries=request.walk_entries,
        retry_namespaces=resolved.retry_namespaces.get(dialect.info.name, ()),
        lake_options=lake.options_of(store, dialect.info), options=request.options.get(dialect.info.name),
    )  # fmt: skip
    context.progress.stage(f"reducing {dialect.info.record_table}")
    if previous is None:
        _write(store, dialect.reduce(None, store, jobs, scope), context, jobs, done)
    elif version > previous or dialect.info.sticky_options:
        if version > previous and store.was_restored(dialect.info.record_table, previous, version):
            context.progress.note(
                f"{dialect.info.record_table} was restored to an older version: everything is reduced"
            )
            _write_all(store, dialect, dialect.reduce(None, store, jobs, scope), context, jobs, done)
            return
        changes, count = _changes(store, dialect, previous, version, stored["records"], context, jobs)
        done.counts["new_records"] += count
        context.progress.stage(f"reducing {count:,} new records of {dialect.info.record_table}")
        if changes is None or count or dialect.info.sticky_options:
            _write(store, dialect.reduce(changes, store, jobs, scope), context, jobs, done)
    if request.full and previous is not None:
        again = dialect.reduce(None, store, jobs, scope)
        differing = differences(store, dialect, again)
        if differing:
            done.differences.update(differing)
            _write_all(store, dialect, again, context, jobs, done)


def _changes(
    store: TableStore, dialect: Dialect, previous: int, version: int, records: int, context: RunContext,
    jobs: SparkJobs,
) -> tuple[DataFrame | None, int]:  # fmt: skip
    """Return the records that were added since `previous` and their number.

    None in place of the records: everything is to be reduced, since the log lost them or since they outnumber the
    `records` that were there before.
    """
    table = dialect.info.record_table
    if version == previous:
        return store.read_version(table, version).limit(0), 0
    changes = store.changes_since(table, previous, version)
    if changes is None:
        context.progress.note(f"{table} has lost its changes since version {previous}: everything is reduced")
        return None, 0
    context.progress.stage(f"reading new records of {dialect.info.record_table}")
    count: int = jobs.row(changes.agg(F.count(F.lit(1)).alias("rows")))["rows"]
    if count < LARGE_CHANGES:
        return changes, count
    jobs.persist_on_disk()
    if count <= records:
        return changes, count
    context.progress.note(f"{count:,} new records outnumber those before them: everything is reduced")
    return None, count


def _write_all(
    store: TableStore, dialect: Dialect, again: Reduction, context: RunContext, jobs: SparkJobs, done: Done
) -> None:
    """Write what all records give, and delete what none of them gives."""
    _write(store, again, context, jobs, done)
    delete_strays(store, dialect, again, jobs)


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
        context.progress.stage(f"writing {table}")
        deletes = reduction.deletes.get(table)
        # Of a table without a file nothing can go: to see that costs less than to look for it.
        if deletes is not None and not (store.stored_bytes(table) and jobs.has_rows(deletes)):
            deletes = None
        if deletes is not None or jobs.has_rows(rows):
            bounds = reduction.bounds.get(table, {})
            _add(done, table, store.replace(table, rows, buckets, deletes, bounds))
        context.faults.reach(f"reduce.{table}")
    context.faults.reach("reduce.before_state")
    context.progress.stage(f"writing {STATES}")
    # As late as may be: it says from when on views show a state, and no state depends on it.
    written = states.withColumn("reduced_at", F.current_timestamp())
    _add(done, STATES, store.replace(STATES, written, buckets))


def _add(done: Done, table: str, written: Written) -> None:
    before = done.written.get(table, Written(0))
    done.written[table] = Written(written.version, before.inserted + written.inserted)
