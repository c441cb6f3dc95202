"""The way of records into a lake: judged by their dialect, united with what is there, the others quarantined."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.config.settings import Settings
from strandline.contracts.load import contract
from strandline.dialects.authoring import OwnRun
from strandline.dialects.base import Admission, AdmitRequest, Dialect, Reading, Union
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import KeepLimits
from strandline.kernels.reading import ReadOptions
from strandline.pipelines.rejects import QUARANTINE, Rejects
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.stage import RunStage
from strandline.tables.store import TableStore, Written


@dataclass(slots=True)
class Merged:
    """Rows that the union merges inserted: new records, records that had waited, and rows that nobody delivered."""

    new: int = 0
    readmitted: int = 0
    beside: dict[str, int] = field(default_factory=dict)


class Admitting:
    """What one run admits of one dialect. `rejects` is its quarantine."""

    def __init__(
        self, store: TableStore, dialect: Dialect, settings: Settings, context: RunContext, stage: RunStage
    ) -> None:
        self.rejects = Rejects(store, dialect, context, stage)
        self._store = store
        self._dialect = dialect
        self._settings = settings
        self._context = context
        self._stage = stage
        self._written: dict[str, Written] = {}

    def options(self) -> ReadOptions:
        """Return what decides how bytes are read: the lake's choices, and the limits of the settings."""
        limits = self._settings.limits
        return ReadOptions(
            choices={
                option.name: self._store.properties(option.table).get(option.property, option.values[0])
                for option in self._dialect.lake_options
            },
            stream=StreamLimits(limits.decompressed_bytes, limits.ratio),
            keep=keep_limits(self._settings),
        )

    def admit(self, reading: Reading, own: OwnRun | None, replay: DataFrame | None = None) -> Admission:
        """Return the verdicts on all that is read, and on the rejected rows of `replay`."""
        limit = self._settings.limits.deferred_per_namespace
        choices = None if own is None else own.choices
        request = AdmitRequest(self._context.run_id, limit, replay, choices)
        return self._dialect.admit(reading, self._store, self._stage, request)

    def merge(self, admission: Admission) -> Merged:
        """Union the accepted records, a table after the other. Return what of them was new."""
        merged = Merged()
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

    def written(self) -> dict[str, Written]:
        """Return what was written so far, by table."""
        of_quarantine = self.rejects.written
        return dict(self._written) if of_quarantine is None else {**self._written, QUARANTINE: of_quarantine}


def keep_limits(settings: Settings) -> KeepLimits:
    """Return how much of the bytes of a bad record is kept."""
    return KeepLimits(settings.limits.quarantine_raw_bytes, settings.limits.quarantine_raw_head)


def counts_of(admission: Admission | None, merged: Merged, refused: int = 0) -> dict[str, int]:
    """Return what became of the records read: each is new, known, rejected or deferred.

    `refused` are files that were not opened: a rejected record each.
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
        **merged.beside,
    }
