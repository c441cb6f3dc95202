"""`sync --from`: brings what another lake holds, and nothing that is here already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import functions as F

from strandline.config.settings import Settings
from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.journals import journal_writer
from strandline.frames.differences import numbered
from strandline.pipelines import init, reduce, reducer_options
from strandline.pipelines.admitting import Admitting, Merged, counts_of
from strandline.pipelines.comparison import Comparison, compare, rows_of
from strandline.pipelines.local_journals import WrittenJournals, write_local_journals
from strandline.pipelines.reduce import ReduceRequest
from strandline.pipelines.rejects import QUARANTINE
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.contents import ContentScan
from strandline.tables.location import Location
from strandline.tables.refusals import lake_not_found, table_missing
from strandline.tables.store import TableStore, Written

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
    Raises: UsageError (one lake on both sides, a lake that is not there or not ours, one that has pruned), FaultError
    WRITE_CONFLICT.
    """
    dialects = tuple(dialects)
    reducer_options.check(dialects, request.files)
    _check(store, there)
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
    brought = _Brought(there.location.describe())
    if not request.dry_run:
        brought.counts.update(counts_of(None, Merged()))
    for dialect in dialects:
        held = sum(there.stored_bytes(table) for table in dialect.info.ingest_tables)
        with store.sized(held), SparkJobs(context.progress) as jobs:
            context.progress.stage(f"comparing {dialect.info.record_table}")
            found = compare(here, there, dialect, jobs)
            brought.compared(found)
            context.faults.reach("sync.compared")
            if not request.dry_run:
                options = request.options.get(dialect.info.name)
                _bring(store, there, dialect, found, options, settings, context, jobs, brought)
    if request.dry_run:
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
    error = reduce.refusal_of(done)
    return record_run(
        store, context, outcome="fault" if brought.faults or error else "found" if brought.stopped else "ok",
        counts=dict(brought.counts), reasons=dict(brought.reasons), namespaces=brought.namespaces,
        read_versions=done.read_versions, written=brought.written, error=error,
        members={**done.members, **brought.members(), "dry_run": False},
    )  # fmt: skip


@dataclass(slots=True)
class _Brought:
    """What one run found and did, all dialects together."""

    source: str
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    written: dict[str, Written] = field(default_factory=dict)
    plan: list[Mapping[str, object]] = field(default_factory=list)
    stopped: dict[str, list[str]] = field(default_factory=dict)
    examples: dict[str, dict[str, str]] = field(default_factory=dict)
    namespaces: int = 0
    faults: int = 0

    def compared(self, found: Comparison) -> None:
        """Add what one dialect's comparison found."""
        self.counts.update(equal=found.equal, behind=found.behind, missing=found.records)
        self.namespaces += found.namespaces
        self.plan += found.plan

    def authored(self, table: str, done: WrittenJournals) -> None:
        """Add what the writer of own journals did."""
        self.counts["authored"] += done.authored
        self.stopped |= {node: list(codes) for node, codes in done.stopped.items()}
        if done.written is not None:
            self.add({table: done.written})

    def add(self, written: Mapping[str, Written]) -> None:
        """Add what was written."""
        for table, each in written.items():
            before = self.written.get(table, Written(0))
            self.written[table] = Written(each.version, before.inserted + each.inserted)

    def members(self) -> dict[str, object]:
        """Return what the report of this command has beside that of others."""
        return {
            "from": self.source, "plan": self.plan, "examples": self.examples, "stopped": self.stopped
        }  # fmt: skip


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
    store: TableStore, there: TableStore, dialect: Dialect, found: Comparison, options: object | None,
    settings: Settings, context: RunContext, jobs: SparkJobs, brought: _Brought,
) -> None:  # fmt: skip
    admitting = Admitting(store, dialect, settings, context, jobs)
    torn = _mend(store, dialect, admitting, jobs)
    if found.missing is not None:
        rows = rows_of(found.missing, there)
        context.progress.stage(f"bringing {found.records:,} missing records")
        files = jobs.checkpoint(numbered(dialect.to_files(rows, there, jobs)), "files")
    elif torn:
        files = numbered(store.spark.createDataFrame([], "format STRING, content BINARY"))
    else:
        brought.add(admitting.written())
        return
    named = files.withColumn("source", F.lit(there.location.describe()))
    admission = admitting.admit(ContentScan(named, admitting.options()), options)
    context.faults.reach("ingest.read")
    merged = admitting.merge(admission)
    context.faults.reach("ingest.records")
    _, reasons, examples = admitting.rejects.add([] if admission.findings is None else [admission.findings])
    admitting.rejects.delete(admission.resolved)
    context.faults.reach("ingest.quarantine")
    brought.counts.update(counts_of(admission, merged))
    brought.reasons.update(reasons)
    brought.examples |= examples
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
