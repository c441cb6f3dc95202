"""The Python API: a lake as an object, with the commands as methods. `strandline.open` returns it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strandline.cli.calls import LakeCalls
from strandline.contracts.load import tables
from strandline.core.errors import UsageError
from strandline.core.nearest import did_you_mean
from strandline.pipelines.report import Report
from strandline.tables.location import Location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Paths = str | os.PathLike[str]


class Lake:
    """One lake. Methods are the commands, with the same options by keyword (`--fail-on-reject` is `fail_on_reject`).

    A method returns the report of its command; `report.counts`, `report.members` and others are its parts, and a
    notebook shows it as a table. What a command prints as an error is raised as `strandline.StrandlineError`, with
    `code`, `message` and `next`. An exit code of 1, or 3 in a report, is `report.exit` and no exception.

    Spark is the active session, or a local one that starts at the first method that needs it and stays.
    """

    def __init__(self, location: Location, settings: Mapping[str, object]) -> None:
        self.location = location
        self._calls = LakeCalls(location, settings)

    def __repr__(self) -> str:
        """Return the call that opens this lake."""
        named = "" if self.location.is_path() else "schema="
        return f"strandline.open({named}{self.location.describe()!r})"

    def init(self, *, buckets: int | None = None, run_id: str | None = None, **options: Any) -> Report:
        """Create the missing tables and views; `options` are those that dialects declare, such as `strict=True`."""
        return self._run("init", buckets=buckets, run_id=run_id, **options)

    def ingest(
        self,
        *sources: Paths,
        dialect: str,
        format: str | None = None,  # noqa: A002 - the name of the option
        fail_on_reject: bool = False,
        require_manifest: bool = False,
        from_quarantine: bool = False,
        reason: str | None = None,
        namespace: str | None = None,
        drop_rejected_before: date | str | None = None,
        run_id: str | None = None,
        **options: Any,
    ) -> Report:
        """Verify the records of files, folders, globs and URIs of a store (`s3://`, `gs://`, `abfss://`, `hdfs://`).

        Inserts the genuine ones. Creates a missing lake.
        """
        before = None if drop_rejected_before is None else str(drop_rejected_before)
        return self._run(
            "ingest", sources=[os.fspath(source) for source in sources], dialect=dialect, form=format,
            fail_on_reject=fail_on_reject, require_manifest=require_manifest, from_quarantine=from_quarantine,
            reason=reason, namespace=namespace, drop_rejected_before=before, run_id=run_id, **options,
        )  # fmt: skip

    def stream(
        self,
        source: Paths,
        *,
        dialect: str,
        format: str | None = None,  # noqa: A002 - the name of the option
        every: str | None = None,
        checkpoint: Paths | None = None,
        max_files: int | None = None,
        max_records: int | None = None,
        kafka_config: Paths | None = None,
        **options: Any,
    ) -> Report:
        """Ingest and reduce what a folder, prefix or topic has; with `every`, as `"30s"`, until it is interrupted."""
        return self._run(
            "stream", source=os.fspath(source), dialect=dialect, form=format, available_now=every is None, every=every,
            checkpoint=None if checkpoint is None else os.fspath(checkpoint), max_files=max_files,
            max_records=max_records, kafka_config=None if kafka_config is None else os.fspath(kafka_config), **options,
        )  # fmt: skip

    def reduce(self, *, full: bool = False, run_id: str | None = None, **options: Any) -> Report:
        """Update the reduced tables; `full` reduces everything again, and `report.members` names each difference."""
        return self._run("reduce", full=full, run_id=run_id, **options)

    def sync(self, source: Lake | Paths, *, dry_run: bool = False, **options: Any) -> Report:
        """Copy the records of another lake that this one lacks; they are verified like any input."""
        there = source.location.describe() if isinstance(source, Lake) else os.fspath(source)
        return self._run("sync", source=there, dry_run=dry_run, **options)

    def snapshot(
        self,
        *,
        namespace: Sequence[str] = (),
        dialect: Sequence[str] = (),
        skip_window: int | None = None,
        run_id: str | None = None,
    ) -> Report:
        """Take a snapshot of each namespace that changed: its state, what it covers, what can be pruned."""
        return self._run(
            "snapshot",
            namespace=_listed(namespace),
            dialect=_listed(dialect),
            skip_window=skip_window,
            run_id=run_id,
        )

    def gc(
        self,
        *,
        what_if: bool = False,
        namespace: Sequence[str] = (),
        dialect: Sequence[str] = (),
        excluded: Sequence[str] = (),
        skip_window: int | None = None,
        min_prunable: int | None = None,
        erase: Sequence[str] = (),
        now: str | None = None,
        archive: Paths | None = None,
        compact: bool = False,
        vacuum: int | None = None,
        force_vacuum: bool = False,
        run_id: str | None = None,
    ) -> Report:
        """Remove records that decide nothing any more, after a proof; `what_if` only says what would go.

        `erase` names dialects whose bodies may be erased, each `name` or `name:days`; the days count back from `now`.
        `archive` is a folder for the texts of node journals; `compact` and `vacuum` (hours) then keep up the tables.
        """
        return self._run(
            "gc", what_if=what_if, namespace=_listed(namespace), dialect=_listed(dialect), excluded=_listed(excluded),
            skip_window=skip_window, min_prunable=min_prunable, erase=_listed(erase), now=now,
            archive=None if archive is None else Path(archive), compact=compact, vacuum=vacuum,
            force_vacuum=force_vacuum, run_id=run_id,
        )  # fmt: skip

    def checkpoint(
        self,
        *,
        origin: str | None = None,
        namespace: Sequence[str] = (),
        dialect: Sequence[str] = (),
        all: bool = False,  # noqa: A002 - the option's name
        run_id: str | None = None,
    ) -> Report:
        """Grow the Merkle tree of each namespace with news; with `origin` signed by STRANDLINE_CHECKPOINT_KEY."""
        return self._run(
            "checkpoint", origin=origin, namespace=_listed(namespace), dialect=_listed(dialect), every=all,
            run_id=run_id,
        )  # fmt: skip

    def prove(
        self, namespace: str, *, out: Paths, record: str | None = None, consistency: Paths | None = None
    ) -> Report:
        """Write the newest checkpoint of a namespace, or what proves a record or an older checkpoint by it."""
        note = None if consistency is None else os.fspath(consistency)
        return self._run("prove", namespace=namespace, out=Path(out), record=record, consistency=note)

    def maintain(
        self, *, dry_run: bool = False, keep_days: int | None = None, run_id: str | None = None
    ) -> Report:
        """Compact small files and remove files that only old versions need."""
        return self._run("maintain", dry_run=dry_run, keep_days=keep_days, run_id=run_id)

    def export(
        self,
        *namespaces: str,
        out: Paths,
        as_of: str | None = None,
        format: str | None = None,  # noqa: A002 - the option's name
    ) -> Report:
        """Write the records of namespaces to one file that `ingest` reads."""
        return self._run("export", namespaces=list(namespaces), out=Path(out), as_of=as_of, form=format)

    def status(self, *namespaces: str, all: bool = False, check: bool = False) -> Report:  # noqa: A002
        """Return the health of namespaces, worst first, in `report.members["rows"]`; a local lake needs no Spark."""
        return self._run("status", namespaces=list(namespaces), every=all, check=check)

    def report(self, *, out: Paths) -> Report:
        """Write one HTML page about the lake; a local lake needs no Spark."""
        return self._run("report", out=Path(out))

    def quarantine(self, quarantine_id: str | None = None) -> Report:
        """Return the records that were not accepted by reason, or one of them with its bytes and evidence."""
        return self._run("quarantine", words=["list"] if quarantine_id is None else ["show", quarantine_id])

    def explain(self, code: str) -> Report:
        """Return what a reason code means and what to do, in `report.members`; the lake need not exist."""
        return self._run("explain", code=code)

    def check(self) -> Report:
        """Check every invariant of the tables."""
        return self._run("check")

    def table(self, name: str) -> DataFrame:
        """Return a table of the lake at its current version. Raises: UsageError `TABLE_UNKNOWN`."""
        if name not in tables():
            raise UsageError("TABLE_UNKNOWN", f"a lake has no table {name}", did_you_mean(name, tables()))
        return self._calls.store().read(name)

    def sql(self, query: str) -> DataFrame:
        """Return the rows of a query over the tables and views of the lake, by their bare names.

        The query is yours: unlike `strandline sql`, this does not check what it reads or calls.
        """
        from strandline.pipelines.sql.query import query_errors
        from strandline.session.engine import is_connect
        from strandline.tables.qualified import places, qualified
        from strandline.tables.views import bare_names

        store = self._calls.store()
        full = qualified(query, places(store.location)) if is_connect(store.spark) else query
        with query_errors(), nullcontext() if full != query else bare_names(store, query):
            return store.spark.sql(full)

    def _run(self, name: str, **values: Any) -> Report:
        return self._calls.run(name, values, keywords=_keywords(name))


def open_lake(
    path: Paths | None = None, *, schema: str | None = None, settings: Mapping[str, object] | None = None
) -> Lake:
    """Return the lake at a path or URI (default: the folder `lake`), or in the schema `CATALOG.SCHEMA`.

    Opens nothing. A lake that does not exist is created by `init`, `ingest`, `stream`, `reduce` and `sync`; it is an
    error of all other methods that need one. `settings` are those of conf/base.yaml by their dotted names.
    Raises: UsageError `LAKE_AND_SCHEMA`, `LAKE_PATH_INVALID`, `SCHEMA_NAME_INVALID`.
    """
    location = Location.chosen(None if path is None else os.fspath(path), schema)
    return Lake(location, settings or {})


def _keywords(name: str) -> set[str]:
    """Return the keywords that the method of a command names."""
    parameters = inspect.signature(getattr(Lake, name)).parameters.values()
    return {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}


def _listed(names: Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
