"""Read-only queries that delta-rs and Spark both answer.

A query is constant SQL over bare table names, in syntax that both engines support: it avoids their different functions
for hex and for unnesting arrays. Rows are Python values, so that neither Arrow nor pandas is loaded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from strandline.tables.location import Location

if TYPE_CHECKING:
    from pyspark.sql import Row as SparkRow
    from pyspark.sql import SparkSession

    from strandline.tables.store import TableStore

Row = Mapping[str, Any]

# Operations that add no rows: commits of only these do not make a record table unreduced. An unknown operation counts
# as an addition, since an unnecessary reduction changes nothing.
NO_NEW_ROWS = frozenset(
    {
        "ADD COLUMNS", "ADD CONSTRAINT", "CHANGE COLUMN", "CLUSTER BY", "CREATE TABLE", "DELETE", "DROP CONSTRAINT",
        "FSCK", "OPTIMIZE", "REORG", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "UPDATE COLUMN METADATA",
        "UPGRADE PROTOCOL", "VACUUM END", "VACUUM START",
    }
)  # fmt: skip
REPLACED = frozenset(
    {
        "CLONE", "CREATE OR REPLACE TABLE", "CREATE OR REPLACE TABLE AS SELECT", "REPLACE TABLE",
        "REPLACE TABLE AS SELECT", "RESTORE", "TRUNCATE",
    }
)  # fmt: skip
"""Operations after which a table has other rows than before, whatever its change data feed says of them."""
OF_MERGE = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
"""Metrics of a MERGE: its inserted, updated and deleted rows. Deletions by `gc` leave nothing to reduce."""
_UTC = {"spark.sql.session.timeZone": "UTC"}


class ReadLake(Protocol):
    """The tables of one lake, read-only."""

    @property
    def location(self) -> Location:
        """Where the lake is."""

    def query(self, text: str, tables: Sequence[str]) -> list[Row]:
        """Return the rows of the SELECT `text` over `tables`."""

    def batches(self, text: str, tables: Sequence[str]) -> Iterator[list[Row]]:
        """Yield the rows of the SELECT `text` over `tables`, in batches."""

    def slices(self, tables: Sequence[str]) -> list[str | None]:
        """Return conditions on `bucket` and `namespace` that divide the tables into slices which fit into memory.

        Each namespace is in one slice. [None]: one slice, since the tables are small or the engine spills to disk.
        """

    def version(self, table: str) -> int:
        """Return the Delta version of `table`."""

    def newest_addition(self, table: str, after: int) -> int | None:
        """Return the newest version of `table` after `after` that may have added rows, or None.

        The current version if it is before `after`: the table was recreated, and has new commits.
        """


def newest_addition(history: Iterable[Row], after: int, version: int) -> int | None:
    """Return the newest commit after `after` that may have added rows, or None.

    `history` has commits with the members version, operation and operationMetrics, the newest first. If it does not
    reach back to `after`, return `version`.
    """
    later = [commit for commit in history if int(commit["version"]) > after]
    for commit in later:
        if _may_add(commit):
            return int(commit["version"])
    # Others may have added commits after `version` was asked for: then as many old ones are not listed.
    reaches_back = version <= after or (later and int(later[-1]["version"]) <= after + 1)
    return None if reaches_back else version


def replaces_rows(commit: Row) -> bool:
    """Return whether a commit replaced rows of the table: all of them, or some by an overwrite."""
    mode = (commit.get("operationParameters") or {}).get("mode")
    return commit["operation"] in REPLACED or mode == "Overwrite"


def changes_rows(merge: Row) -> bool:
    """Return whether a MERGE inserted, updated or deleted rows, as far as its commit says."""
    metrics = merge.get("operationMetrics") or {}
    return any(str(metrics.get(name)) != "0" for name in OF_MERGE)


def _may_add(commit: Row) -> bool:
    """Return whether a commit may have added or changed rows; a MERGE says how many it did."""
    if commit["operation"] != "MERGE":
        return commit["operation"] not in NO_NEW_ROWS
    metrics = commit.get("operationMetrics") or {}
    return any(str(metrics.get(name)) != "0" for name in OF_MERGE[:2])


@dataclass(frozen=True, slots=True)
class SparkLake:
    """Tables read through Spark: in a schema, or on a file system that only Hadoop supports."""

    store: "TableStore"

    @property
    def location(self) -> Location:
        """Where the lake is."""
        return self.store.location

    def query(self, text: str, tables: Sequence[str]) -> list[Row]:
        """Return the rows of the SELECT `text` over `tables`, which are temporary views during the query."""
        with self._named(tables) as spark:
            return [in_utc(row) for row in spark.sql(text).collect()]

    def batches(self, text: str, tables: Sequence[str]) -> Iterator[list[Row]]:
        """Yield the rows of the SELECT `text` over `tables`; the driver holds one partition at a time."""
        with self._named(tables) as spark:
            for row in spark.sql(text).toLocalIterator():
                yield [in_utc(row)]

    @contextmanager
    def _named(self, tables: Sequence[str]) -> "Iterator[SparkSession]":
        from strandline.session.engine import engine_of
        from strandline.tables.commits import session_settings

        # In a session of their own they hide no view of the owner; a client of Spark Connect has only one.
        copied = engine_of(self.store.spark).copy()
        store = self.store if copied is None else self.store.through(copied.spark)
        spark = store.spark
        try:
            for table in tables:
                store.read(table).createOrReplaceTempView(table)
            # As delta-rs has it: days are those of UTC, whatever the session's owner set.
            with session_settings(spark, _UTC):
                yield spark
        finally:
            for table in tables:
                spark.catalog.dropTempView(table)

    def slices(self, tables: Sequence[str]) -> list[str | None]:  # noqa: ARG002 - the interface has it
        """Return [None]: Spark spills to disk."""
        return [None]

    def version(self, table: str) -> int:
        """Return the Delta version of `table`."""
        return self.store.version(table)

    def newest_addition(self, table: str, after: int) -> int | None:
        """Return the newest version of `table` after `after` that may have added rows, or None; see `ReadLake`."""
        from strandline.tables.metadata import collected, history_sql

        version = self.version(table)
        if version <= after:
            return (version or None) if version < after else None
        rows = collected(self.store.spark, history_sql(self.store.target(table), version - after))
        return newest_addition((row.asDict() for row in rows), after, version)


def binary_literal(raw: bytes) -> str:
    """Return `raw` as a literal of hex digits that both engines support."""
    return f"X'{raw.hex()}'"


def in_utc(row: "SparkRow") -> Row:
    """Return a row with times in UTC: Spark collects them in the time zone of this machine, without a zone."""
    return {
        name: value.astimezone(UTC) if isinstance(value, datetime) else value
        for name, value in row.asDict().items()
    }
