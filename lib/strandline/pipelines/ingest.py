"""`ingest`: lands files, judges every record, unions the genuine ones, keeps the others in quarantine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.config.settings import Settings
from strandline.contracts.reasons import rules_version
from strandline.dialects.base import Admission, AdmitRequest, Dialect
from strandline.frames.quarantine import as_quarantine, identified
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import KeepLimits
from strandline.kernels.reading import ReadOptions
from strandline.pipelines import init
from strandline.pipelines.init import InitOptions
from strandline.pipelines.manifests import ManifestFindings, check_manifests, require_manifests
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

EXAMPLES_SHOWN = 10
DAMAGED_FILES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What `ingest` was asked for. `drop_rejected_before` is in UTC."""

    sources: tuple[str, ...] = ()
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

    Raises: UsageError (a source that does not exist, a lake that is not ours), FaultError WRITE_CONFLICT.
    """
    found = select(request.sources, most=settings.limits.files)
    selection, manifests = load_manifests(found, dialect=dialect.name, keep=_keep_limits(settings))
    if request.require_manifest:
        require_manifests(selection, manifests)
    lake.require(store, init.design(InitOptions(default_buckets=settings.tables.buckets), (dialect,)))
    work_bytes = sum(file.size for file in selection.files)
    if request.from_quarantine or request.drop_rejected_before is not None:
        work_bytes += store.stored_bytes("quarantine")
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
        self._written: dict[str, Written] = {}

    def run(self) -> Report:
        """Do all steps in the order that survives a kill between any two."""
        dropped = self._drop_old()
        options = self._read_options()
        selection = self._selection
        replay = self._replayed()
        if not selection.files and not selection.refused and not selection.manifests and replay is None:
            counts = _counts(None, 0, 0, 0) | ({} if dropped is None else {"dropped": dropped})
            return self._report(counts, {}, ManifestFindings.none(), {}, 0, 0)
        plan = ReadPlan(self._settings.read.lines_min_bytes, self._settings.read.split_bytes)
        reading = FileReading(self._store.spark, selection.files, options, plan, self._dialect.plain)
        limit = self._settings.limits.deferred_per_namespace
        admit_request = AdmitRequest(self._context.run_id, limit, replay)
        admission = None
        if selection.files or replay is not None:
            admission = self._dialect.admit(reading, self._store, self._stage, admit_request)
        self._context.faults.reach("ingest.read")
        new, readmitted = self._merge_records(admission)
        self._context.faults.reach("ingest.records")
        manifests = check_manifests(selection, self._manifests, admission, self._store.spark, options.stream)
        reasons, examples = self._quarantine(admission, manifests, replay)
        self._context.faults.reach("ingest.quarantine")
        counts = {**_counts(admission, new, readmitted, len(selection.refused)), **manifests.counts}
        if dropped is not None:
            counts["dropped"] = dropped
        members = {
            "examples": examples,
            "damaged_files": self._damaged(admission),
            **self._replay_members(replay),
        }
        namespaces = 0 if admission is None else admission.namespaces
        return self._report(
            counts, reasons, manifests, members, namespaces, 0 if admission is None else admission.faults
        )

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
        written = self._store.merge_new(table, admission.records, admission.buckets, admission.bounds)
        self._written[table] = written
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

    def _quarantine(
        self, admission: Admission | None, manifests: ManifestFindings, replay: DataFrame | None
    ) -> tuple[dict[str, int], dict[str, dict[str, str]]]:
        """Write what was not accepted, delete what was admitted. Return counts by reason, and an example of each."""
        found = [] if admission is None or admission.findings is None else [admission.findings]
        of_files = (*manifests.findings, *refused_links(self._selection))
        told_of_files = as_findings(self._store.spark, of_files, found[0] if found else None)
        if told_of_files is not None:
            found.append(told_of_files)
        reasons: dict[str, int] = {}
        examples: dict[str, dict[str, str]] = {}
        rows: DataFrame | None = None
        if found:
            union = found[0] if len(found) == 1 else found[0].unionByName(found[1])
            named = identified(union, dialect=self._dialect.name, buckets=self._store.buckets)
            rows = self._stage.settle(named, "quarantine")
            told = _told_by_reason(rows)
            reasons = {row["reason"]: row["rows"] for row in told}
            frequent = sorted(told, key=lambda row: (-row["rows"], row["reason"]))[:EXAMPLES_SHOWN]
            examples = {row["reason"]: row["example"].asDict() for row in frequent}
            buckets = tuple(sorted({bucket for row in told for bucket in row["buckets"]}))
            if buckets:
                shaped = as_quarantine(
                    rows, dialect=self._dialect.name, rules_version=rules_version(), run_id=self._context.run_id,
                    seen_at=F.lit(self._context.started_at),
                )  # fmt: skip
                self._context.progress.stage("quarantine")
                self._written["quarantine"] = self._store.upsert("quarantine", shaped, buckets)
        self._delete(None if admission is None else admission.admitted)
        if replay is not None:
            judged = replay.select("quarantine_id", "bucket")
            stays = None if rows is None else rows.select("quarantine_id")
            self._delete(judged if stays is None else judged.join(stays, "quarantine_id", "left_anti"))
        return reasons, examples

    def _delete(self, keys: DataFrame | None) -> None:
        if keys is None:
            return
        keys = self._stage.settle(keys.select("quarantine_id", "bucket"), "settled rows")
        [row] = keys.agg(F.collect_set("bucket").alias("buckets")).collect()
        if row["buckets"]:
            deleted = self._store.delete("quarantine", keys, tuple(row["buckets"]))
            before = self._written.get("quarantine")
            self._written["quarantine"] = Written(deleted.version, 0 if before is None else before.inserted)

    def _replayed(self) -> DataFrame | None:
        """Return the rejected rows that are judged again, or None if none was asked for or there is none."""
        request = self._request
        if not request.from_quarantine:
            return None
        rows = self._store.read("quarantine").where(
            (F.col("dialect") == self._dialect.name)
            & (F.col("status") == "rejected") & (F.col("scope") == "record") & F.col("raw_whole")
            & ~F.array_contains("reasons", "PATH_REFUSED")
        )  # fmt: skip
        if request.reason is not None:
            rows = rows.where(F.array_contains("reasons", request.reason))
        if request.namespace is not None:
            named = [request.namespace, *(f"{kind}:{request.namespace}" for kind in self._dialect.kinds)]
            rows = rows.where(F.col("namespace").isin(*named))
        kept = self._stage.settle(rows, "rejected rows")
        return kept if kept.head(1) else None

    def _replay_members(self, replay: DataFrame | None) -> dict[str, object]:
        if replay is None:
            return {}
        after = self._store.read("quarantine").select("quarantine_id", F.lit(True).alias("stays"))
        told = (
            replay.join(after, "quarantine_id", "left")
            .groupBy(F.array_join("reasons", ",").alias("reasons"))
            .agg(F.count(F.lit(1)).alias("rows"), F.count("stays").alias("unchanged"))
        )
        by_reasons = {
            row["reasons"]: {"rows": row["rows"], "unchanged": row["unchanged"]} for row in told.collect()
        }
        return {"replayed": dict(sorted(by_reasons.items()))}

    def _drop_old(self) -> int | None:
        day = self._request.drop_rejected_before
        if day is None:
            return None
        old = self._store.read("quarantine").where(
            (F.col("dialect") == self._dialect.name)
            & (F.col("status") == "rejected")
            & (F.col("last_seen") < F.lit(day))
        )
        before = self._stage.keep(old.select("quarantine_id", "bucket"), "old rows")
        rows = before.count()
        self._delete(before)
        return rows

    def _damaged(self, admission: Admission | None) -> list[dict[str, object]]:
        return [] if admission is None or admission.damaged is None else [
            row.asDict()
            for row in admission.damaged.limit(DAMAGED_FILES_SHOWN).collect()
        ]  # fmt: skip

    def _report(
        self, counts: Mapping[str, int], reasons: Mapping[str, int], manifests: ManifestFindings,
        members: Mapping[str, object], namespaces: int, faults: int,
    ) -> Report:  # fmt: skip
        outcome: Outcome = "ok"
        if manifests.disagreements or (self._request.fail_on_reject and counts.get("rejected")):
            outcome = "found"
        if faults:
            outcome = "fault"
        return finished(
            self._store, self._context, outcome=outcome, dialect=self._dialect.name, counts=counts, reasons=reasons,
            namespaces=namespaces, written=self._written, members=members,
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


def _told_by_reason(rows: DataFrame) -> list[Row]:
    """Return, by reason, how many records it was given, an example, and the buckets of its rows."""
    example = F.min(F.struct(F.lower(F.hex("quarantine_id")).alias("quarantine_id"), "evidence"))
    return (
        rows.select(F.explode("reasons").alias("reason"), "quarantine_id", "evidence", "bucket")
        .groupBy("reason")
        .agg(
            F.count(F.lit(1)).alias("rows"),
            example.alias("example"),
            F.collect_set("bucket").alias("buckets"),
        )
        .orderBy("reason")
        .collect()
    )
