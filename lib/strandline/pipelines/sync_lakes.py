"""`sync --from`: brings what another lake holds, and nothing that is here already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from strandline.config.settings import Settings
from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.journals import journal_writer
from strandline.pipelines import init, reduce, reducer_options
from strandline.pipelines.admitting import Admitting, Merged, counts_of
from strandline.pipelines.comparison import Comparison, compare
from strandline.pipelines.local_journals import write_local_journals
from strandline.pipelines.moved_rows import RowsLost, moved_rows
from strandline.pipelines.reduce import ReduceRequest
from strandline.pipelines.rejects import QUARANTINE
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.pipelines.sync_totals import SyncTotals
from strandline.tables import lake
from strandline.tables.contents import ContentScan
from strandline.tables.location import Location
from strandline.tables.other_lake import OtherLake
from strandline.tables.refusals import lake_not_found, table_missing
from strandline.tables.store import TableStore

PRUNED = "pruned_record"
"""What it says of records that are gone, this version does not bring along."""


@dataclass(frozen=True, slots=True)
class BringRequest:
    """What `sync --from` was asked for; `dry_run` only tells what is missing.

    `options` and `files` are as `reduce` takes them.
    """

    dry_run: bool = False
    options: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, GivenOption | None] = field(default_factory=dict)
    walk_entries: int = 10_000_000


def run(
    store: TableStore, there: TableStore, dialects: Iterable[Dialect], request: BringRequest, settings: Settings,
    context: RunContext,
) -> Report:  # fmt: skip
    """Bring the records that the lake `there` holds and this one lacks, judged like any others, then reduce.

    Writes this lake alone. Killed anywhere and run again it ends with the same tables: what came is no longer
    missing, and what that run had left waiting though it is held, waits no longer.
    Files of that lake that cannot be read cost the records of their dialect, and the run ends as a fault.
    Raises: UsageError (one lake on both sides, a lake that is not there or not ours, one with other columns, one that
    has pruned), FaultError WRITE_CONFLICT, ROWS_LOST.
    """
    dialects = tuple(dialects)
    reducer_options.check(dialects, request.files)
    _check(store, there)
    other = OtherLake(there)
    other.check(table for dialect in dialects for table in dialect.info.ingest_tables)
    if request.dry_run:
        state = lake.inspect(store)
        lake.check_ours(store, state)
        here = None if state.is_empty else store
        if here is not None and state.missing:
            raise table_missing(store.location, state.missing[0])
    else:
        lake.require(store, init.design_by(settings, dialects))
        here = store
    if here is not None:
        _check_unpruned(here)
    brought = SyncTotals(there.location.describe())
    if not request.dry_run:
        brought.counts.update(counts_of(None, Merged()), refused=0)
    for dialect in dialects:
        held = sum(there.stored_bytes(table) for table in dialect.info.ingest_tables)
        try:
            with store.sized(held), SparkJobs(context.progress) as jobs:
                context.progress.stage(f"comparing {dialect.info.record_table}")
                found = compare(here, other, dialect, jobs)
                brought.compared(found)
                context.faults.reach("sync.compared")
                if not request.dry_run:
                    options = request.options.get(dialect.info.name)
                    _bring(store, other, dialect, found, options, settings, context, jobs, brought)
        except (Py4JJavaError, PySparkException, RowsLost) as error:
            damage = error if isinstance(error, RowsLost) else other.damage(error)
            if damage is None:
                raise
            brought.damages.append(damage)
    if request.dry_run:
        for damage in brought.damages:
            raise damage
        return context.report(
            store.location.describe(), counts=dict(brought.counts), namespaces=brought.namespaces,
            members=brought.members() | {"dry_run": True},
        )  # fmt: skip
    for dialect in dialects:
        options = request.options.get(dialect.info.name)
        writer, table = journal_writer(dialect, options), dialect.info.record_table
        if writer is not None:
            done_here = write_local_journals(store, table, writer, options, context, with_peers=True)
            brought.authored(table, done_here)
    asked = ReduceRequest(files=request.files, options=request.options, walk_entries=request.walk_entries)
    done = reduce.reduce_tables(store, dialects, asked, context)
    brought.add(done.written)
    brought.counts["reduced"] = done.counts["reduced"]
    ended = brought.error() or reduce.refusal_of(done)
    return record_run(
        store, context, outcome=brought.outcome(ended),
        counts=dict(brought.counts), reasons=dict(brought.reasons), namespaces=brought.namespaces,
        read_versions=done.read_versions, written=brought.written, error=ended,
        members={**done.members, **brought.members(), "dry_run": False},
    )  # fmt: skip


def check_two(here: Location, there: Location) -> None:
    """See that two locations are two lakes. Raises: UsageError SYNC_SAME_LAKE."""
    if here.is_same(there):
        raise UsageError(
            "SYNC_SAME_LAKE",
            f"{there.describe()} is on both sides",
            "name with --from another lake than the one that is written",
        )


def _check(store: TableStore, there: TableStore) -> None:
    """See that there are two lakes, and that nothing is asked of them that this version does not do."""
    check_two(store.location, there.location)
    state = lake.inspect(there)
    lake.check_ours(there, state)
    if state.is_empty:
        raise lake_not_found(there.location)
    if state.missing:
        raise table_missing(there.location, state.missing[0])
    _check_unpruned(there)


def _check_unpruned(store: TableStore) -> None:
    if store.stored_bytes(PRUNED):
        raise UsageError(
            "SYNC_PRUNED",
            f"{store.location.describe()} has pruned records, and this version does not sync lakes that have",
            "bring the files of its nodes with `strandline ingest`",
        )


def _bring(
    store: TableStore, there: OtherLake, dialect: Dialect, found: Comparison, options: object | None,
    settings: Settings, context: RunContext, jobs: SparkJobs, brought: SyncTotals,
) -> None:  # fmt: skip
    admitting = Admitting(store, dialect, settings, context, jobs)
    torn = _mend(store, dialect, admitting, jobs)
    moved = moved_rows(found, there, dialect, jobs)
    if moved is not None:
        context.progress.stage(f"bringing {moved.records:,} missing records")
        files = moved.files
    elif torn:
        files = store.spark.createDataFrame([], "file_no BIGINT, format STRING, content BINARY")
    else:
        brought.add(admitting.written())
        return
    named = files.withColumn("source", F.lit(there.name))
    admission = admitting.admit(ContentScan(named, admitting.options()), options, records_alone=True)
    if moved is not None:
        moved.check(admission)
    context.faults.reach("ingest.read")
    merged = admitting.merge(admission)
    context.faults.reach("ingest.records")
    for findings in (admission.findings, moved.findings if moved is not None and moved.refused else None):
        _, reasons, examples = admitting.rejects.add([] if findings is None else [findings])
        brought.reasons.update(reasons)
        brought.examples |= examples
    admitting.rejects.delete(admission.resolved)
    context.faults.reach("ingest.quarantine")
    brought.counts.update(counts_of(admission, merged), refused=0 if moved is None else moved.refused)
    brought.faults += admission.faults
    brought.add(admitting.written())


def _mend(store: TableStore, dialect: Dialect, admitting: Admitting, jobs: SparkJobs) -> bool:
    """Delete waiting rows whose record is held: a run that was killed let it in and did not come to say so.

    Return whether others may have been let in, had that run gone on: they are judged again even if nothing comes.
    """
    is_waiting = (F.col("dialect") == dialect.info.name) & (F.col("status") == "deferred")
    waiting = store.read(QUARANTINE).where(is_waiting)
    if not jobs.has_rows(waiting):
        return False
    key = ["bucket", "namespace", "record_id"]
    held = store.read(dialect.info.record_table).select(*key)
    admitting.rejects.delete(waiting.join(held, key, "left_semi"))
    return store.has_partial_run(dialect.info.ingest_tables)
