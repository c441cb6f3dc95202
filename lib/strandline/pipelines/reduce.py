"""`reduce`: updates the reduced tables from the record tables; the cost depends on the new records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import functions as F

from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.journals import journal_writer
from strandline.dialect_api.reduction import InMemory, ReduceScope, Reduction
from strandline.pipelines import init, reducer_options
from strandline.pipelines.changes import changes_since, reduced_before
from strandline.pipelines.init import InitOptions
from strandline.pipelines.local_journals import write_peers
from strandline.pipelines.rebuild_diff import (
    STATES,
    delete_strays,
    differences,
    first_namespaces,
    with_nulls,
)
from strandline.pipelines.reduce_result import ReduceResult, with_reduction
from strandline.pipelines.reducer_options import ReducerOptions
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.store import TableStore, Written


@dataclass(frozen=True, slots=True)
class ReduceRequest:
    """The arguments of `reduce`; `full` reduces everything again and reports differences.

    `files` are the files given for sticky options, by option; None removes the stored file. A namespace of more than
    `walk_entries` records is never walked by one task. `options` maps a dialect to the result of its `parse_options`.
    """

    full: bool = False
    files: Mapping[str, GivenOption | None] = field(default_factory=dict)
    walk_entries: int = 10_000_000
    options: Mapping[str, object] = field(default_factory=dict)


def run(
    store: TableStore, dialects: Iterable[Dialect], request: ReduceRequest, context: RunContext
) -> Report:
    """Reduce the records since the last run; with `full` then reduce all of them again, which must change no row.

    Writes one MERGE per table, `namespace_state` last: views join on it, so readers never see a namespace half updated.
    Derived columns of records that do not follow from the records are not used: the outcome is `found`, and the member
    `damaged` names the first namespaces by table.
    Namespaces over a limit stay unchanged, and the report names them after all others, with the outcome `fault`.
    Raises: UsageError (the lake is foreign, a dialect refuses a file), FaultError WRITE_CONFLICT.
    """
    dialects = tuple(dialects)
    reducer_options.check(dialects, request.files)
    lake.require(store, init.design(InitOptions(), dialects))
    done = reduce_tables(store, dialects, request, context)
    result = RunResult(counts=done.counts, namespaces=done.namespaces, written=done.written)
    return record_run(store, context, with_reduction(result, done))


def reduce_tables(
    store: TableStore, dialects: Iterable[Dialect], request: ReduceRequest, context: RunContext
) -> ReduceResult:
    """Reduce as `run` does, on an existing lake; the caller writes the row of the run."""
    dialects = tuple(dialects)
    sizes = {dialect.info.name: store.stored_bytes(dialect.info.record_table) for dialect in dialects}
    # Sticky options are searched in all runs: not for a dialect without records.
    used = [dialect for dialect in dialects if sizes[dialect.info.name] or request.files]
    resolved = reducer_options.resolve(store, used, request.files)
    for note in resolved.notes:
        context.progress.note(note)
    done = ReduceResult(members=dict(resolved.members))
    for dialect in dialects:
        _reduce_tables(store, dialect, sizes[dialect.info.name], request, resolved, context, done)
    done.members[reducer_options.REFUSED] = sorted(done.refused)
    if request.full:
        done.members["differences"] = done.differences
    if done.damaged:
        done.members["damaged"] = done.damaged
    return done


def _reduce_tables(
    store: TableStore,
    dialect: Dialect,
    record_bytes: int,
    request: ReduceRequest,
    resolved: ReducerOptions,
    context: RunContext,
    done: ReduceResult,
) -> None:
    options = request.options.get(dialect.info.name)
    writer = journal_writer(dialect, options)
    done.read_versions[dialect.info.record_table] = version = store.version(dialect.info.record_table)
    with store.sized(record_bytes, dialect.info.tables), SparkJobs(context.progress) as jobs:
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
    done: ReduceResult,
) -> None:
    previous, records = reduced_before(store, dialect, jobs)
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
        changes, count = changes_since(store, dialect, previous, version, records, context, jobs)
        done.counts["new_records"] += count
        context.progress.stage(f"reducing {count:,} new records of {dialect.info.record_table}")
        if changes is None or count or dialect.info.sticky_options:
            _write(store, dialect.reduce(changes, store, jobs, scope), context, jobs, done)
    if request.full and previous is not None:
        rebuilt = dialect.reduce(None, store, jobs, replace(scope, full=True))
        _add_damage(done, rebuilt)
        differing = differences(store, dialect, rebuilt)
        if differing:
            done.differences.update(differing)
            _write_all(store, dialect, rebuilt, context, jobs, done)


def _write_all(
    store: TableStore,
    dialect: Dialect,
    rebuilt: Reduction,
    context: RunContext,
    jobs: SparkJobs,
    done: ReduceResult,
) -> None:
    """Write the rows of a full reduction, and delete stored rows that it does not have."""
    _write(store, rebuilt, context, jobs, done)
    delete_strays(store, dialect, rebuilt, jobs)


def _write(
    store: TableStore, reduction: Reduction, context: RunContext, jobs: SparkJobs, done: ReduceResult
) -> None:
    done.refused.update({each.namespace: each for each in reduction.refused})
    _add_damage(done, reduction)
    states = with_nulls(store, reduction.states)
    known = reduction.in_memory
    if known is None:
        states = jobs.checkpoint(states, "states")
        found = jobs.row(
            states.agg(F.count(F.lit(1)).alias("rows"), F.collect_set("bucket").alias("buckets"))
        )
        known = InMemory(found["rows"], tuple(sorted(found["buckets"])))
    if not known.namespaces:
        return
    done.namespaces += known.namespaces
    done.counts["reduced"] += known.namespaces
    buckets = known.buckets
    for table, rows in reduction.tables.items():
        context.progress.stage(f"writing {table}")
        deletes = reduction.deletes.get(table)
        # A table without files has no row to delete: this check is cheaper than a query.
        if deletes is not None and not (store.stored_bytes(table) and jobs.has_rows(deletes)):
            deletes = None
        if deletes is not None or reduction.in_memory is not None or jobs.has_rows(rows):
            bounds = reduction.bounds.get(table, {})
            _add(
                done,
                table,
                store.replace(
                    table, rows, buckets, deletes, bounds, in_memory=reduction.in_memory is not None
                ),
            )
        context.faults.reach(f"reduce.{table}")
    context.faults.reach("reduce.before_state")
    context.progress.stage(f"writing {STATES}")
    # Computed as late as possible: from this time views show the state. No state depends on it.
    written = states.withColumn("reduced_at", F.current_timestamp())
    in_memory = reduction.in_memory is not None
    _add(done, STATES, store.replace(STATES, written, buckets, in_memory=in_memory))


def _add_damage(done: ReduceResult, reduction: Reduction) -> None:
    for table, rows in reduction.damaged.items():
        if names := first_namespaces(rows):
            done.damaged[table] = names


def _add(done: ReduceResult, table: str, written: Written) -> None:
    before = done.written.get(table, Written(0))
    done.written[table] = Written(written.version, before.inserted + written.inserted)
