"""`sync --from`: copies the records of another lake that this one lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import functions as F

from strandline.config.settings import Settings
from strandline.contracts.shared_tables import PRUNED, QUARANTINE
from strandline.core.errors import UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.journals import journal_writer
from strandline.dialect_api.quarantined import WAITING, statuses
from strandline.dialect_api.reduction import WALK_ENTRIES
from strandline.pipelines import init, reduce, reducer_options
from strandline.pipelines.admission import Admitter, Merged, counts_of
from strandline.pipelines.comparison import Comparison, compare
from strandline.pipelines.local_journals import write_local_journals
from strandline.pipelines.missing_rows import RowsLost, missing_rows
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.reduce_result import with_reduction
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
from strandline.tables.spark_errors import spark_errors
from strandline.tables.store import TableStore


@dataclass(frozen=True, slots=True)
class SyncLakesRequest:
    """The arguments of `sync --from`; `dry_run` only reports what is missing.

    The others are as in `reduce`.
    """

    dry_run: bool = False
    options: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, GivenOption | None] = field(default_factory=dict)
    walk_entries: int = WALK_ENTRIES


def run(
    store: TableStore, there: TableStore, dialects: Iterable[Dialect], request: SyncLakesRequest, settings: Settings,
    context: RunContext,
) -> Report:  # fmt: skip
    """Copy the records of the lake `there` that this one lacks, verify them like any input, then reduce.

    Writes only this lake. After a kill the same call ends with the same tables: records that were copied are no longer
    missing, and records that the killed run left waiting are admitted if what they wait for is stored.
    If files of the other lake cannot be read, the records of their dialect are left out, and the outcome is `fault`.
    What was pruned here does not come back. What was pruned there and was never here is counted as `pruned_there`:
    nobody can verify it, and records that need it wait.
    Raises: UsageError (one lake on both sides; a lake that does not exist, is foreign or has other columns),
    FaultError WRITE_CONFLICT, ROWS_LOST.
    """
    dialects = tuple(dialects)
    reducer_options.check(dialects, request.files)
    _check(store, there)
    other = OtherLake(there)
    other.check([*(table for dialect in dialects for table in dialect.info.ingest_tables), PRUNED])
    return _Sync(store, other, request, settings, context).run(dialects)


def check_two(here: Location, there: Location) -> None:
    """Check that two locations are two lakes. Raises: UsageError SYNC_SAME_LAKE."""
    if here.is_same(there):
        raise UsageError(
            "SYNC_SAME_LAKE",
            f"{there.describe()} is both the source and the target",
            "name another lake with --from",
        )


def _check(store: TableStore, there: TableStore) -> None:
    """Check that there are two lakes that this version can sync."""
    check_two(store.location, there.location)
    state = lake.inspect(there)
    lake.check_ours(there, state)
    if state.is_empty:
        raise lake_not_found(there.location)
    if state.missing:
        raise table_missing(there.location, state.missing[0])


class _Sync:
    """One run of `sync --from`."""

    def __init__(
        self, store: TableStore, there: OtherLake, request: SyncLakesRequest, settings: Settings, context: RunContext
    ) -> None:  # fmt: skip
        self._store = store
        self._there = there
        self._request = request
        self._settings = settings
        self._context = context
        self._totals = SyncTotals(there.name, request.dry_run)
        self._admitters: dict[str, Admitter] = {}

    def run(self, dialects: tuple[Dialect, ...]) -> Report:
        """Do all steps, in an order that allows a kill between any two."""
        here = self._target(dialects)
        totals, asked = self._totals, self._request
        if not asked.dry_run:
            totals.counts.update(counts_of(None, Merged()), refused=0)
        for dialect in dialects:
            self._compare_and_copy(here, dialect)
        if asked.dry_run:
            return self._comparison()
        for dialect in dialects:
            self._write_journals(dialect)
        request = ReduceRequest(files=asked.files, options=asked.options, walk_entries=asked.walk_entries)
        done = reduce.reduce_tables(self._store, dialects, request, self._context)
        totals.add(done.written)
        totals.counts["reduced"] = done.counts["reduced"]
        return record_run(self._store, self._context, with_reduction(totals.result(), done))

    def _target(self, dialects: Iterable[Dialect]) -> TableStore | None:
        """Return the lake to compare with, or None if it does not exist and nothing may be written."""
        if not self._request.dry_run:
            lake.require(self._store, init.design_by(self._settings, dialects))
            return self._store
        state = lake.inspect(self._store)
        lake.check_ours(self._store, state)
        if state.is_empty:
            return None
        if state.missing:
            raise table_missing(self._store.location, state.missing[0])
        return self._store

    def _compare_and_copy(self, here: TableStore | None, dialect: Dialect) -> None:
        """Compare the records of one dialect and copy missing ones; files that cannot be read are kept as damage."""
        work_bytes = sum(self._there.stored_bytes(table) for table in dialect.info.ingest_tables)
        try:
            tables = () if here is None else dialect.info.tables
            with self._store.sized(work_bytes, tables), SparkJobs(self._context.progress) as jobs:
                self._context.progress.stage(f"comparing {dialect.info.record_table}")
                found = compare(here, self._there, dialect, jobs)
                self._totals.compared(found)
                self._context.faults.reach("sync.compared")
                if not self._request.dry_run:
                    self._copy_missing(dialect, found, jobs)
        except RowsLost as lost:
            self._totals.damages.append(lost)
        except spark_errors() as error:
            damage = self._there.damage(error, self._store.location)
            if damage is None:
                raise
            self._totals.damages.append(damage)

    def _comparison(self) -> Report:
        """Return the report of what is missing. Raises: the first damage."""
        totals = self._totals
        for damage in totals.damages:
            raise damage
        return self._context.report(
            self._store.location.describe(), counts=dict(totals.counts), namespaces=totals.namespaces,
            members=totals.members(),
        )  # fmt: skip

    def _copy_missing(self, dialect: Dialect, found: Comparison, jobs: SparkJobs) -> None:
        admitter = Admitter(self._store, dialect, self._settings, self._context, jobs)
        self._admitters[dialect.info.name] = admitter
        try:
            self._admit_missing(admitter, dialect, found, jobs)
        finally:
            # What was repaired before an error is told, too.
            self._totals.add(admitter.written())

    def _admit_missing(
        self, admitter: Admitter, dialect: Dialect, found: Comparison, jobs: SparkJobs
    ) -> None:
        totals, context = self._totals, self._context
        is_partial = _repair(self._store, dialect, admitter, jobs)
        missing = missing_rows(found, self._there, dialect, jobs)
        if missing is not None:
            context.progress.stage(f"copying {missing.records:,} missing records")
            files = missing.files
        elif is_partial:
            files = self._store.spark.createDataFrame([], "file_no BIGINT, format STRING, content BINARY")
        else:
            return
        scan = ContentScan(files.withColumn("source", F.lit(self._there.name)), admitter.options())
        admission = admitter.admit(scan, self._options_of(dialect), only_records=True)
        if missing is not None:
            missing.check(admission)
        context.faults.reach("ingest.read")
        merged = admitter.merge(admission)
        context.faults.reach("ingest.records")
        # A row that breaks its contract never waited: `resolved` has no key of one.
        for findings, resolved in (
            (admission.findings, admission.resolved),
            (missing.findings if missing is not None and missing.refused else None, None),
        ):
            _, reasons, examples = admitter.quarantine.write(
                [] if findings is None else [findings], resolved=resolved
            )
            totals.reasons.update(reasons)
            totals.examples |= examples
        context.faults.reach("ingest.quarantine")
        totals.counts.update(counts_of(admission, merged), refused=0 if missing is None else missing.refused)
        totals.faults += admission.faults
        admitter.end()

    def _write_journals(self, dialect: Dialect) -> None:
        options = self._options_of(dialect)
        writer = journal_writer(dialect, options)
        if writer is not None:
            journals = write_local_journals(
                self._store, dialect.info, writer, options, self._context, with_peers=True
            )
            self._totals.add_journals(dialect.info.record_table, journals)

    def _options_of(self, dialect: Dialect) -> object | None:
        return self._request.options.get(dialect.info.name)


def _repair(store: TableStore, dialect: Dialect, admitter: Admitter, jobs: SparkJobs) -> bool:
    """Delete waiting rows whose record is stored: a killed run inserted it before it could delete the row.

    Return whether that run could have admitted further rows: then they are judged again, even without new input.
    """
    is_waiting = (F.col("dialect") == dialect.info.name) & (F.col("status") == "deferred")
    waiting = store.read(QUARANTINE).where(is_waiting)
    if not (WAITING in statuses(dialect.info.name, store) and jobs.has_rows(waiting)):
        return False
    key = ["bucket", "namespace", "record_id"]
    stored = store.read(dialect.info.record_table).select(*key)
    admitter.quarantine.delete(waiting.join(stored, key, "left_semi"))
    return store.begin_repair(dialect.info.ingest_tables)
