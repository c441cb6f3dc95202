"""`reduce`: updates the reduced tables from the record tables; the cost depends on the new records."""

from __future__ import annotations

from collections.abc import Iterable

from strandline.config.settings import Settings
from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.journals import journal_writer
from strandline.pipelines import init, reducer_options
from strandline.pipelines.dialect_reduction import DialectReduction
from strandline.pipelines.local_journals import write_peers
from strandline.pipelines.lost_records import lost_dialects
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.reduce_result import ReduceResult, with_reduction
from strandline.pipelines.reducer_options import ReducerOptions
from strandline.pipelines.report import Report, found_members
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.store import TableStore


def run(
    store: TableStore, dialects: Iterable[Dialect], request: ReduceRequest, settings: Settings, context: RunContext
) -> Report:  # fmt: skip
    """Reduce the records since the last run; with `full` then reduce all of them again, which must change no row.

    Writes one MERGE per table, `namespace_state` last: views join on it, so readers never see a namespace half updated.
    Derived columns of records that do not follow from the records are not used: the outcome is `found`, and the member
    `damaged` names the first namespaces by table.
    Namespaces that cannot be reduced (over a limit, or without entries or the snapshot that they need) stay unchanged;
    the report names the first of each dialect, with the outcome `fault`; `refused_total` is the number of all.
    Raises: UsageError (the lake is foreign, a dialect refuses a file), FaultError WRITE_CONFLICT.
    """
    dialects = tuple(dialects)
    reducer_options.check(dialects, request.files)
    lake.require(store, init.design_by(settings, dialects))
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
    lost = lost_dialects(store, (dialect for dialect in dialects if not sizes[dialect.info.name]))
    for dialect in dialects:
        name = dialect.info.name
        is_reduced = bool(sizes[name]) or name in lost
        _reduce_tables(store, dialect, sizes[name], is_reduced, request, resolved, context, done)
    # After all dialects: each finds what a killed run left of the tables that they share.
    for table, written in store.end_repair(besides=STATES).items():
        done.add(table, written)
    done.members.update(reducer_options.refused_members(done.refused.values()))
    if request.full:
        done.members.update(found_members("differences", done.differences))
    if done.damaged:
        done.members.update(found_members("damaged", done.damaged))
    return done


def _reduce_tables(
    store: TableStore,
    dialect: Dialect,
    record_bytes: int,
    is_reduced: bool,
    request: ReduceRequest,
    resolved: ReducerOptions,
    context: RunContext,
    done: ReduceResult,
) -> None:
    options = request.options.get(dialect.info.name)
    writer = journal_writer(dialect, options)
    table = dialect.info.record_table
    with store.sized(record_bytes, dialect.info.tables), SparkJobs(context.progress) as jobs:
        if is_reduced:
            DialectReduction(store, dialect, request, resolved, context, jobs, done).run()
        else:
            done.read_versions[table] = store.version(table)
        if writer is not None:
            peers = write_peers(store, writer, options, done.read_versions[table], context)
            for each, written in peers.items():
                done.add(each, written)
