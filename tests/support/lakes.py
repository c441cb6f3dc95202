"""A lake under test: the pipelines called as the command line calls them, and its tables as plain values."""

import os
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from strandline.pipelines.faults import Faults
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext, no_signals
from support.places import BUCKETS
from support.soundness import SEEN_HERE, broken_rows

LIGHT_BYTES = 32 * 1024 * 1024
"""A table of more bytes is not carried through this process."""

ONLY_JOIN_STATES = (
    "authorities_agree_with_facts",
    "contexts_agree_with_facts",
    "equivocations_agree_with_lines",
)
"""Checks that find nothing in `namespace_state` alone: they join it to rows of their other tables."""


class Lake:
    """One lake in a folder or a schema, for journals of one dialect.

    `changed` are settings by section, as `{"read": {"lines_min_bytes": 1}}`.
    """

    def __init__(
        self, spark, settings, place: Path | str, changed: Mapping[str, Mapping[str, object]] | None = None,
        *, dialect: str = "sdmp",
    ) -> None:  # fmt: skip
        self.spark = spark
        self.path = place
        self.dialect = dialect
        self.settings = settings
        for section, values in (changed or {}).items():
            part = getattr(settings, section).model_copy(update=dict(values))
            self.settings = self.settings.model_copy(update={section: part})

    def store(self, run_id: str | None = None):
        from strandline.tables.commits import Retry
        from strandline.tables.location import Location
        from strandline.tables.store import TableStore

        is_folder = isinstance(self.path, Path)
        location = Location.lake(str(self.path)) if is_folder else Location.parse_schema(self.path)
        return TableStore(self.spark, location, Retry(self.settings.merge), run_id=run_id or uuid.uuid4().hex)

    @staticmethod
    def context(
        store, command: str, faults: Faults | None = None, clock: timedelta = timedelta(0)
    ) -> RunContext:
        """`clock` is how far the clock of the machine that runs is ahead."""
        began = time.monotonic()
        return RunContext(
            store.run_id, command, "0.0.0", datetime.now(UTC) + clock, faults=faults or Faults(),
            elapsed=lambda: time.monotonic() - began,
        )  # fmt: skip

    def init(self, *, strict: bool = False, buckets: int | None = None):
        from strandline.pipelines import init

        store = self.store()
        options = init.InitOptions(buckets=buckets, dialect_options={"strict": "strict"} if strict else {})
        return printable(init.run(store, options, self.context(store, "init")))

    def ingest(
        self, *sources: Path | str, faults: Faults | None = None, found=None, clock=timedelta(0), **request
    ):
        from strandline.dialects import dialect
        from strandline.pipelines import ingest
        from strandline.pipelines.ingest_input import IngestRequest

        store = self.store()
        asked = IngestRequest(sources=tuple(map(str, sources)), **request)
        context = self.context(store, "ingest", faults, clock)
        return printable(ingest.run(store, dialect(self.dialect), asked, self.settings, context, found))

    def reduce(self, *, options=None, faults: Faults | None = None, clock=timedelta(0), **request):
        from strandline.dialects import every
        from strandline.pipelines import reduce
        from strandline.pipelines.reduce_request import ReduceRequest

        store = self.store()
        asked = ReduceRequest(options={self.dialect: options} if options else {}, **request)
        context = self.context(store, "reduce", faults, clock)
        return printable(reduce.run(store, every(), asked, self.settings, context))

    def snapshot(self, *, faults: Faults | None = None, **request):
        from strandline.dialects import every
        from strandline.pipelines import snapshot
        from strandline.pipelines.prune_plans import PruneRequest

        store = self.store()
        asked = PruneRequest(**({"skip_window": 0} | request))
        return printable(snapshot.run(store, every(), asked, self.context(store, "snapshot", faults)))

    def gc(self, *, faults: Faults | None = None, run_id: str | None = None, **request):
        from strandline.dialects import every
        from strandline.pipelines import gc

        store = self.store(run_id)
        asked = gc.GcRequest(**({"skip_window": 0} | request))
        return printable(gc.run(store, every(), asked, self.context(store, "gc", faults)))

    def checkpoint(self, *, faults: Faults | None = None, **request):
        from strandline.dialects import every
        from strandline.pipelines import checkpoint
        from strandline.pipelines.checkpoint_request import CheckpointRequest

        store = self.store()
        context = self.context(store, "checkpoint", faults)
        return printable(checkpoint.run(store, every(), CheckpointRequest(**request), context))

    def prove(self, namespace: str, out: Path, **request):
        from strandline.dialects import dialect, names
        from strandline.pipelines import prove
        from strandline.pipelines.prove_request import ProveRequest

        store = self.store()
        asked = ProveRequest(namespace, out, **request)
        every = {name: dialect(name) for name in names()}
        return printable(prove.run(store, every, asked, self.context(store, "prove")))

    def maintain(self, *, faults: Faults | None = None, **request):
        from strandline.dialects import every
        from strandline.pipelines import maintain

        store = self.store()
        usual = self.settings.maintain.model_dump()
        asked = maintain.MaintainRequest(**(usual | request))
        return printable(maintain.run(store, every(), asked, self.context(store, "maintain", faults)))

    def stream(self, folder: Path, *, faults: Faults | None = None, signals=no_signals, **request):
        from strandline.dialects import dialect
        from strandline.pipelines import stream

        store = self.store()
        context = replace(self.context(store, "stream", faults), deferred_signals=signals)
        asked = stream.StreamRequest(str(folder), **request)
        done = stream.run(
            store, dialect(self.dialect), asked, self.settings, context,
            lambda command: replace(context, run_id=uuid.uuid4().hex, command=command),
        )  # fmt: skip
        return printable(done)

    def sync(self, options, *, requests: Path | None = None, faults: Faults | None = None):
        from strandline.dialects import dialect
        from strandline.pipelines import sync_journals

        store = self.store()

        request = sync_journals.SyncRequest(options, requests)
        context = self.context(store, "sync", faults)
        return printable(sync_journals.run(store, dialect(self.dialect), request, self.settings, context))

    def bring(self, there: "Lake", *, faults: Faults | None = None, **request):
        """`sync --from`: what the lake `there` holds."""
        from strandline.dialects import every
        from strandline.pipelines import sync_lakes

        store = self.store()

        asked = sync_lakes.SyncLakesRequest(**request)
        context = self.context(store, "sync", faults)
        return printable(
            sync_lakes.run(store, store.at(there.store().location), every(), asked, self.settings, context)
        )

    def answer(
        self, options, requests: Path, out: Path, *, most_lines: int = 1_000_000, faults: Faults | None = None
    ):
        from strandline.dialects import dialect
        from strandline.pipelines import sync_journals

        store = self.store()

        request = sync_journals.AnswerRequest(options, requests, out, most_lines)
        return printable(
            sync_journals.answer(store, dialect(self.dialect), request, self.context(store, "sync", faults))
        )

    def export(
        self, out: Path, *namespaces: str, as_of: str | None = None, form: str | None = None,
        faults: Faults | None = None,
    ):  # fmt: skip
        from strandline.dialects import dialect, names
        from strandline.pipelines import export

        store = self.store()
        asked = export.ExportRequest(namespaces, out, as_of, form)
        every = {name: dialect(name) for name in names()}
        return printable(export.run(store, every, asked, self.context(store, "export", faults)))

    def rows(self, table: str, *columns: str) -> list[tuple]:
        """All rows of a table, ascending, without what tells which delivery came first."""
        from strandline.contracts.load import contract

        names = columns or contract(table).compared
        if self.never_written(table):
            return []
        # What Spark plans and runs jobs for, delta-rs reads at once; `tests/delta` sees that both read the same.
        light = self._delta_rs_table(table, names)
        rows = (
            map(plain, self.store().read(table).select(*names).collect())
            if light is None
            else zip(*map(_values_of, light.columns), strict=True)
        )
        return sorted(rows, key=repr)

    def _delta_rs_table(self, table: str, names: Iterable[str]):
        """The columns of a table of a folder as Arrow has them; None where Spark would give other values."""
        opened = self._opened(table)
        if opened is None:
            return None
        schema = opened.schema().to_arrow()
        types = [pa.schema(schema).field(name).type for name in names]
        if any(map(pa.types.is_timestamp, types)):
            return None
        return opened.to_pyarrow_table(columns=list(names))

    def _opened(self, table: str):
        """A table of a folder as delta-rs opens it; None if only Spark reads it."""
        from deltalake import DeltaTable

        if not isinstance(self.path, Path):
            return None
        opened = DeltaTable(str(self.path / table))
        return None if "deletionVectors" in (opened.protocol().reader_features or ()) else opened

    def _light_rows(self, store, table: str):
        """A table as Arrow has it; None if it is not carried through this process."""
        opened = self._opened(table)
        if opened is None or store.stored_bytes(table) > LIGHT_BYTES:
            return None
        return opened.to_pyarrow_table().select(store.schema(table).names)

    def _values(self, store, table: str, light: Mapping[str, pa.Table | None]):
        """A table as a frame that Delta has no part in: it looks for files at each of a query's many scans.

        `light` has the rows of written tables. Of what is known to be empty Spark leaves whole parts of a query out.
        """
        schema, rows = store.schema(table), light.get(table)
        if table in light and rows is None:
            return store.read(table)
        if rows is None or not rows.num_rows:
            # Spark knows that it is empty by its limit alone.
            return self.spark.createDataFrame([], schema).limit(0)
        # What lies in one part need not be shuffled.
        return self.spark.createDataFrame(rows, schema).coalesce(1)

    def never_written(self, table: str) -> bool:
        """True if the table of a folder has no data file: then nothing need be asked of it."""
        return isinstance(self.path, Path) and next((self.path / table).rglob("*.parquet"), None) is None

    def tables(self) -> dict[str, list[tuple]]:
        """Every table but `run`, as `rows` gives it."""
        from strandline.contracts.load import tables

        return {table: self.rows(table) for table in tables() if table != "run"}

    def asked(self, query: str) -> list[tuple]:
        """The rows of a query over views and tables, in an order that the query states."""
        from strandline.contracts.load import tables
        from strandline.tables.views import bare_names

        store = self.store()
        with store.sized(0, tables()), bare_names(store, query):
            return [plain(row) for row in self.spark.sql(query).collect()]

    def damage(self, statement: str, *names: str) -> None:
        """Change tables behind the product's back, by SQL with bare names of tables; each `{}` is one of `names`."""
        from strandline.contracts.load import tables
        from strandline.tables.views import bare_names

        statement, store = statement.format(*names), self.store()
        with store.sized(0, tables()), bare_names(store, statement):
            self.spark.sql(statement).collect()

    def versions(self) -> dict[str, int]:
        """The version of every table but `run`."""
        from strandline.contracts.load import tables

        store = self.store()
        return {table: store.version(table) for table in tables() if table != "run"}

    def assert_sound(self) -> None:
        """Every invariant holds that `strandline check` asks for."""
        from strandline.contracts.checks import checks
        from strandline.contracts.load import tables
        from strandline.tables.checks import find_broken
        from strandline.tables.commits import session_settings

        store = self.store()
        light = {table: self._light_rows(store, table) for table in tables() if not self.never_written(table)}
        here = {table: rows for table, rows in light.items() if rows is not None}
        found = {table: broken_rows(table, rows, store.buckets) for table, rows in here.items()}
        assert not any(found.values()), found
        asked = [
            check
            for check in checks(buckets=store.buckets)
            if light.keys()
            & set(check.tables) - ({"namespace_state"} if check.name in ONLY_JOIN_STATES else set())
            and not (check.name in SEEN_HERE and here.keys() >= set(check.tables))
        ]
        # For ever more parts Spark would run ever more jobs, until there are enough rows.
        with store.sized(0), session_settings(self.spark, {"spark.sql.limit.initialNumPartitions": "1000"}):
            broken = find_broken(
                self.spark,
                asked,
                lambda table: self._values(store, table, light),
                most=3,
                is_small=True,
            )
        assert not broken, [(check.name, check.tables, row) for check, row in broken]


