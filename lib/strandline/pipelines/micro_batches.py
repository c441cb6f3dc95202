"""Processes the micro-batches of a stream: each goes through `ingest` and `reduce`."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock

from strandline.config.settings import Settings
from strandline.contracts.load import tables
from strandline.core.errors import FaultError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import GivenOption
from strandline.kernels.formats import format_of
from strandline.pipelines import ingest, reduce
from strandline.pipelines.ingest_input import IngestRequest
from strandline.pipelines.rebuild_diff import DIFFERENCES_SHOWN
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.report import (
    EXIT_CODES,
    Outcome,
    Report,
    ReportError,
    SomeNamespaces,
    found_members,
)
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.pipelines.unreduced import is_unreduced
from strandline.tables.beside import KnownManifests
from strandline.tables.catalogs import noting_left
from strandline.tables.maintain import compact_small
from strandline.tables.paths import path_text
from strandline.tables.store import TableStore
from strandline.tables.stream import MicroBatch
from strandline.tables.written import Written, add_written


@dataclass(frozen=True, slots=True)
class MicroBatchOptions:
    """Options of all batches: the watched `folder`, or None; the rest as in `stream.StreamRequest`."""

    folder: bytes | None
    format: str | None = None
    options: object | None = None
    files: Mapping[str, GivenOption | None] = field(default_factory=dict)


class _Closed(Exception):  # noqa: N818 - not an error: Spark repeats the batch at the next start
    """A batch arrived after the stream was closed."""


class MicroBatchRun:
    """Processes micro-batches and sums up their reports."""

    def __init__(
        self, store: TableStore, dialect: Dialect, request: MicroBatchOptions, settings: Settings, context: RunContext,
        runs: Callable[[str], RunContext],
    ) -> None:  # fmt: skip
        self._store = store
        self._dialect = dialect
        self._request = request
        self._stopped: dict[str, list[str]] = {}
        self._settings = settings
        self._context = context
        self._runs = runs
        self._manifests = KnownManifests()
        self._counts: Counter[str] = Counter(batches=0, read=0, new=0)
        self._reasons: Counter[str] = Counter()
        self._written: dict[str, Written] = {}
        self._outcome: Outcome = "ok"
        self._error: ReportError | None = None
        self._damaged: dict[str, SomeNamespaces] = {}
        self._lag: float | None = None
        self._namespaces = 0
        self._read = 0
        self._last = -1
        self._at_work = Lock()
        self._is_closed = False
        self._left: set[str] = set()
        """Tables that only their catalog compacts."""
        self.failed: BaseException | None = None
        self.has_begun = False
        self.has_refused = False

    def begin(self) -> None:
        """Reduce before any batch, if option files are given or a run left records that are not reduced.

        Later reductions use the option files, too. A stream that was killed after the ingest of a batch gets the same
        batch again, but its files or messages may be gone by then, and no other batch need come.
        """
        if self._request.files or is_unreduced(self._store, self._dialect.info):
            self._done(self._reduce(self._request.files))

    def process_batch(self, batch: MicroBatch) -> None:
        """Ingest and reduce one micro-batch. Keeps an error in `failed`, since Spark passes on only its text."""
        self.has_begun = True
        with self._at_work:
            if self._is_closed:
                self.has_refused = True
                raise _Closed
            try:
                self._process(batch)
                self._last = batch.number
            except BaseException as error:
                self.failed = error
                raise

    def close(self) -> int:
        """Wait for the current batch, if any, and begin no other. Return the number of the last one, -1 without one."""
        with self._at_work:
            self._is_closed = True
            return self._last

    def _process(self, batch: MicroBatch) -> None:
        began = self._context.elapsed()
        if batch.messages is None:
            request, arrived = self._files(batch)
        else:
            arrived = {"messages": batch.messages.count}
            # A batch may have offsets without messages: those of transaction markers.
            request = (
                IngestRequest(messages=batch.messages, options=self._request.options)
                if arrived["messages"]
                else None
            )
        if request is not None:
            self._done(self._ingest(request))
            self._context.faults.reach("stream.landed")
            self._done(self._reduce({}))
        self._context.faults.reach("stream.reduced")
        self._counts.update({"batches": 1, **arrived})
        every = self._settings.stream.compact_every
        # Numbers go on from one start of the stream to the next.
        if every and (batch.number + 1) % every == 0:
            self._compact()
        self._note(batch, arrived, self._context.elapsed() - began)

    def _files(self, batch: MicroBatch) -> tuple[IngestRequest | None, Mapping[str, int]]:
        """Return the request for a batch of files or objects, or None if none can be read, and their counts.

        Objects are not looked up again: one that was removed is a rejected record.
        """
        present = [*batch.objects, *filter(os.path.lexists, batch.paths)]
        readable = [path for path in present if self._request.format or self._has_format(path)]
        counts = {
            "files": len(readable),
            "gone": len(batch.paths) + len(batch.objects) - len(present),
            "formless": len(present) - len(readable),
        }
        if not readable:
            return None, counts
        return IngestRequest(
            tuple(os.fsdecode(path) for path in readable if path not in batch.objects),
            format=self._request.format,
            within=self._request.folder,
            listed={path: batch.objects[path] for path in readable if path in batch.objects},
            options=self._request.options,
            known=self._manifests,
        ), counts

    def _has_format(self, path: bytes) -> bool:
        """Return whether the name of the file shows its format. If not, print a note and leave the file."""
        formats = self._dialect.info.formats
        if not formats or format_of(os.fsdecode(os.path.basename(path)), formats) is not None:
            return True
        shown = path_text(path)
        self._context.progress.note(
            f"skipped, since the name does not show the format: {shown}; `strandline ingest {shlex.quote(shown)} "
            f"--dialect {self._dialect.info.name} --format FORMAT` reads it"
        )
        return False

    def _ingest(self, request: IngestRequest) -> Report:
        context = self._runs("ingest")
        store = self._store.of_run(context.run_id)
        report = ingest.run(store, self._dialect, request, self._settings, context)
        self._counts.update(report.counts)
        self._reasons.update(report.reasons)
        self._read = report.counts["read"]
        self._stopped |= report.members.get("stopped", {})
        return report

    def _reduce(self, files: Mapping[str, GivenOption | None]) -> Report:
        context = self._runs("reduce")
        options = self._request.options
        request = ReduceRequest(
            files=files,
            walk_entries=self._settings.limits.walk_entries,
            options={} if options is None else {self._dialect.info.name: options},
        )
        return reduce.run(
            self._store.of_run(context.run_id), (self._dialect,), request, self._settings, context
        )

    def _compact(self) -> None:
        """Compact the small files that batches left. Another writer may be faster each time: they stay then.

        They stay, too, where only the catalog compacts.
        """
        chosen = self._settings.maintain
        knew = len(self._left)
        try:
            for table in filter(
                self._store.stored_bytes, (each for each in tables() if each not in self._left)
            ):
                removed, added = 0, 0
                with noting_left(table, self._left):
                    removed, added = compact_small(
                        self._store, table, small_bytes=chosen.small_bytes, least=chosen.small_files,
                        target_bytes=chosen.target_bytes,
                    )  # fmt: skip
                if removed:
                    self._counts.update({"compacted_files": removed, "written_files": added})
        except FaultError as error:
            if error.code != "WRITE_CONFLICT":
                raise
            self._context.progress.note(f"small files stay for now: {error.message}")
        if len(self._left) > knew:
            self._context.progress.note(
                f"the catalog alone compacts {len(self._left)} tables: they are left to it"
            )
        self._context.faults.reach("stream.compacted")

    def _done(self, report: Report) -> None:
        if EXIT_CODES[report.outcome] > EXIT_CODES[self._outcome]:
            self._outcome = report.outcome
        self._error = self._error or report.error
        self._namespaces = max(self._namespaces, report.namespaces)
        for table, names in report.members.get("damaged", {}).items():
            before = self._damaged.get(table, SomeNamespaces((), 0))
            every = tuple(dict.fromkeys([*before.names, *names]))
            # Batches may find the same ones: at least so many.
            total = max(before.total, report.members.get("damaged_total", {}).get(table, 0), len(every))
            self._damaged[table] = SomeNamespaces(every[:DIFFERENCES_SHOWN], total)
        changes = {table: Written(each.version, each.inserted) for table, each in report.tables.items()}
        add_written(self._written, changes)

    def _note(self, batch: MicroBatch, arrived: Mapping[str, int], seconds: float) -> None:
        """Print files or messages of the batch, records per second, and how long the oldest had waited at the end."""
        now = self._context.started_at + timedelta(seconds=self._context.elapsed())
        self._lag = None if batch.oldest is None else max((now - batch.oldest).total_seconds(), 0.0)
        lag = "" if self._lag is None else f", lag {self._lag:,.0f} s"
        name, amount = next(iter(arrived.items()))
        rate = self._read / max(seconds, 0.001) if amount else 0
        self._context.progress.note(
            f"batch {batch.number}: {amount:,} {name}, {rate:,.0f} records/s{lag}; so far {self._counts['read']:,} "
            f"read, {self._counts['new']:,} new, {self._counts['rejected']:,} rejected"
        )

    def report(self, checkpoint: str) -> Report:
        """Write the row of the stream to `run` and return its report."""
        lag = None if self._lag is None else round(self._lag, 3)
        result = RunResult(
            outcome=self._outcome, dialect=self._dialect.info.name, counts=dict(self._counts),
            reasons=dict(self._reasons), namespaces=self._namespaces, written=self._written,
            members={
                "checkpoint": checkpoint, "lag_seconds": lag, "stopped": self._stopped,
                **(found_members("damaged", self._damaged) if self._damaged else {}),
            },
            error=self._error,
        )  # fmt: skip
        return record_run(self._store, self._context, result)
