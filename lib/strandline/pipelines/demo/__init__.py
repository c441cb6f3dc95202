"""`demo`: lands real published journals and made-up damaged ones in a lake of its own, and shows what came of them."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from strandline.config.settings import Settings
from strandline.dialects import dialect, every, record_tables
from strandline.pipelines import ingest, quarantine, reduce, sql, status
from strandline.pipelines.demo import sections
from strandline.pipelines.demo.folder import make_anew, write_journals
from strandline.pipelines.demo.journals import DIALECT, Journal, journals
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext, new_run_id
from strandline.tables.commits import Retry
from strandline.tables.light import LightLake, open_light
from strandline.tables.location import Location
from strandline.tables.store import TableStore

LAKE: Final = "demo-lake"

SMALL_BYTES: Final = 1 << 20
"""More than the demo's journals have."""

PRINTED: Final = "published-0.9-printed.journal"

QUERY: Final = """\
SELECT left(resource_id, 16) AS resource, recorded_count, lacking_count
FROM resource_spread WHERE recorded_count > 1 ORDER BY resource"""

# The rejected lines of the published node: constants alone, in SQL that delta-rs reads.
_REJECTED: Final = """
SELECT quarantine_id, evidence FROM quarantine
WHERE status = 'rejected' AND namespace = 'node:7a5179eecc0fe18760ba615f92603372ae3fe302860098a019e15927551fee3b'
"""


def run(spark: SparkSession, location: Location, settings: Settings, context: RunContext) -> Report:
    """Make the lake `location` anew, land the demo's journals, and return what there is to see as `sections`.

    Each section has a `title`, and `lines`, or `columns` and `rows`, or all three.
    Raises: UsageError DEMO_FOLDER_FOREIGN.
    """
    landed = journals()
    folder = make_anew(location.local_path())
    write_journals(folder, landed, records_in=dialect(DIALECT).records_in)
    return _Demo(spark, location, settings, context).run(folder, landed)


class _Demo:
    """One run of the demo. Its ingest and its reduce are runs of their own, with rows in the table `run`."""

    def __init__(
        self, spark: SparkSession, location: Location, settings: Settings, context: RunContext
    ) -> None:
        self._spark = spark
        self._location = location
        self._settings = settings
        self._context = context

    def run(self, folder: Path, landed: tuple[Journal, ...]) -> Report:
        ingested = self._ingested(folder)
        reduced = self._reduced()
        light = open_light(self._location)
        state = status.run(light, record_tables(), status.StatusRequest(all=True), self._part("status"))
        answered = self._answered()
        where = self._where()
        shown = [
            sections.landed(folder, landed),
            sections.counts(ingested, reduced),
            sections.health(state),
            self._explained(light, ingested, where),
            sections.query(QUERY, answered),
            sections.next_commands(
                (
                    f"strandline status {where}",
                    f"strandline quarantine {where}",
                    f"strandline sql 'SELECT n, line, disputed FROM node_journal_entry WHERE disputed' {where}",
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

    def _ingested(self, folder: Path) -> Report:
        part = self._part("ingest")
        request = ingest.IngestRequest(sources=(str(folder),))
        return ingest.run(self._store(part), dialect(DIALECT), request, self._settings, part)

    def _reduced(self) -> Report:
        part = self._part("reduce")
        return reduce.run(self._store(part), every(), reduce.ReduceRequest(), part)

    def _explained(self, light: LightLake, ingested: Report, where: str) -> sections.Section:
        """Explain line 3 of the published example as it was printed."""
        [row] = light.query(_REJECTED, ("quarantine",))
        record = quarantine.show(light, row["quarantine_id"].hex(), self._part("quarantine")).members[
            "record"
        ]
        [broken] = [each for each in ingested.members["damaged_files"] if each["source"].endswith(PRINTED)]
        return sections.rejected(record, accepted_before=broken["accepted_before"], file=PRINTED, where=where)

    def _answered(self) -> Report:
        store = self._store(self._context)
        with store.sized(SMALL_BYTES):
            return sql.run(store, sql.SqlRequest(QUERY), self._part("sql"))

    def _where(self) -> str:
        """Return the option that names the demo's lake in commands: short where it is the usual one."""
        name = LAKE if self._location == Location.lake(LAKE) else self._location.describe()
        return f"--lake {shlex.quote(name)}"

    def _store(self, context: RunContext) -> TableStore:
        return TableStore(self._spark, self._location, Retry(self._settings.merge), run_id=context.run_id)

    def _part(self, command: str) -> RunContext:
        """Return the context of a command that the demo runs: its id and its seconds are its own."""
        began = self._context.elapsed()
        entropy = hashlib.sha256(f"{self._context.run_id}/{command}".encode()).digest()
        return replace(
            self._context,
            command=command,
            run_id=new_run_id(self._context.started_at, entropy),
            elapsed=lambda: self._context.elapsed() - began,
            session_seconds=0.0,
        )
