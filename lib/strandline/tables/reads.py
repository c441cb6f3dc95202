"""Reads of the rows of the tables of one lake: of a version, and from the change data feed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from strandline.contracts.load import tables
from strandline.contracts.shared_tables import PRUNED, QUARANTINE, SNAPSHOTS, STATES
from strandline.frames.buckets import in_buckets
from strandline.frames.one_task import ONE_TASK
from strandline.tables.column_checks import check_types
from strandline.tables.commits import session_settings
from strandline.tables.location import Location
from strandline.tables.lost_versions import has_no_changes
from strandline.tables.metadata import TableMetadata
from strandline.tables.small_tables import Small, SmallTables, has_row_within
from strandline.tables.spark_errors import spark_errors
from strandline.tables.work_settings import (
    NAMES_PUSHED,
    ONE_TASK_BYTES,
    SMALL_WORK,
    SMALL_WORK_BYTES,
)

SHARED_TABLES: Final = (STATES, QUARANTINE, SNAPSHOTS, PRUNED)
"""The tables of all dialects that the work of one of them reads."""


class TableReads(TableMetadata):
    """The tables of one lake, read through one Spark session.

    `is_trusted` is False for the lake of another: nothing of it is read into the driver. `as_reduced` has a commit of a
    record table up to which it is known to be as it was reduced, see `reduced_versions.is_unlike_reduced`.
    """

    def __init__(self, spark: SparkSession, location: Location, *, is_trusted: bool = True) -> None:
        super().__init__(spark, location)
        self.as_reduced: dict[str, Mapping[str, Any]] = {}
        self._small = SmallTables(location, is_trusted=is_trusted)
        # A local lake was looked at when it was opened, and that of another is looked at as input.
        self._has_known_types = set(tables()) if location.is_local() or not is_trusted else set[str]()

    def read(self, table: str) -> DataFrame:
        """Return the table at its current version; the frame stays at this version.

        Raises: UsageError TABLE_DIFFERS if a column of a lake that only Spark opens has another type.
        """
        small = self._small.rows(table)
        if small is not None:
            return self._frame(small)
        rows = (
            self.spark.read.format("delta").load(self.location.table_path(table))
            if self.location.is_path()
            else self.spark.read.table(self.target(table))
        )
        if table not in self._has_known_types:
            check_types(self.location, table, dict(rows.dtypes))
            self._has_known_types.add(table)
        return rows

    def read_version(self, table: str, version: int) -> DataFrame:
        """Return the table as of a version."""
        small = self._small.rows(table, version)
        if small is not None:
            return self._frame(small)
        reader = self.spark.read.format("delta").option("versionAsOf", version)
        if self.location.is_path():
            return reader.load(self.location.table_path(table))
        return reader.table(self.target(table))

    def changes(self, table: str, first: int, last: int) -> DataFrame:
        """Return the rows that the versions `first` to `last` inserted, from the change data feed."""
        small = self._small.changes(table, first, last)
        if small is not None:
            return self._frame(small)
        reader = (
            self.spark.read.format("delta")
            .option("readChangeFeed", "true").option("startingVersion", first).option("endingVersion", last)
        )  # fmt: skip
        feed = (
            reader.load(self.location.table_path(table))
            if self.location.is_path()
            else reader.table(self.target(table))
        )
        return feed.where("_change_type = 'insert'").drop(
            "_change_type", "_commit_version", "_commit_timestamp"
        )

    def few_rows(self, table: str, version: int | None = None) -> pa.Table | None:
        """Return the rows of a small table at a version, or at the current one; None if Spark should read them."""
        small = self._small.rows(table, version)
        return None if small is None else small[0]

    def few_changes(self, table: str, first: int, last: int) -> pa.Table | None:
        """Return the rows that the versions `first` to `last` inserted, or None as in `few_rows`."""
        small = self._small.changes(table, first, last)
        return None if small is None else small[0]

    def changes_since(self, table: str, before: int, last: int) -> tuple[DataFrame, int] | None:
        """Return the rows inserted after the version `before` and their number, or None if Delta does not have them.

        Delta removes old commits from the log: by default after 30 days, at the next checkpoint. It records none
        while the change data feed of the table is off, and gives none across a commit that renamed a column. VACUUM
        removes files. Only a job that reads the changes finds this out.
        """
        try:
            changes, few = self.changes(table, before + 1, last), self.few_changes(table, before + 1, last)
            if few is not None and self._small.has_commit(table, before):
                return changes, few.num_rows
            self.read_version(table, before)
            return changes, changes.count() if few is None else few.num_rows
        except spark_errors() as error:
            if not has_no_changes(error):
                raise
            return None

    def has_rows_within(
        self, table: str, buckets: tuple[int, ...], bounds: Mapping[str, tuple[int, int]]
    ) -> bool:
        """Return whether a table has a row in these buckets, with each column of `bounds` in its range."""
        few = self.few_rows(table)
        if few is not None:
            return has_row_within(few, buckets, bounds)
        stored = self.read(table).where(in_buckets(buckets))
        for name, (low, high) in bounds.items():
            stored = stored.where(F.col(name).between(low, high))
        return bool(stored.select("bucket").head(1))

    @contextmanager
    def sized(self, work_bytes: int, tables: Iterable[str] = ()) -> Iterator[None]:
        """Set Spark's settings for the work of the block, by its bytes.

        `tables` are those of the dialect whose records are the work. If the work and each of them are small, each query
        is one job with one task a stage: a third of the jobs.
        """
        # Large work can be in a block of small work.
        usual = {name: None for name, value in SMALL_WORK.items() if self.spark.conf.get(name, None) == value}
        settings: dict[str, str | None] = {
            **NAMES_PUSHED,
            **(SMALL_WORK if work_bytes <= SMALL_WORK_BYTES else usual),
        }
        if (
            tables
            and work_bytes <= ONE_TASK_BYTES
            and all(map(self._small.is_small, (*tables, *SHARED_TABLES)))
        ):
            settings |= ONE_TASK
        with session_settings(self.spark, settings):
            yield

    def _frame(self, small: Small) -> DataFrame:
        rows, schema = small
        return self.spark.createDataFrame(rows, schema)
