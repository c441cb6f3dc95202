"""Admits records to a lake: the dialect judges them, a MERGE inserts the accepted ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.config.settings import Settings
from strandline.contracts.load import contract
from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialect_api.admission import Admission, AdmitRequest, TableInsert
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.ports import InputScan
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import ReadOptions
from strandline.pipelines.quarantine_writer import QuarantineWriter
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.session.engine import engine_of
from strandline.tables import lake
from strandline.tables.lost_versions import has_no_changes
from strandline.tables.reduced_versions import is_unlike_reduced
from strandline.tables.spark_errors import spark_errors
from strandline.tables.store import TableStore
from strandline.tables.written import Written, add_written


@dataclass(slots=True)
class Merged:
    """Numbers of inserted rows: new records, records that had waited, and derived rows by their name in `counts`."""

    new: int = 0
    readmitted: int = 0
    derived: dict[str, int] = field(default_factory=dict)


class Admitter:
    """The admission of records of one dialect in one run. `quarantine` writes the others."""

    def __init__(
        self, store: TableStore, dialect: Dialect, settings: Settings, context: RunContext, jobs: SparkJobs
    ) -> None:
        self.quarantine = QuarantineWriter(store, dialect, context, jobs)
        self._store = store
        self._dialect = dialect
        self._settings = settings
        self._context = context
        self._jobs = jobs
        self._written: dict[str, Written] = {}
        self._seen: dict[str, int] = {}
        self._read = engine_of(store.spark).new_counter()

    def options(self) -> ReadOptions:
        """Return how bytes are read: the lake's options and the limits of the settings."""
        limits = self._settings.limits
        return ReadOptions(
            lake_options=lake.options_of(self._store, self._dialect.info),
            stream=StreamLimits(limits.decompressed_bytes, limits.ratio),
            keep=raw_limits(self._settings),
            tally=None if self._read is None else self._read.add,
        )

    def admit(
        self,
        scan: InputScan,
        options: object | None,
        replay: DataFrame | None = None,
        *,
        only_records: bool = False,
    ) -> Admission:
        """Return the verdicts on all records of `scan` and on the rejected rows in `replay`."""
        read = self._read
        self._note_versions()
        self._context.progress.stage(
            "reading and verifying", None if read is None else lambda: int(read.value)
        )
        limit = self._settings.limits.deferred_per_namespace
        table, name = self._dialect.info.record_table, self._dialect.info.name
        request = AdmitRequest(
            limit, replay, options, only_records, partial(is_unlike_reduced, self._store, table, name)
        )
        return self._dialect.admit(scan, self._store, self._jobs, request)

    def _note_versions(self) -> None:
        """Note the versions of the tables before they are read: what others commit after them, this run may not see."""
        tables = self._dialect.info.ingest_tables
        self._seen = {table: self._store.version(table) for table in (*tables, QUARANTINE)}
        for each in tables:
            self._store.note_repaired(each, self._seen[each])

    def merge(self, admission: Admission) -> Merged:
        """Insert the accepted records, table by table. Return how many were new."""
        merged = Merged()
        for insert in admission.inserts:
            self._context.progress.stage(f"writing new records to {insert.table}")
            written = self._store.merge_new(
                insert.table, insert.rows, insert.buckets, insert.bounds, presorted=insert.presorted
            )
            self._written[insert.table] = written
            derived_keys = readmitted = 0
            if written.inserted:
                derived_keys = (
                    written.inserted
                    if insert.is_derived
                    else self._inserted_of(insert, written, insert.derived_keys)
                )
                waited = admission.resolved if insert.table == self._dialect.info.record_table else None
                readmitted = self._inserted_of(insert, written, waited)
            merged.new += written.inserted - derived_keys - readmitted
            merged.readmitted += readmitted
            if insert.derived_as is not None:
                merged.derived[insert.derived_as] = derived_keys
            self._context.faults.reach(f"ingest.{insert.table}")
        return merged

    def _inserted_of(self, insert: TableInsert, written: Written, keys: DataFrame | None) -> int:
        """Return how many of the inserted rows have one of `keys`.

        If the change data feed is off, the rows of this run are counted in the version before and in this one.
        """
        if keys is None:
            return 0
        table, store = insert.table, self._store
        version = store.merge_of(table, store.run_id, written).version
        try:
            return self._found(table, store.changes(table, version, version), keys)
        except spark_errors() as error:
            if not has_no_changes(error):
                raise
        of_run = F.col("run_id") == store.run_id
        before, after = (
            self._found(table, store.read_version(table, each).where(of_run), keys)
            for each in (version - 1, version)
        )
        return after - before

    def _found(self, table: str, rows: DataFrame, keys: DataFrame) -> int:
        found = rows.join(keys, list(contract(table).key), "left_semi")
        count: int = self._jobs.row(found.agg(F.count(F.lit(1)).alias("rows")))["rows"]
        return count

    def end(self) -> None:
        """End the repair of what a killed or raced run left; if another run raced with this one, mark it.

        Two runs race if one wrote records while the other wrote to `quarantine`: neither saw the rows of the other, so
        a record may wait for one that is stored. At least the run that ends last finds the commit of the other. After
        the mark the next run judges all waiting records.
        """
        records, store = self._dialect.info.record_table, self._store
        add_written(self._written, store.end_repair())
        written = {table for table, each in self.written().items() if each.inserted}
        if any(
            mine in written and store.is_merged_by_others(other, store.run_id, self._seen[other])
            for mine, other in ((records, QUARANTINE), (QUARANTINE, records))
        ):
            store.mark_race(records)

    def written(self) -> dict[str, Written]:
        """Return the commits so far, by table."""
        of_quarantine = self.quarantine.written
        return dict(self._written) if of_quarantine is None else {**self._written, QUARANTINE: of_quarantine}


def raw_limits(settings: Settings) -> RawLimits:
    """Return how many bytes of a bad record are stored."""
    return RawLimits(settings.limits.quarantine_raw_bytes, settings.limits.quarantine_raw_head)


def counts_of(admission: Admission | None, merged: Merged, refused: int = 0) -> dict[str, int]:
    """Return the counts of the records read: each one is new, known, rejected or deferred.

    `refused` is the number of files that were not opened: one rejected record each.
    """
    found = {} if admission is None else dict(admission.counts)
    accepted = found.pop("accepted", 0)
    return {
        "read": found.pop("read", 0) + refused,
        "new": merged.new,
        "known": accepted - merged.new,
        "rejected": found.pop("rejected", 0) + refused,
        "deferred": found.pop("deferred", 0),
        "readmitted": merged.readmitted,
        **found,
        **merged.derived,
    }
