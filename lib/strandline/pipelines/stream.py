"""`stream`: follows a landing folder; every micro-batch is landed by `ingest` and folded by `reduce`."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from pyspark.errors import StreamingQueryException

from strandline.config.settings import Settings
from strandline.core.errors import FaultError, UsageError
from strandline.dialects.authoring import OwnRun
from strandline.dialects.base import Dialect
from strandline.kernels.formats import format_of
from strandline.pipelines import ingest, init, reduce, told
from strandline.pipelines.ingest import IngestRequest
from strandline.pipelines.reduce import ReduceRequest
from strandline.pipelines.report import EXIT_CODES, Outcome, Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import finished
from strandline.pipelines.told import GivenFile
from strandline.tables import lake
from strandline.tables.location import Location
from strandline.tables.paths import path_text
from strandline.tables.store import TableStore, Written
from strandline.tables.stream import Landed, bind, follow_folder, landing_folder, unspelled

WATCH_SECONDS: Final = 2
"""How often the folder is looked for while nothing lands in it."""


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """What `stream` was asked for.

    `format` overrides what names tell. `every`: seconds between two looks at the folder; None: land what is there and
    end. `checkpoint`: a folder or URI; None: one in the lake, named after source and dialect. `own` says whose journals
    are written, if any; `files` are those given for dialects' reducer options, as `reduce` takes them.
    """

    source: str
    format: str | None = None
    every: float | None = None
    max_files: int | None = None
    checkpoint: str | None = None
    own: OwnRun | None = None
    files: Mapping[str, GivenFile | None] = field(default_factory=dict)


def run(
    store: TableStore, dialect: Dialect, request: StreamRequest, settings: Settings, context: RunContext,
    runs: Callable[[str], RunContext],
) -> Report:  # fmt: skip
    """Land and reduce what comes into the folder, batch by batch; with the rows and state hashes of batch runs.

    Each micro-batch is one run of `ingest` and one of `reduce`, named by `runs`, which makes the context of a run of
    a command. Killed anywhere, the stream takes up the same batch again: its records are then known.
    Raises: UsageError (a source that is no folder, a lake that is not ours, no place for the checkpoint), FaultError
    CHECKPOINT_FOREIGN, SOURCE_GONE, STREAM_STOPPED, and what `ingest` and `reduce` raise.
    """
    told.check((dialect,), request.files)
    folder = landing_folder(request.source)
    checkpoint = request.checkpoint or _checkpoint(store.location, folder, dialect.name)
    lake.require(store, init.design_by(settings, (dialect,)))
    owner = {
        "lake": store.table_id(dialect.record_table),
        "source": path_text(folder),
        "dialect": dialect.name,
    }
    bind(store.spark, checkpoint, owner)
    for name in unspelled(folder):
        context.progress.note(
            f"passed over, since its name is not UTF-8: {name}; `strandline ingest` reads it"
        )
    landing = _Landing(store, dialect, folder, request, settings, context, runs)
    if request.files:
        landing.tell()
    query = follow_folder(
        store.spark, folder, checkpoint,
        most_files=request.max_files or settings.stream.max_files, every=request.every, land=landing.take,
    )  # fmt: skip
    try:
        while not query.awaitTermination(WATCH_SECONDS):
            if not os.path.isdir(folder):
                raise _gone(folder)
    except KeyboardInterrupt:
        context.progress.note("stopped: what was landed stands, the next start goes on behind it")
    except StreamingQueryException as stopped:
        raise landing.failed or _why(stopped, folder) from None
    finally:
        query.stop()
    return landing.report(checkpoint)


class _Landing:
    """What becomes of the micro-batches, and what they were together."""

    def __init__(
        self, store: TableStore, dialect: Dialect, folder: bytes, request: StreamRequest, settings: Settings,
        context: RunContext, runs: Callable[[str], RunContext],
    ) -> None:  # fmt: skip
        self._store = store
        self._dialect = dialect
        self._folder = folder
        self._request = request
        self._stopped: Mapping[str, object] = {}
        self._settings = settings
        self._context = context
        self._runs = runs
        self._counts: Counter[str] = Counter(batches=0, files=0, gone=0, formless=0, read=0, new=0)
        self._reasons: Counter[str] = Counter()
        self._written: dict[str, Written] = {}
        self._outcome: Outcome = "ok"
        self._lag: float | None = None
        self._read = 0
        self.failed: BaseException | None = None

    def tell(self) -> None:
        """Reduce as the given files say, whether anything lands or not; what they say holds from then on."""
        self._done(self._reduce(self._request.files))

    def take(self, landed: Landed) -> None:
        """Land and reduce one micro-batch; what goes wrong is kept, since Spark tells no more than its text."""
        try:
            self._take(landed)
        except BaseException as error:
            self.failed = error
            raise

    def _take(self, landed: Landed) -> None:
        began = self._context.elapsed()
        there = [path for path in landed.paths if os.path.lexists(path)]
        paths = [path for path in there if self._request.format or self._has_format(path)]
        if paths:
            request = IngestRequest(
                tuple(map(os.fsdecode, paths)), format=self._request.format, within=self._folder,
                own=self._request.own,
            )  # fmt: skip
            self._done(self._ingest(request))
            self._context.faults.reach("stream.landed")
            self._done(self._reduce({}))
        self._context.faults.reach("stream.reduced")
        gone, formless = len(landed.paths) - len(there), len(there) - len(paths)
        self._counts.update(batches=1, files=len(paths), gone=gone, formless=formless)
        self._tell(landed, len(paths), self._context.elapsed() - began)

    def _has_format(self, path: bytes) -> bool:
        """Return whether the name tells what the file holds; one that does not is named and stays where it is."""
        formats = self._dialect.formats
        if not formats or format_of(os.fsdecode(os.path.basename(path)), formats) is not None:
            return True
        self._context.progress.note(
            f"passed over, since its name does not tell what it holds: {path_text(path)}; "
            f"`strandline ingest --format` reads it"
        )
        return False

    def _ingest(self, request: IngestRequest) -> Report:
        context = self._runs("ingest")
        store = self._store.of_run(context.run_id)
        report = ingest.run(store, self._dialect, request, self._settings, context)
        self._counts.update(report.counts)
        self._reasons.update(report.reasons)
        self._read = report.counts["read"]
        self._stopped = report.members.get("stopped", {})
        return report

    def _reduce(self, files: Mapping[str, GivenFile | None]) -> Report:
        context = self._runs("reduce")
        own = {} if self._request.own is None else {self._dialect.name: self._request.own}
        request = ReduceRequest(files=files, walk_entries=self._settings.limits.walk_entries, own=own)
        return reduce.run(self._store.of_run(context.run_id), (self._dialect,), request, context)

    def _done(self, report: Report) -> None:
        if EXIT_CODES[report.outcome] > EXIT_CODES[self._outcome]:
            self._outcome = report.outcome
        for table, change in report.tables.items():
            before = self._written.get(table, Written(0))
            self._written[table] = Written(change.version, before.inserted + change.inserted)

    def _tell(self, landed: Landed, files: int, seconds: float) -> None:
        """Say what the batch was: files, records a second, and how long its first file had waited in the end."""
        now = self._context.started_at + timedelta(seconds=self._context.elapsed())
        self._lag = None if landed.oldest is None else max((now - landed.oldest).total_seconds(), 0.0)
        lag = "" if self._lag is None else f", lag {self._lag:,.0f} s"
        rate = self._read / max(seconds, 0.001) if files else 0
        self._context.progress.note(
            f"batch {landed.number}: {files:,} files, {rate:,.0f} records/s{lag}; so far {self._counts['read']:,} "
            f"read, {self._counts['new']:,} new, {self._counts['rejected']:,} rejected"
        )

    def report(self, checkpoint: str) -> Report:
        """Write the stream's own row and return its report."""
        lag = None if self._lag is None else round(self._lag, 3)
        return finished(
            self._store, self._context, outcome=self._outcome, dialect=self._dialect.name, counts=dict(self._counts),
            reasons=dict(self._reasons), written=self._written,
            members={"checkpoint": checkpoint, "lag_seconds": lag, "stopped": self._stopped},
        )  # fmt: skip


def _checkpoint(location: Location, folder: bytes, dialect: str) -> str:
    """Return the checkpoint's place in the lake: one for each source and dialect."""
    if not location.is_path():
        raise UsageError(
            "CHECKPOINT_MISSING",
            f"{location.describe()} is a schema, and a schema has no place for a checkpoint",
            "add --checkpoint with a folder or URI that stays",
        )
    name = hashlib.sha256(folder + b"\n" + dialect.encode()).hexdigest()[:16]
    return location.table_path(f"_checkpoints/{name}")


def _gone(folder: bytes) -> FaultError:
    return FaultError(
        "SOURCE_GONE",
        f"The folder {path_text(folder)} is no longer there",
        "put it back and start the stream again: it goes on where it was",
    )


def _why(stopped: StreamingQueryException, folder: bytes) -> BaseException:
    """Return what ended the stream, if it was none of our runs."""
    if not os.path.isdir(folder):
        return _gone(folder)
    first = next((line for line in str(stopped).splitlines() if line.strip()), "no message")
    return FaultError(
        "STREAM_STOPPED",
        f"Spark ended the stream: {first[:300]}",
        "start it again: it goes on where it was; if that does not help, name a new --checkpoint",
    )
