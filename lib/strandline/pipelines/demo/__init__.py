"""`demo`: ingests published journals and damaged variants into a lake of its own, and shows the results."""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from strandline.config.settings import Settings
from strandline.contracts.quoting import quote_text
from strandline.dialect_api.demo import DemoPruning, DemoRejection
from strandline.dialect_api.dialect import Dialect
from strandline.dialects import every, record_tables
from strandline.pipelines import gc, ingest, quarantine, reduce, sql, status
from strandline.pipelines.demo import sections
from strandline.pipelines.demo.folder import recreate, write_files
from strandline.pipelines.ingest_input import IngestRequest
from strandline.pipelines.reduce_request import ReduceRequest
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext, new_run_id
from strandline.tables.commits import Retry
from strandline.tables.delta_rs import DeltaRsLake, open_delta_rs
from strandline.tables.location import Location
from strandline.tables.store import TableStore

LAKE: Final = "demo-lake"

SMALL_BYTES: Final = 1 << 20
"""An upper bound of the size of the demo's journals."""


def run(spark: SparkSession, location: Location, settings: Settings, context: RunContext) -> Report:
    """Recreate the lake `location`, ingest the demo's journals, and return the results as `sections`.

    Each section has a `title`, and `lines`, or `columns` and `rows`, or all three.
    Raises: UsageError DEMO_FOLDER_FOREIGN.
    """
    folder = recreate(location.local_path())
    return _Demo(spark, location, settings, context).run(folder, every())


class _Demo:
    """One run of the demo. Its ingests and its reduce are separate runs with rows in the table `run`.

    It ingests the files of every dialect and for each dialect explains one record and runs one query.
    """

    def __init__(
        self, spark: SparkSession, location: Location, settings: Settings, context: RunContext
    ) -> None:
        self._spark = spark
        self._location = location
        self._settings = settings
        self._context = context

    def run(self, folder: Path, dialects: tuple[Dialect, ...]) -> Report:
        ingested = _combined([self._ingested(dialect, write_files(folder, dialect)) for dialect in dialects])
        reduced = self._reduced(dialects)
        lake = open_delta_rs(self._location)
        state = status.run(lake, record_tables(), status.StatusRequest(all=True), self._part("status"))
        demos = [dialect.demo() for dialect in dialects]
        files = [file for demo in demos for file in demo.written]
        where = self._where()
        shown = [
            sections.input_files(folder, files),
            sections.counts(ingested, reduced),
            sections.health(state),
            *(self._explained(lake, ingested, demo.rejection, where) for demo in demos),
            *(sections.query(demo.query, self._answered(demo.query)) for demo in demos),
            *(
                self._pruned(dialect, demo.pruning, where)
                for dialect, demo in zip(dialects, demos, strict=True)
                if demo.pruning is not None
            ),
            sections.next_commands(
                (
                    f"strandline status {where}",
                    f"strandline quarantine {where}",
                    *(f"strandline sql {shlex.quote(demo.next_query)} {where}" for demo in demos),
                )
            ),
        ]
        return replace(
            ingested,
            command=self._context.command,
            run_id=self._context.run_id,
            seconds=self._context.elapsed(),
            session_seconds=self._context.session_seconds,
            tables={**ingested.tables, **reduced.tables},
            members={"sections": shown},
        )

    def _ingested(self, dialect: Dialect, folders: Iterable[Path]) -> Report:
        part = self._part(f"ingest {dialect.info.name}")
        request = IngestRequest(sources=tuple(map(str, folders)))
        return ingest.run(
            self._store(part), dialect, request, self._settings, replace(part, command="ingest")
        )

    def _reduced(self, dialects: Iterable[Dialect]) -> Report:
        part = self._part("reduce")
        prunings = (dialect.demo().pruning for dialect in dialects)
        files = {name: given for each in prunings if each is not None for name, given in each.options.items()}
        return reduce.run(self._store(part), dialects, ReduceRequest(files=files), self._settings, part)

    def _pruned(self, dialect: Dialect, pruning: DemoPruning, where: str) -> sections.Section:
        """Prune a namespace, and show how many of its records are stored before and after."""
        table = dialect.info.record_table
        count = f"SELECT count(*) AS records FROM {table} WHERE namespace = {quote_text(pruning.namespace)}"
        part = self._part("gc")
        request = gc.GcRequest(
            skip_window=pruning.skip_window, dialects=(dialect.info.name,), namespaces=(pruning.namespace,)
        )
        stored = [self._count(count, table)]
        report = gc.run(self._store(part), every(), request, part)
        return sections.pruned(pruning, report, [*stored, self._count(count, table)], where)

    def _count(self, query: str, table: str) -> int:
        [row] = open_delta_rs(self._location).query(query, (table,))
        return int(row["records"])

    def _explained(
        self, lake: DeltaRsLake, ingested: Report, rejection: DemoRejection, where: str
    ) -> sections.Section:
        """Explain the rejection that the dialect chose."""
        wanted = f"status = 'rejected' AND namespace = {quote_text(rejection.namespace)}"
        [row] = lake.query(f"SELECT quarantine_id FROM quarantine WHERE {wanted}", ("quarantine",))
        shown = quarantine.show(lake, row["quarantine_id"].hex(), self._part("quarantine"))
        [broken] = [
            each for each in ingested.members["damaged_files"] if each["source"].endswith(rejection.file)
        ]
        return sections.rejected(
            shown.members["record"], rejection, accepted_before=broken["accepted_before"], where=where
        )

    def _answered(self, query: str) -> Report:
        store = self._store(self._context)
        with store.sized(SMALL_BYTES):
            return sql.run(store, sql.SqlRequest(query), self._part("sql"))

    def _where(self) -> str:
        """Return the option that names the demo's lake in commands; the default path is shortened."""
        name = LAKE if self._location == Location.lake(LAKE) else self._location.describe()
        return f"--lake {shlex.quote(name)}"

    def _store(self, context: RunContext) -> TableStore:
        return TableStore(self._spark, self._location, Retry(self._settings.merge), run_id=context.run_id)

    def _part(self, command: str) -> RunContext:
        """Return the context of a command that the demo runs, with its own run id and time."""
        began = self._context.elapsed()
        entropy = hashlib.sha256(f"{self._context.run_id}/{command}".encode()).digest()
        return replace(
            self._context,
            command=command,
            run_id=new_run_id(self._context.started_at, entropy),
            elapsed=lambda: self._context.elapsed() - began,
            session_seconds=0.0,
        )


def _combined(reports: Sequence[Report]) -> Report:
    """Return the reports of several ingests as one: counts are added, of a table the last commit is kept."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for report in reports:
        counts.update(report.counts)
        reasons.update(report.reasons)
    return replace(
        reports[-1],
        counts=dict(counts),
        reasons=dict(reasons),
        namespaces=sum(report.namespaces for report in reports),
        tables={name: change for report in reports for name, change in report.tables.items()},
        members={"damaged_files": [each for report in reports for each in report.members["damaged_files"]]},
    )