def printable(report: Report) -> Report:
    """The report, which `--json` can print."""
    report.to_json()
    return report


def choose(lake: Path, table: str, name: str, before: str, after: str) -> None:
    """Make an empty lake one that was made with another choice: a property of a table in its first commit."""
    _replace(lake / table / "_delta_log", {f'"{name}":"{before}"': f'"{name}":"{after}"'})


def choose_buckets(lake: Path, buckets: int) -> None:
    """Make an empty lake one that was made with another number of buckets."""
    spelled = {
        f'"strandline.buckets":"{BUCKETS}"': f'"strandline.buckets":"{buckets}"',
        f"% {BUCKETS}": f"% {buckets}",
    }
    for log in lake.glob("*/_delta_log"):
        _replace(log, spelled)


def _replace(log: Path, spelled: Mapping[str, str]) -> None:
    for path in [*log.glob("*0.json"), *log.glob("*0.crc")]:
        text = path.read_text(encoding="utf-8")
        for before, after in spelled.items():
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")
        (log / f".{path.name}.crc").unlink(missing_ok=True)


def _values_of(column):
    """The values of a column of Arrow as Spark gives them: a map, which is pairs in Arrow, is a dict by its keys."""
    values = column.to_pylist()
    if pa.types.is_map(column.type):
        return [None if each is None else dict(sorted(each)) for each in values]
    return map(_of_arrow, values)


def _of_arrow(value):
    """`plain` of what Arrow gives: a struct comes as a dict."""
    if isinstance(value, (dict, list)):
        return tuple(_of_arrow(each) for each in (value.values() if isinstance(value, dict) else value))
    return value


def plain(value):
    """A row as values that compare and print: tuples, bytes, and dicts by their keys."""
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, dict):
        return dict(sorted(value.items()))
    if isinstance(value, (tuple, list)):
        return tuple(plain(each) for each in value)
    return value


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files, folders in their names made."""
    for name, content in files.items():
        path = folder / name
        os.makedirs(path.parent, exist_ok=True)
        path.write_bytes(content)
    return folder


def counted(report, names: Iterable[str]) -> dict[str, int]:
    """The counts of a report by these names."""
    return {name: report.counts.get(name, 0) for name in names}
