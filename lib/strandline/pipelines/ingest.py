"""`ingest`: lands files, judges every record, unions the genuine ones, keeps the others in quarantine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.config.settings import Settings
from strandline.dialects.authoring import OwnRun
from strandline.dialects.base import Admission, AdmitRequest, Dialect
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import KeepLimits
from strandline.kernels.reading import ReadOptions
from strandline.pipelines import init
from strandline.pipelines.authoring import Authored, write_own
from strandline.pipelines.init import InitOptions
from strandline.pipelines.manifests import ManifestFindings, check_manifests, require_manifests
from strandline.pipelines.rejects import QUARANTINE, Rejects
from strandline.pipelines.report import Outcome, Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import finished
from strandline.pipelines.stage import RunStage
from strandline.tables import lake
from strandline.tables.findings import as_findings, refused_links
from strandline.tables.manifests import Manifest, load_manifests
from strandline.tables.reading import FileReading, ReadPlan
from strandline.tables.sources import Selection, select
from strandline.tables.store import TableStore, Written

DAMAGED_FILES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What `ingest` was asked for. `drop_rejected_before` is in UTC; `own` says whose journals are written, if any."""

    sources: tuple[str, ...] = ()
    fail_on_reject: bool = False
    require_manifest: bool = False
    from_quarantine: bool = False
    reason: str | None = None
    namespace: str | None = None
    drop_rejected_before: datetime | None = None
    own: OwnRun | None = None


