"""`ingest`: lands files, judges every record, unions the genuine ones, keeps the others in quarantine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.config.settings import Settings
from strandline.contracts.load import contract
from strandline.dialects.base import Admission, AdmitRequest, Dialect, Union
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import KeepLimits
from strandline.kernels.reading import ReadOptions
from strandline.pipelines import init
from strandline.pipelines.init import InitOptions
from strandline.pipelines.manifests import ManifestFindings, check_manifests, require_manifests
from strandline.pipelines.rejects import QUARANTINE, Rejects
from strandline.pipelines.report import Outcome, Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import finished
from strandline.pipelines.stage import RunStage
from strandline.tables import lake
from strandline.tables.findings import as_findings, refused_links
from strandline.tables.formats import with_formats
from strandline.tables.manifests import Manifest, load_manifests
from strandline.tables.reading import FileReading, ReadPlan
from strandline.tables.sources import Selection, select
from strandline.tables.store import TableStore, Written

DAMAGED_FILES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What `ingest` was asked for. `format` overrides what names tell; `drop_rejected_before` is in UTC."""

    sources: tuple[str, ...] = ()
    format: str | None = None
    fail_on_reject: bool = False
    require_manifest: bool = False
    from_quarantine: bool = False
    reason: str | None = None
    namespace: str | None = None
    drop_rejected_before: datetime | None = None


def run(
    store: TableStore, dialect: Dialect, request: IngestRequest, settings: Settings, context: RunContext
) -> Report:
    """Bring the records of the sources in and return what became of each: read = new + known + rejected + deferred.

    Writes, in this order: records, quarantine, run. Killed anywhere and run again it ends with the same tables.

    Raises: UsageError (a source that does not exist or whose format nobody tells, a lake that is not ours), FaultError
    WRITE_CONFLICT.
    """
    found = select(request.sources, most=settings.limits.files)
    selection, manifests = load_manifests(found, dialect=dialect.name, keep=_keep_limits(settings))
    selection = with_formats(selection, dialect.formats, request.format)
    if request.require_manifest:
        require_manifests(selection, manifests)
    made_with = InitOptions(
        default_buckets=settings.tables.buckets, deletion_vectors=settings.tables.deletion_vectors
    )
    lake.require(store, init.design(made_with, (dialect,)))
    work_bytes = sum(file.size for file in selection.files)
    if request.from_quarantine or request.drop_rejected_before is not None:
        work_bytes += store.stored_bytes(QUARANTINE)
    with store.sized(work_bytes, settings.read.split_bytes), RunStage(context.progress) as stage:
        return _Ingest(store, dialect, request, settings, context, stage, selection, manifests).run()


def _keep_limits(settings: Settings) -> KeepLimits:
    return KeepLimits(settings.limits.quarantine_raw_bytes, settings.limits.quarantine_raw_head)


