"""`ingest`: reads files, judges every record, inserts the genuine ones and quarantines the others."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.config.settings import Settings
from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialect_api.admission import Admission
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.journals import journal_writer
from strandline.dialect_api.ports import InputScan
from strandline.frames.differences import numbered
from strandline.frames.quarantine import first_rejected
from strandline.kernels.guard import INTERNAL_ERROR
from strandline.kernels.reading import ReadOptions
from strandline.pipelines import damaged, init
from strandline.pipelines.admission import Admitter, Merged, counts_of
from strandline.pipelines.ingest_input import FoundInput, IngestRequest, find_input
from strandline.pipelines.local_journals import WrittenJournals, write_local_journals
from strandline.pipelines.manifests import ManifestFindings, check_manifests
from strandline.pipelines.report import Outcome, Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, fault_error, record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.contents import Contents, ContentScan
from strandline.tables.file_scan import FileScan, ReadPlan
from strandline.tables.findings import as_findings, refused_links
from strandline.tables.manifests import Manifest
from strandline.tables.sources import Selection
from strandline.tables.store import TableStore
from strandline.tables.written import add_written


def run(
    store: TableStore, dialect: Dialect, request: IngestRequest, settings: Settings, context: RunContext,
    found: FoundInput | None = None,
) -> Report:  # fmt: skip
    """Admit the records of the sources. Return the counts: read = new + known + rejected + deferred.

    Writes in this order: records, side tables, quarantine, local journals, run. After a kill the same call ends with
    the same tables, as long as its sources are there: what was not written yet is only in them. `found` is the result
    of `find_input`, if it was called before.

    Raises: the errors of `find_input`; UsageError (the lake is foreign), FaultError WRITE_CONFLICT.
    """
    found = found or find_input(dialect, request, settings)
    selection, manifests = found.selection, found.manifests
    lake.require(store, init.design_by(settings, (dialect,)))
    work_bytes = sum(file.size for file in selection.files)
    if request.as_rows is not None:
        work_bytes += request.as_rows.size
    if request.from_quarantine or request.drop_rejected_before is not None:
        work_bytes += store.stored_bytes(QUARANTINE)
    with store.sized(work_bytes, dialect.info.tables), SparkJobs(context.progress) as jobs:
        return _Ingest(store, dialect, request, settings, context, jobs, selection, manifests).run()


class _Ingest:
    """One run of `ingest`."""

    def __init__(
        self, store: TableStore, dialect: Dialect, request: IngestRequest, settings: Settings, context: RunContext,
        jobs: SparkJobs, selection: Selection, manifests: tuple[Manifest, ...],
    ) -> None:  # fmt: skip
        self._store = store
        self._dialect = dialect
        self._request = request
        self._settings = settings
        self._context = context
        self._jobs = jobs
        self._selection = selection
        self._manifests = manifests
        self._admitter = Admitter(store, dialect, settings, context, jobs)
        self._writer = self._admitter.quarantine
        self._journals: WrittenJournals | None = None

    def run(self) -> Report:
        """Do all steps, in an order that allows a kill between any two."""
        day = self._request.drop_rejected_before
        dropped = {} if day is None else {"dropped": self._writer.drop_before(day)}
        options = self._admitter.options()
        selection = self._selection
        replay = None
        if self._request.from_quarantine:
            replay = self._writer.judged_again(reason=self._request.reason, namespace=self._request.namespace)
        writer = journal_writer(self._dialect, self._request.options)
        has_records = selection.files or self._request.as_rows is not None or replay is not None
        has_input = has_records or selection.refused or selection.manifests
        if not has_input and writer is None:
            nothing: dict[str, object] = {"replayed": {}} if self._request.from_quarantine else {}
            counts = counts_of(None, Merged(), 0) | dropped
            return self._report(counts, {}, ManifestFindings.none(), nothing, None)
        admission = (
            self._admitter.admit(self._scan(options), self._request.options, replay) if has_records else None
        )
        self._context.faults.reach("ingest.read")
        merged = Merged() if admission is None else self._admitter.merge(admission)
        self._context.faults.reach("ingest.records")
        manifests = check_manifests(selection, self._manifests, admission, self._store.spark, options.stream)
        rows, reasons, examples = self._quarantine(admission, manifests, replay)
        self._context.faults.reach("ingest.quarantine")
        if admission is not None:
            self._admitter.end()
        if writer is not None:
            self._journals = write_local_journals(
                self._store, self._dialect.info, writer, self._request.options, self._context
            )
        counts = {
            **counts_of(admission, merged, len(selection.refused)),
            **manifests.counts,
            **dropped,
        }
        members: dict[str, object] = {"examples": examples, **self._damaged(admission, rows)}
        if self._journals is not None:
            counts["authored"] = self._journals.authored
            members["stopped"] = {node: list(codes) for node, codes in self._journals.stopped.items()}
        if self._request.from_quarantine:
            members["replayed"] = {} if replay is None else self._writer.replayed(replay)
        elif older := self._writer.judged_by_older_rules():
            members["judged_by_older_rules"] = older
        return self._report(counts, reasons, manifests, members, admission)

    def _scan(self, options: ReadOptions) -> InputScan:
        spark, rows = self._store.spark, self._request.as_rows
        if rows is None:
            plan = ReadPlan(self._settings.read.lines_min_bytes, self._settings.read.split_bytes)
            return FileScan(spark, self._selection.files, options, plan, self._dialect.split_format)
        if isinstance(rows, Contents):
            return rows.scan(spark, options)
        files = rows.read(spark).withColumn("format", F.lit(self._dialect.info.message_format).cast("string"))
        return ContentScan(self._jobs.checkpoint(numbered(files), "messages"), options)

    def _quarantine(
        self, admission: Admission | None, manifests: ManifestFindings, replay: DataFrame | None
    ) -> tuple[DataFrame | None, dict[str, int], dict[str, dict[str, str]]]:
        """Write rejected and deferred records, delete resolved ones. Return the result of `QuarantineWriter.write`."""
        found = [] if admission is None or admission.findings is None else [admission.findings]
        of_files = (*manifests.findings, *refused_links(self._selection))
        file_rows = as_findings(self._store.spark, of_files, found[0] if found else None)
        if file_rows is not None:
            found.append(file_rows)
        resolved = None if admission is None else admission.resolved
        return self._writer.write(found, resolved=resolved, judged=replay)

    def _damaged(self, admission: Admission | None, rejected: DataFrame | None) -> dict[str, object]:
        """Return the members of the report about damaged files: the fields of the dialect and the common ones."""
        if admission is None or admission.damaged is None or rejected is None:
            return damaged.members([], 0)
        of_dialect = [row.asDict() for row in admission.damaged.limit(damaged.SHOWN).collect()]
        of_all = first_rejected(rejected).where(F.col("source").isin(*(row["source"] for row in of_dialect)))
        first = {row["source"]: row.asDict() for row in of_all.collect()}
        total = len(of_dialect) if len(of_dialect) < damaged.SHOWN else admission.damaged.count()
        # A file that met an internal fault has no rejected record.
        fault = {"rejected": 0, "source_offset": None, "reasons": INTERNAL_ERROR}
        return damaged.members([row | first.get(row["source"], fault) for row in of_dialect], total)

    def _report(
        self, counts: Mapping[str, int], reasons: Mapping[str, int], manifests: ManifestFindings,
        members: Mapping[str, object], admission: Admission | None,
    ) -> Report:  # fmt: skip
        journals = self._journals
        written = self._admitter.written()
        if journals is not None and journals.written is not None:
            add_written(written, {self._dialect.info.record_table: journals.written})
        outcome: Outcome = "ok"
        if journals is not None and journals.stopped:
            outcome = "found"
        if manifests.disagreements or (self._request.fail_on_reject and counts.get("rejected")):
            outcome = "found"
        error = None if admission is None else fault_error(admission.faults, reasons)
        if error is not None:
            outcome = "fault"
        result = RunResult(
            outcome=outcome, dialect=self._dialect.info.name, counts=counts, reasons=reasons,
            namespaces=0 if admission is None else admission.namespaces, written=written, members=members,
            error=error,
        )  # fmt: skip
        return record_run(self._store, self._context, result)
