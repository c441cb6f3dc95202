"""The product as its commands drive it: one session, lakes copied by linking, pipelines that tell their stages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench.data import text_bytes
from bench.measure import Run, Stages, timed
from strandline.config import Settings
from strandline.dialects import dialect, every
from strandline.dialects.base import AdmitRequest, Dialect
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import KeepLimits
from strandline.kernels.reading import ReadOptions
from strandline.pipelines import ingest, init, reduce
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import NoProgress, Progress, RunContext, new_run_id
from strandline.pipelines.stage import RunStage
from strandline.tables.commits import Retry
from strandline.tables.location import Location
from strandline.tables.reading import FileReading, ReadPlan
from strandline.tables.sources import select
from strandline.tables.store import TableStore

SDMP, IPFSLOG = dialect("sdmp"), dialect("ipfslog")


@dataclass(frozen=True, slots=True)
class Reported:
    """A timed pipeline and its report."""

    run: Run
    report: Report


class Engine:
    """One session and a folder for lakes; nothing of it outlives the run."""

    def __init__(self, spark: SparkSession, settings: Settings, folder: Path) -> None:
        self.spark = spark
        self.settings = settings
        self._folder = folder
        self._numbers = count()
        self._empty: Path | None = None

    def new_path(self) -> Path:
        """Return a path where nothing is: a table that was read once is cached by its path."""
        return self._folder / f"{next(self._numbers):04d}"

    def empty_lake(self) -> Path:
        """Return a new lake whose tables are there and empty."""
        if self._empty is None:
            self._empty = self.new_path()
            store = self.store(self._empty)
            init.run(store, init.InitOptions(), _context("init", store))
        return self.copy(self._empty)

    def copy(self, lake: Path) -> Path:
        """Return a copy of a lake or table: data files are linked, since nobody changes one; the log is copied."""
        target = self.new_path()
        shutil.copytree(lake, target, copy_function=_link)
        return target

    def drop(self, *lakes: Path) -> None:
        """Remove lakes that are not needed any more."""
        for lake in lakes:
            shutil.rmtree(lake)

    def store(self, lake: Path) -> TableStore:
        """Return the tables of a lake, as a run of its own."""
        run_id = new_run_id(datetime.now(UTC), os.urandom(16))
        return TableStore(self.spark, Location.lake(str(lake)), Retry(self.settings.merge), run_id=run_id)

    def ingest(
        self, lake: Path, sources: Iterable[str | Path], *, new: int | None = None, of: Dialect = SDMP
    ) -> Reported:
        """Ingest the sources. Raises: RuntimeError if other than `new` records were new."""
        request = ingest.IngestRequest(sources=tuple(map(str, sources)))
        store, stages = self.store(lake), Stages()
        began = time.perf_counter()
        report = ingest.run(store, of, request, self.settings, _context("ingest", store, stages))
        run = Run(time.perf_counter() - began, stages.ended())
        if report.exit or (new is not None and report.counts.get("new") != new):
            raise RuntimeError(f"ingest ended with {dict(report.counts)}, expected {new} new records")
        return Reported(run, report)

    def reduce(self, lake: Path, *, full: bool = False, new: int | None = None) -> Reported:
        """Reduce the lake. Raises: RuntimeError if it found a difference or other than `new` new records."""
        store, stages = self.store(lake), Stages()
        began = time.perf_counter()
        report = reduce.run(store, every(), reduce.ReduceRequest(full), _context("reduce", store, stages))
        run = Run(time.perf_counter() - began, stages.ended())
        if report.exit or (new is not None and report.counts.get("new_records") != new):
            raise RuntimeError(f"reduce ended with {dict(report.counts)}, expected {new} new records")
        return Reported(run, report)

    def admit(self, lake: Path, sources: Sequence[str | Path], *, lines: int) -> Run:
        """Judge the sources as `ingest` does, compute the rows it would merge, and write nothing."""
        store, stages = self.store(lake), Stages()
        limit = self.settings.limits.deferred_per_namespace
        began = time.perf_counter()
        reading = self.reading(sources)
        split_bytes = self.settings.read.split_bytes
        with store.sized(text_bytes(sources), split_bytes), RunStage(stages) as stage:
            request = AdmitRequest(run_id=store.run_id, deferred_per_namespace=limit)
            admission = SDMP.admit(reading, store, stage, request)
            stages.stage("rows")
            if not admission.unions or admission.counts["accepted"] != lines:
                raise RuntimeError(f"admission ended with {dict(admission.counts)}, expected {lines} lines")
            compute(admission.unions[0].rows)
        return Run(time.perf_counter() - began, stages.ended())

    def session_start(self) -> Run:
        """Time the start of a session of its own, beside this one, until it answers."""
        master = self.settings.spark.master
        text = (
            "import os; from strandline.cli.invocation import Invocation, Options; "
            "from strandline.session import open_session; "
            f"settings = Invocation('bench', Options(settings=('spark.master={master}',))).settings; "
            "open_session(settings, environ=os.environ, run_id='bench-start').range(1).count()"
        )
        return timed(lambda: subprocess.run([sys.executable, "-c", text], check=True, capture_output=True))

    def reading(self, sources: Iterable[str | Path], *, lines_min_bytes: int | None = None) -> FileReading:
        """Return the input as `ingest` reads it; `lines_min_bytes` moves the border between its two readers."""
        limits, read = self.settings.limits, self.settings.read
        options = ReadOptions(
            choices={"strict": "weak"},
            stream=StreamLimits(limits.decompressed_bytes, limits.ratio),
            keep=KeepLimits(limits.quarantine_raw_bytes, limits.quarantine_raw_head),
        )
        files = select(tuple(map(str, sources)), most=limits.files).files
        least = read.lines_min_bytes if lines_min_bytes is None else lines_min_bytes
        return FileReading(self.spark, files, options, ReadPlan(least, read.split_bytes), SDMP.plain)


def compute(frame: DataFrame) -> None:
    """Compute every row and column of a frame and throw them away."""
    frame.write.format("noop").mode("overwrite").save()


def _context(command: str, store: TableStore, progress: Progress | None = None) -> RunContext:
    began = time.monotonic()
    return RunContext(
        run_id=store.run_id,
        command=command,
        version=version("strandline"),
        started_at=datetime.now(UTC),
        progress=progress or NoProgress(),
        elapsed=lambda: time.monotonic() - began,
    )


def _link(source: str, target: str) -> None:
    if "_delta_log" in Path(source).parts:
        shutil.copyfile(source, target)
        return
    try:
        os.link(source, target)
    except OSError:  # the folder for temporary files lies on something that has no links
        shutil.copyfile(source, target)
