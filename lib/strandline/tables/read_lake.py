"""Queries of those who only look, answered by delta-rs or by Spark alike.

A query is one text of constants over bare table names, in the SQL that both engines read: it says nothing of how to
spell hex or how to unfold an array. Rows come back as Python values, so that neither Arrow nor pandas is loaded.
"""

from collections.abc import Iterator, Mapping, Sequence
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

# Commits that add no record: a record table beyond its reduced version by these alone is not behind. Anything
# unknown counts as news, since one reduction too many changes nothing.
NO_NEWS = frozenset(
    {
        "ADD COLUMNS", "ADD CONSTRAINT", "CHANGE COLUMN", "CLUSTER BY", "CREATE TABLE", "DELETE", "DROP CONSTRAINT",
        "FSCK", "OPTIMIZE", "REORG", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "UPDATE COLUMN METADATA",
        "UPGRADE PROTOCOL", "VACUUM END", "VACUUM START",
    }
)  # fmt: skip


class ReadLake(Protocol):
    """The tables of one lake, to look at."""

    @property
    def location(self) -> Location:
        """Where the lake is."""

    def query(self, text: str, tables: Sequence[str]) -> list[Row]:
        """Return the rows of the SELECT `text` over `tables`."""

    def batches(self, text: str, tables: Sequence[str]) -> Iterator[list[Row]]:
        """Yield the rows of the SELECT `text` over `tables`, some at a time."""

    def slices(self, tables: Sequence[str]) -> list[str | None]:
        """Return conditions on `bucket` and `namespace` that cut the tables into parts which fit into memory.

        Each namespace is in one part. None alone: the tables are small, or the engine takes care of it.
        """

    def newest_addition(self, table: str, after: int) -> int | None:
        """Return the newest version of `table` beyond `after` that may have added rows, or None."""


def newest_addition(history: Sequence[tuple[int, str | None]], after: int, version: int) -> int | None:
    """Return the newest of the commits (version, operation) beyond `after` that may have added rows, or None.

    A history that does not reach back to `after` counts as news: the table's `version`.
    """
    beyond = [(at, operation) for at, operation in history if at > after]
    for at, operation in beyond:
        if operation not in NO_NEWS:
            return at
    return None if len(beyond) >= version - after else version


@dataclass(frozen=True, slots=True)
class SparkLake:
    """Tables read through Spark: in a schema, or where only Hadoop's file systems reach."""

    store: "TableStore"

    @property
    def location(self) -> Location:
        """Where the lake is."""
        return self.store.location

    def query(self, text: str, tables: Sequence[str]) -> list[Row]:
        """Return the rows of the SELECT `text` over `tables`, temporary views of their bare names while it runs."""
        with self._named(tables) as spark:
            return [_in_utc(row) for row in spark.sql(text).collect()]

    def batches(self, text: str, tables: Sequence[str]) -> Iterator[list[Row]]:
        """Yield the rows of the SELECT `text` over `tables`; one of Spark's partitions at a time is in this process."""
        with self._named(tables) as spark:
            for row in spark.sql(text).toLocalIterator():
                yield [_in_utc(row)]

    @contextmanager
    def _named(self, tables: Sequence[str]) -> "Iterator[SparkSession]":
        spark = self.store.spark
        try:
            for table in tables:
                self.store.read(table).createOrReplaceTempView(table)
            yield spark
        finally:
            for table in tables:
                spark.catalog.dropTempView(table)

    def slices(self, tables: Sequence[str]) -> list[str | None]:  # noqa: ARG002 - the port's
        """Return that there is one part: Spark keeps on disk what memory has no room for."""
        return [None]

    def newest_addition(self, table: str, after: int) -> int | None:
        """Return the newest version of `table` beyond `after` that may have added rows, or None."""
        from strandline.tables.reads import history_sql

        version = self.store.version(table)
        if version <= after:
            return None
        commits = self.store.spark.sql(history_sql(self.store.target(table), version - after))
        history = [
            (row["version"], row["operation"]) for row in commits.select("version", "operation").collect()
        ]
        return newest_addition(history, after, version)


def binary_literal(raw: bytes) -> str:
    """Return `raw` as a literal that both engines read; only hex digits of it are in the text."""
    return f"X'{raw.hex()}'"


def _in_utc(row: "SparkRow") -> Row:
    """Return a row with times in UTC: Spark collects times without a zone, in that of this machine."""
    return {
        name: value.astimezone(UTC) if isinstance(value, datetime) else value
        for name, value in row.asDict().items()
    }
