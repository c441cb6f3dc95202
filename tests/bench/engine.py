"""The product as its commands drive it: one session, lakes copied by linking, pipelines that tell their stages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench.data import text_bytes
from bench.measure import Run, Stages, timed
from strandline.config import Settings
from strandline.contracts.load import tables
from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.journals import AuthorScope
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialects import dialect, every
from strandline.dialects.sdmp.author import synthetic_id
from strandline.kernels.containers import StreamLimits
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import ReadOptions
from strandline.pipelines import checkpoint, gc, ingest, init, reduce, sql, stream, sync_journals, sync_lakes
from strandline.pipelines.checkpoint_request import CheckpointRequest, Signer
from strandline.pipelines.faults import Faults
from strandline.pipelines.ingest_input import IngestRequest
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import NoProgress, Progress, RunContext, new_run_id
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.commits import Retry
from strandline.tables.delta_rs import open_table
from strandline.tables.file_scan import FileScan, ReadPlan
from strandline.tables.lake import options_of
from strandline.tables.location import Location
from strandline.tables.sources import select
from strandline.tables.store import TableStore

SDMP, IPFSLOG, AURA, DEVICELOG = map(dialect, ("sdmp", "ipfslog", "aura", "devicelog"))


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
        request = IngestRequest(sources=tuple(map(str, sources)))
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
        report = reduce.run(
            store, every(), ReduceRequest(full), self.settings, _context("reduce", store, stages)
        )
        run = Run(time.perf_counter() - began, stages.ended())
        if report.exit or (new is not None and report.counts.get("new_records") != new):
            raise RuntimeError(f"reduce ended with {dict(report.counts)}, expected {new} new records")
        return Reported(run, report)

    def collect(self, lake: Path, skip_window: int, *, least: int, what_if: bool = False) -> Run:
        """Prune what decides nothing any more.

        Raises: RuntimeError if a namespace was refused, or fewer than `least` records can go.
        """
        store, stages = self.store(lake), Stages()
        request = gc.GcRequest(skip_window=skip_window, dialects=("aura",), what_if=what_if)
        began = time.perf_counter()
        report = gc.run(store, every(), request, _context("gc", store, stages))
        run = Run(time.perf_counter() - began, stages.ended())
        if report.exit or report.counts["prunable"] < least:
            raise RuntimeError(f"gc ended with {dict(report.counts)}, expected {least} records or more")
        return run

    def checkpoint(self, lake: Path, *, leaves: int) -> Run:
        """Write signed checkpoints. Raises: RuntimeError if other than `leaves` leaves were written."""
        store, stages = self.store(lake), Stages()
        request = CheckpointRequest(signer=Signer("bench.example", bytes(32)))
        began = time.perf_counter()
        report = checkpoint.run(store, every(), request, _context("checkpoint", store, stages))
        run = Run(time.perf_counter() - began, stages.ended())
        if report.exit or report.counts["leaves"] != leaves:
            raise RuntimeError(f"checkpoint ended with {dict(report.counts)}, expected {leaves} leaves")
        return run

    def own(self, peers: Mapping[int, Iterable[int]]) -> object:
        """Return the choices of own nodes: made-up nodes with their peers, by their numbers."""
        nodes = [
            {
                "node": synthetic_id("node", number), "user": synthetic_id("user", number),
                "connections": [
                    {"user": synthetic_id("user", number), "nodes": [synthetic_id("node", peer) for peer in each]}
                ],
            }
            for number, each in peers.items()
        ]  # fmt: skip
        given = GivenOption("nodes.json", json.dumps({"nodes": nodes}).encode("ascii"))
        parsed: object = SDMP.parse_options({"nodes": (given,)})
        return parsed

    def announce(self, lake: Path, sources: Iterable[str | Path], own: object) -> None:
        """Land what own nodes hold, and write none of it: the run ends before its writer begins."""
        request = IngestRequest(sources=tuple(map(str, sources)), options=own)
        store = self.store(lake)
        context = replace(_context("ingest", store), faults=Faults("ingest.quarantine", fire=_end))
        with suppress(_EndedError):
            ingest.run(store, SDMP, request, self.settings, context)

    def next_commit(self, lake: Path, own: object, *, lines: int) -> Run:
        """Compute the rows of the writer's next commit, and write nothing."""
        store, stages = self.store(lake), Stages()
        began = time.perf_counter()
        with store.sized(store.stored_bytes("node_resource")), SparkJobs(stages) as jobs:
            scope = AuthorScope(store.version("node_journal_line"), ())
            commit = SDMP.next_commit(own, store, jobs, scope)
            if commit is None or commit.count != lines:
                raise RuntimeError(f"the writer has other than {lines} lines to write")
            stages.stage("rows")
            compute(commit.rows)
        return Run(time.perf_counter() - began, stages.ended())

    def plan(self, lake: Path, of: Dialect, *, since: int | None = None) -> Run:
        """Compute the rows of a reduction, of all records or of those since a version, and write nothing."""
        store, table, stages = self.store(lake), of.info.record_table, Stages()
        began = time.perf_counter()
        with store.sized(store.stored_bytes(table)), SparkJobs(stages) as jobs:
            version = store.version(table)
            changes = None if since is None else store.changes(table, since + 1, version)
            scope = ReduceScope(since, version, store.run_id, lake_options=options_of(store, of.info))
            found = of.reduce(changes, store, jobs, scope)
            for rows in (*found.tables.values(), *found.deletes.values(), found.states):
                compute(rows)
        return Run(time.perf_counter() - began, stages.ended())

    def write(self, lake: Path, own: object, *, lines: int) -> Run:
        """Write what own nodes hold. Raises: RuntimeError if other than `lines` lines were written."""
        store, stages = self.store(lake), Stages()
        began = time.perf_counter()
        request = IngestRequest(options=own)
        report = ingest.run(store, SDMP, request, self.settings, _context("ingest", store, stages))
        run = Run(time.perf_counter() - began, stages.ended())
        if report.exit or report.counts.get("authored") != lines:
            raise RuntimeError(f"the writer ended with {dict(report.counts)}, expected {lines} lines")
        return run

    def sync(self, lake: Path, own: object, *, lines: int) -> Run:
        """Write what peers name. Raises: RuntimeError if other than `lines` lines were written."""
        store, stages = self.store(lake), Stages()
        began = time.perf_counter()
        report = sync_journals.run(
            store, SDMP, sync_journals.SyncRequest(own), self.settings, _context("sync", store, stages)
        )
        run = Run(time.perf_counter() - began, stages.ended())
        if report.exit or report.counts.get("authored") != lines:
            raise RuntimeError(f"sync ended with {dict(report.counts)}, expected {lines} lines")
        return run

    def bring(self, lake: Path, other: Path, *, new: int) -> Run:
        """Bring what another lake holds. Raises: RuntimeError if other than `new` lines were missing."""
        store, stages = self.store(lake), Stages()
        there = store.at(Location.lake(str(other)))
        began = time.perf_counter()
        context = _context("sync", store, stages)
        report = sync_lakes.run(store, there, every(), sync_lakes.SyncLakesRequest(), self.settings, context)
        run = Run(time.perf_counter() - began, stages.ended())
        if report.exit or (report.counts["missing"], report.counts["new"]) != (new, new):
            raise RuntimeError(f"sync ended with {dict(report.counts)}, expected {new} new lines")
        return run

    def stream(self, lake: Path, folder: Path, *, max_files: int, batches: int) -> Run:
        """Follow a folder until all is landed. Raises: RuntimeError if it took other than `batches` batches."""
        store, stages = self.store(lake), Stages()
        began = time.perf_counter()
        request = stream.StreamRequest(str(folder), max_files=max_files)
        report = stream.run(
            store, SDMP, request, self.settings, _context("stream", store, stages),
            lambda command: _context(command, self.store(lake), stages),
        )  # fmt: skip
        run = Run(time.perf_counter() - began, stages.ended())
        if report.exit or report.counts["batches"] != batches:
            raise RuntimeError(f"stream ended with {dict(report.counts)}, expected {batches} batches")
        return run

    def query(self, lake: Path, query: str, *, rows: int) -> Run:
        """Run one query as `sql` does. Raises: RuntimeError if it has other than `rows` rows."""
        store, stages = self.store(lake), Stages()
        began = time.perf_counter()
        report = sql.run(store, sql.SqlRequest(query), _context("sql", store, stages))
        run = Run(time.perf_counter() - began, stages.ended())
        if report.counts["rows"] != rows:
            raise RuntimeError(f"the query has {report.counts['rows']} rows, not {rows}")
        return run

    def live_files(self, lake: Path) -> int:
        """Count the live data files of all tables of a lake."""
        location = Location.lake(str(lake))
        return sum(open_table(location, table).get_add_actions().num_rows for table in tables())

    def admit(self, lake: Path, sources: Sequence[str | Path], *, lines: int) -> Run:
        """Judge the sources as `ingest` does, compute the rows it would merge, and write nothing."""
        store, stages = self.store(lake), Stages()
        limit = self.settings.limits.deferred_per_namespace
        began = time.perf_counter()
        scan = self.scan(sources)
        with store.sized(text_bytes(sources)), SparkJobs(stages) as jobs:
            request = AdmitRequest(deferred_per_namespace=limit)
            admission = SDMP.admit(scan, store, jobs, request)
            stages.stage("rows")
            if not admission.inserts or admission.counts["accepted"] != lines:
                raise RuntimeError(f"admission ended with {dict(admission.counts)}, expected {lines} lines")
            compute(admission.inserts[0].rows)
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

    def scan(self, sources: Iterable[str | Path]) -> FileScan:
        """Return the input as `ingest` reads it."""
        limits, read = self.settings.limits, self.settings.read
        options = ReadOptions(
            lake_options={"strict": "weak"},
            stream=StreamLimits(limits.decompressed_bytes, limits.ratio),
            keep=RawLimits(limits.quarantine_raw_bytes, limits.quarantine_raw_head),
        )
        files = select(tuple(map(str, sources)), most=limits.files).files
        plan = ReadPlan(read.lines_min_bytes, read.split_bytes)
        return FileScan(self.spark, files, options, plan, SDMP.split_format)


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


class _EndedError(Exception):
    """A run that is to end early, ends."""


def _end() -> None:
    raise _EndedError


def _link(source: str, target: str) -> None:
    if "_delta_log" in Path(source).parts:
        shutil.copyfile(source, target)
        return
    try:
        os.link(source, target)
    except OSError:  # the folder for temporary files lies on something that has no links
        shutil.copyfile(source, target)
