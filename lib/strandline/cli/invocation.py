"""One call of one command: its options, and what it opens on demand."""

import os
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from strandline.cli.interrupts import interrupts
from strandline.cli.lineage import Lineage
from strandline.cli.progress import ShownProgress, error_console
from strandline.core.errors import UsageError
from strandline.pipelines.faults import Faults
from strandline.pipelines.run_context import NoProgress, Progress, RunContext, new_run_id
from strandline.tables.delta_rs import check_tables, open_delta_rs
from strandline.tables.location import Location
from strandline.tables.refusals import check_place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from strandline.config import Effective, Settings
    from strandline.tables.delta_rs import DeltaRsLake
    from strandline.tables.store import TableStore


@dataclass(frozen=True, slots=True)
class Options:
    """The options that commands share; `of_dialects` holds the options that dialects add, by name, as typed."""

    lake: str | None = None
    schema: str | None = None
    as_json: bool = False
    quiet: bool = False
    conf: Path | None = None
    env: str | None = None
    settings: tuple[str, ...] = ()
    of_dialects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: Path | None = None
    run_id: str | None = None

    @property
    def gives_settings(self) -> bool:
        """Whether --set, --conf or --env was given."""
        return bool(self.settings) or self.conf is not None or self.env is not None


@dataclass
class Invocation:
    """A call of `command`. Clock, entropy and environment enter Strandline only here.

    `sources` are the inputs as typed, `arguments` is a hash of the options if the run id was given.
    """

    command: str
    options: Options
    sources: tuple[str, ...] = ()
    arguments: str | None = None
    environ: MutableMapping[str, str] = field(default_factory=lambda: os.environ)
    began: float = field(default_factory=time.monotonic)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    entropy: bytes = field(default_factory=lambda: os.urandom(16))
    session_seconds: float = 0.0

    @cached_property
    def run_id(self) -> str:
        """The id of this run: that of --run-id, or a new one."""
        return self.options.run_id or new_run_id(self.started_at, self.entropy)

    @cached_property
    def lineage(self) -> Lineage:
        """What OpenLineage is told of this run."""
        return Lineage(self.environ)

    @cached_property
    def effective(self) -> "Effective":
        """The settings and the source of each. Raises: UsageError."""
        from strandline.config import effective, environment_layer, file_layer, options_layer

        options = self.options
        return effective(
            (
                file_layer(options.conf, options.env),
                environment_layer(self.environ),
                options_layer(options.settings),
            )
        )

    @cached_property
    def settings(self) -> "Settings":
        """The settings, with `~` expanded, unless nobody knows the home folder. Raises: UsageError."""
        from strandline.config import with_home

        return with_home(self.effective.settings, self.environ.get("HOME") or os.path.expanduser("~"))

    @cached_property
    def location(self) -> Location:
        """Where the tables are. Raises: UsageError `LAKE_AND_SCHEMA`, `LAKE_PATH_INVALID`, `SCHEMA_NAME_INVALID`."""
        return Location.chosen(self.options.lake, self.options.schema)

    def on(self, location: Location) -> "Invocation":
        """Take `location` from --to as the lake of this call, before anything asks for its location. Return the call.

        Raises: UsageError `LAKE_AND_SCHEMA` if --lake or --schema is given, too.
        """
        options = self.options
        if options.lake is not None or options.schema is not None:
            named = "--lake" if options.lake is not None else "--schema"
            raise UsageError(
                "LAKE_AND_SCHEMA", f"--to and {named} both say where the tables are", "give one of them"
            )
        if location.is_path():
            self.options = replace(options, lake=location.describe())
        else:
            self.options = replace(options, schema=location.describe())
        return self

    def elapsed(self) -> float:
        """Return the seconds since the call began."""
        return time.monotonic() - self.began

    def context(self, progress: Progress | None = None) -> RunContext:
        """Return the context of a pipeline's run, which begins. Raises: UsageError `FAULT_INVALID`."""
        self.lineage.started(self)
        return RunContext(
            run_id=self.run_id,
            command=self.command,
            version=version("strandline"),
            started_at=self.started_at,
            faults=Faults.parse(self.environ.get("STRANDLINE_FAULT")),
            progress=progress or NoProgress(),
            elapsed=self.elapsed,
            session_seconds=self.session_seconds,
            deferred_signals=interrupts.deferred,
            arguments=self.arguments,
        )

    def context_of(self, command: str, like: RunContext) -> RunContext:
        """Return the context of a further run in this process: of `command`, begins now, otherwise equal to `like`."""
        began, started_at = time.monotonic(), datetime.now(UTC)
        return replace(
            like,
            run_id=new_run_id(started_at, os.urandom(16)),
            command=command,
            started_at=started_at,
            elapsed=lambda: time.monotonic() - began,
            session_seconds=0.0,
        )

    def session(
        self, *, with_kafka: bool = False, source_scheme: str | None = None, from_scheme: str | None = None
    ) -> "SparkSession":
        """Return the active Spark session, or a new one. Raises: FaultError, see `strandline.session.open_session`."""
        from strandline.session import open_session
        from strandline.session.engine import engine_of

        began = time.monotonic()
        spark = open_session(
            self.settings, environ=self.environ, run_id=self.run_id, with_kafka=with_kafka,
            scheme=self.location.scheme(), source_scheme=source_scheme, from_scheme=from_scheme,
        )  # fmt: skip
        interrupts.session_started(engine_of(spark).ender())
        self.session_seconds += time.monotonic() - began
        return spark

    def store(
        self,
        *,
        with_kafka: bool = False,
        source_scheme: str | None = None,
        from_scheme: str | None = None,
        makes: bool = True,
        writes: bool = True,
    ) -> "TableStore":
        """Return the lake's tables through Spark. Wrong usage is refused before Spark starts.

        `source_scheme` is that of a stream's prefix, `from_scheme` that of a lake to copy from. `makes` says whether
        the command creates a lake that does not exist, `writes` whether it writes to it.
        Raises: UsageError, FaultError, see `refusals.check_place`, `delta_rs.check_tables`, `session`,
        `stores.check_folder`, `open.check_settings`, `stores.check_log_store`.
        """
        from strandline.session.conf import NEEDED_AT_A_PATH
        from strandline.session.open import check_settings
        from strandline.session.stores import check_folder, check_log_store

        location, _ = self.location, self.settings
        check_place(location, makes=makes)
        check_tables(location)
        spark = self.session(with_kafka=with_kafka, source_scheme=source_scheme, from_scheme=from_scheme)
        if location.is_local():
            check_folder(location.describe(), spark.conf.get)
        if location.is_path():
            check_settings(spark.conf.get, NEEDED_AT_A_PATH)
        if writes and self.settings.merge.several_drivers:
            check_log_store(location.scheme(), spark.conf.get)
        from strandline.tables.commits import Retry
        from strandline.tables.store import TableStore

        # An id from outside can be that of a process that was killed: its commits must not stand for those of this one.
        attempt = f"{self.entropy.hex()[:12]}-" if self.options.run_id else ""
        return TableStore(spark, location, Retry(self.settings.merge), run_id=self.run_id, attempt=attempt)

    def delta_rs(self) -> "DeltaRsLake":
        """Return the lake's tables through delta-rs. Raises: UsageError, FaultError, see `open_delta_rs`."""
        return open_delta_rs(self.location)

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Show progress on standard error while the block runs; not with --quiet."""
        if self.options.quiet:
            yield NoProgress()
            return

        with ShownProgress(error_console(), self.settings.progress.seconds) as shown:
            yield shown