class _Ingest:
    """One run of `ingest`."""

    def __init__(
        self, store: TableStore, dialect: Dialect, request: IngestRequest, settings: Settings, context: RunContext,
        stage: RunStage, selection: Selection, manifests: tuple[Manifest, ...],
    ) -> None:  # fmt: skip
        self._store = store
        self._dialect = dialect
        self._request = request
        self._settings = settings
        self._context = context
        self._stage = stage
        self._selection = selection
        self._manifests = manifests
        self._rejects = Rejects(store, dialect, context, stage)
        self._written: dict[str, Written] = {}

    def run(self) -> Report:
        """Do all steps in the order that survives a kill between any two."""
        day = self._request.drop_rejected_before
        dropped = {} if day is None else {"dropped": self._rejects.drop_before(day)}
        options = self._read_options()
        selection = self._selection
        replay = None
        if self._request.from_quarantine:
            replay = self._rejects.judged_again(
                reason=self._request.reason, namespace=self._request.namespace
            )
        if not selection.files and not selection.refused and not selection.manifests and replay is None:
            return self._report(_counts(None, _Merged(), 0) | dropped, {}, ManifestFindings.none(), {}, None)
        plan = ReadPlan(self._settings.read.lines_min_bytes, self._settings.read.split_bytes)
        reading = FileReading(self._store.spark, selection.files, options, plan, self._dialect.plain)
        limit = self._settings.limits.deferred_per_namespace
        admit_request = AdmitRequest(self._context.run_id, limit, replay)
        admission = None
        if selection.files or replay is not None:
            admission = self._dialect.admit(reading, self._store, self._stage, admit_request)
        self._context.faults.reach("ingest.read")
        merged = self._merge(admission)
        self._context.faults.reach("ingest.records")
        manifests = check_manifests(selection, self._manifests, admission, self._store.spark, options.stream)
        reasons, examples = self._quarantine(admission, manifests, replay)
        self._context.faults.reach("ingest.quarantine")
        counts = {
            **_counts(admission, merged, len(selection.refused)),
            **manifests.counts,
            **dropped,
        }
        members: dict[str, object] = {"examples": examples, "damaged_files": self._damaged(admission)}
        if replay is not None:
            members["replayed"] = self._rejects.replayed(replay)
        return self._report(counts, reasons, manifests, members, admission)

    def _read_options(self) -> ReadOptions:
        limits = self._settings.limits
        return ReadOptions(
            choices={
                option.name: self._store.properties(option.table).get(option.property, option.values[0])
                for option in self._dialect.lake_options
            },
            stream=StreamLimits(limits.decompressed_bytes, limits.ratio),
            keep=_keep_limits(self._settings),
        )

    def _merge(self, admission: Admission | None) -> _Merged:
        """Union the accepted records, a table after the other. Return what of them was new."""
        merged = _Merged()
        if admission is None:
            return merged
        for union in admission.unions:
            self._context.progress.stage(f"union merge of {union.table}")
            written = self._store.merge_new(
                union.table, union.rows, union.buckets, union.bounds, lies_ready=union.lies_ready
            )
            self._written[union.table] = written
            undelivered = readmitted = 0
            if written.inserted:
                undelivered = self._inserted_of(union, written, union.undelivered)
                waited = admission.settled if union.table == self._dialect.record_table else None
                readmitted = self._inserted_of(union, written, waited)
            merged.new += written.inserted - undelivered - readmitted
            merged.readmitted += readmitted
            if union.undelivered_as is not None:
                merged.beside[union.undelivered_as] = undelivered
            self._context.faults.reach(f"ingest.{union.table}")
        return merged

    def _inserted_of(self, union: Union, written: Written, keys: DataFrame | None) -> int:
        """Return how many of the rows just inserted have one of these keys."""
        if keys is None:
            return 0
        added = self._store.changes(union.table, written.version, written.version)
        found = added.join(keys, list(contract(union.table).key), "left_semi")
        rows: int = self._stage.one(found.agg(F.count(F.lit(1)).alias("rows")))["rows"]
        return rows

    def _quarantine(
        self, admission: Admission | None, manifests: ManifestFindings, replay: DataFrame | None
    ) -> tuple[dict[str, int], dict[str, dict[str, str]]]:
        """Write what was not accepted, delete what waits no longer. Return counts by reason, and an example of each."""
        found = [] if admission is None or admission.findings is None else [admission.findings]
        of_files = (*manifests.findings, *refused_links(self._selection))
        told_of_files = as_findings(self._store.spark, of_files, found[0] if found else None)
        if told_of_files is not None:
            found.append(told_of_files)
        rows, reasons, examples = self._rejects.add(found)
        self._rejects.delete(None if admission is None else admission.settled)
        if replay is not None:
            self._rejects.delete_judged(replay, rows)
        return reasons, examples

    def _damaged(self, admission: Admission | None) -> list[dict[str, object]]:
        return [] if admission is None or admission.damaged is None else [
            row.asDict()
            for row in admission.damaged.limit(DAMAGED_FILES_SHOWN).collect()
        ]  # fmt: skip

    def _report(
        self, counts: Mapping[str, int], reasons: Mapping[str, int], manifests: ManifestFindings,
        members: Mapping[str, object], admission: Admission | None,
    ) -> Report:  # fmt: skip
        written = {**self._written, QUARANTINE: self._rejects.written}
        outcome: Outcome = "ok"
        if manifests.disagreements or (self._request.fail_on_reject and counts.get("rejected")):
            outcome = "found"
        if admission is not None and admission.faults:
            outcome = "fault"
        return finished(
            self._store, self._context, outcome=outcome, dialect=self._dialect.name, counts=counts, reasons=reasons,
            namespaces=0 if admission is None else admission.namespaces,
            written={table: done for table, done in written.items() if done is not None}, members=members,
        )  # fmt: skip


@dataclass(slots=True)
class _Merged:
    """Rows that the union merges inserted: new records, records that had waited, and rows that nobody delivered."""

    new: int = 0
    readmitted: int = 0
    beside: dict[str, int] = field(default_factory=dict)


def _counts(admission: Admission | None, merged: _Merged, refused: int) -> dict[str, int]:
    """Return what became of the records read: each is new, known, rejected or deferred."""
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
        **merged.beside,
    }