def run(
    store: TableStore, dialect: Dialect, request: IngestRequest, settings: Settings, context: RunContext
) -> Report:
    """Bring the records of the sources in and return what became of each: read = new + known + rejected + deferred.

    Writes, in this order: records, what goes into tables beside them, quarantine, own journals, run. Killed anywhere
    and run again it ends with the same tables.

    Raises: UsageError (a source that does not exist, a lake that is not ours), FaultError WRITE_CONFLICT.
    """
    found = select(request.sources, most=settings.limits.files)
    selection, manifests = load_manifests(found, dialect=dialect.name, keep=_keep_limits(settings))
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
        self._records: Written | None = None
        self._landed: dict[str, Written] = {}
        self._authored: Authored | None = None

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
        own = self._request.own
        has_input = selection.files or selection.refused or selection.manifests or replay is not None
        if not has_input and own is None:
            return self._report(_counts(None, 0, 0, 0) | dropped, {}, ManifestFindings.none(), {}, None)
        plan = ReadPlan(self._settings.read.lines_min_bytes, self._settings.read.split_bytes)
        reading = FileReading(self._store.spark, selection.files, options, plan, self._dialect.plain)
        limit = self._settings.limits.deferred_per_namespace
        admit_request = AdmitRequest(
            self._context.run_id, limit, replay, None if own is None else own.choices
        )
        admission = None
        if selection.files or replay is not None:
            admission = self._dialect.admit(reading, self._store, self._stage, admit_request)
        self._context.faults.reach("ingest.read")
        new, readmitted = self._merge_records(admission)
        self._context.faults.reach("ingest.records")
        new += self._land(admission)
        manifests = check_manifests(selection, self._manifests, admission, self._store.spark, options.stream)
        reasons, examples = self._quarantine(admission, manifests, replay)
        self._context.faults.reach("ingest.quarantine")
        if own is not None:
            self._authored = write_own(self._store, self._dialect.record_table, own, self._context)
        counts = {
            **_counts(admission, new, readmitted, len(selection.refused)),
            **manifests.counts,
            **dropped,
        }
        members: dict[str, object] = {"examples": examples, "damaged_files": self._damaged(admission)}
        if self._authored is not None:
            counts["authored"] = self._authored.authored
            members["stopped"] = {node: list(codes) for node, codes in self._authored.stopped.items()}
        if replay is not None:
            members["replayed"] = self._rejects.replayed(replay)
        return self._report(counts, reasons, manifests, members, admission)

    def _read_options(self) -> ReadOptions:
        limits = self._settings.limits
        [option] = [each for each in self._dialect.lake_options if each.name == "strict"]
        reading = self._store.properties(option.table).get(option.property, option.values[0])
        return ReadOptions(
            strict=reading == option.values[1],
            stream=StreamLimits(limits.decompressed_bytes, limits.ratio),
            keep=_keep_limits(self._settings),
        )

    def _merge_records(self, admission: Admission | None) -> tuple[int, int]:
        """Union the accepted records. Return how many were new, and how many of them had waited."""
        if admission is None or admission.records is None:
            return 0, 0
        table = self._dialect.record_table
        self._context.progress.stage("union merge")
        written = self._store.merge_new(
            table, admission.records, admission.buckets, admission.bounds, lies_ready=admission.lies_ready
        )
        self._records = written
        if not written.inserted or (not admission.implied and admission.admitted is None):
            return written.inserted, 0
        added = self._store.changes(table, written.version, written.version)
        implied = F.count(F.when(F.col("origin") == "implied", 1)).alias("rows")
        implied_rows = self._stage.one(added.agg(implied))["rows"] if admission.implied else 0
        readmitted = 0
        if admission.admitted is not None:
            let_in = added.join(admission.admitted, ["namespace", "record_id"], "left_semi")
            readmitted = self._stage.one(let_in.agg(F.count(F.lit(1)).alias("rows")))["rows"]
        return written.inserted - implied_rows - readmitted, readmitted

    def _land(self, admission: Admission | None) -> int:
        """Union what goes into tables beside the records. Return how many of the records read were new there."""
        new = 0
        for landing in () if admission is None else admission.landings:
            self._context.progress.stage(landing.table)
            written = self._store.merge_new(landing.table, landing.rows, landing.buckets, {})
            self._landed[landing.table] = written
            if written.inserted:
                added = self._store.changes(landing.table, written.version, written.version)
                delivered = F.count(F.when(F.col("origin") != landing.undelivered, 1)).alias("rows")
                new += self._stage.one(added.agg(delivered))["rows"]
            self._context.faults.reach(f"ingest.{landing.table}")
        return new

    def _quarantine(
        self, admission: Admission | None, manifests: ManifestFindings, replay: DataFrame | None
    ) -> tuple[dict[str, int], dict[str, dict[str, str]]]:
        """Write what was not accepted, delete what was admitted. Return counts by reason, and an example of each."""
        found = [] if admission is None or admission.findings is None else [admission.findings]
        of_files = (*manifests.findings, *refused_links(self._selection))
        told_of_files = as_findings(self._store.spark, of_files, found[0] if found else None)
        if told_of_files is not None:
            found.append(told_of_files)
        rows, reasons, examples = self._rejects.add(found)
        self._rejects.delete(None if admission is None else admission.admitted)
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
        authored = self._authored
        written = {
            self._dialect.record_table: self._records,
            **self._landed,
            QUARANTINE: self._rejects.written,
        }
        if authored is not None and authored.written is not None:
            before = 0 if self._records is None else self._records.inserted
            written[self._dialect.record_table] = replace(
                authored.written, inserted=before + authored.written.inserted
            )
        outcome: Outcome = "ok"
        if authored is not None and authored.stopped:
            outcome = "found"
        if manifests.disagreements or (self._request.fail_on_reject and counts.get("rejected")):
            outcome = "found"
        if admission is not None and admission.faults:
            outcome = "fault"
        return finished(
            self._store, self._context, outcome=outcome, dialect=self._dialect.name, counts=counts, reasons=reasons,
            namespaces=0 if admission is None else admission.namespaces,
            written={table: done for table, done in written.items() if done is not None}, members=members,
        )  # fmt: skip


def _counts(admission: Admission | None, new: int, readmitted: int, refused: int) -> dict[str, int]:
    """Return what became of the records read: each is new, known, rejected or deferred."""
    found = {} if admission is None else dict(admission.counts)
    accepted = found.pop("accepted", 0)
    return {
        "read": found.pop("read", 0) + refused,
        "new": new,
        "known": accepted - new,
        "rejected": found.pop("rejected", 0) + refused,
        "deferred": found.pop("deferred", 0),
        "readmitted": readmitted,
        **found,
    }
