"""The tables of one lake: where they are, what version they have, and every read and write of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from strandline.contracts.ddl import BUCKETS_PROPERTY, columns_ddl
from strandline.contracts.load import contract
from strandline.contracts.merge import (
    GONE,
    NO_BOUNDS,
    delete_merge_sql,
    insert_only_merge_sql,
    replace_merge_sql,
    upsert_merge_sql,
)
from strandline.contracts.model import Contract
from strandline.contracts.quoting import quote_name, quote_path
from strandline.frames.layout import laid_out
from strandline.tables.commits import REPARTITION, Retry, session_settings, transaction
from strandline.tables.location import Location

OPEN_FILES: Final = "spark.sql.maxConcurrentOutputFileWriters"
BUCKETS_LYING_READY: Final = 4
DICTIONARY: Final = "parquet.enable.dictionary"
SMALL_WORK_BYTES: Final = 16 * 1024 * 1024
INTERPRETED: Final = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}

WRITES_LOOKED_AT: Final = 20
"""Newest commits of a table among which its last merge is looked for; others are those of maintenance."""

_FORGOTTEN: Final = re.compile(
    r"\[(DELTA_LOG_FILE_NOT_FOUND|DELTA_VERSION_NOT_FOUND|DELTA_TRUNCATED_TRANSACTION_LOG|DELTA_VERSIONS_NOT_CONTIGUOUS)\]"
)
"""What Delta says of a version whose commit is no longer in the log."""

Bounds = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Written:
    """What one statement did to a table: the version after it, rows inserted, updated, deleted."""

    version: int
    inserted: int = 0
    updated: int = 0
    deleted: int = 0


class TableStore:
    """The tables of one lake, through one Spark session.

    `run_id` names this run in every commit and makes each commit of it idempotent.
    """

    def __init__(self, spark: SparkSession, location: Location, retry: Retry, *, run_id: str) -> None:
        self.spark = spark
        self.location = location
        self.run_id = run_id
        self._retry = retry
        self._statements = 0

    def target(self, table: str) -> str:
        """Return the table's name as SQL."""
        if self.location.catalog is None or self.location.schema_name is None:
            return quote_path(self.location.table_path(table))
        return quote_name(self.location.catalog, self.location.schema_name, table)

    def read(self, table: str) -> DataFrame:
        """Return the table as it is now; the frame stays at this version."""
        if self.location.is_path():
            return self.spark.read.format("delta").load(self.location.table_path(table))
        return self.spark.read.table(self.target(table))

    def read_version(self, table: str, version: int) -> DataFrame:
        """Return the table as of a version."""
        reader = self.spark.read.format("delta").option("versionAsOf", version)
        if self.location.is_path():
            return reader.load(self.location.table_path(table))
        return reader.table(self.target(table))

    def changes(self, table: str, first: int, last: int) -> DataFrame:
        """Return the rows that the versions `first` to `last` inserted, from the change data feed."""
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

    def changes_since(self, table: str, before: int, last: int) -> DataFrame | None:
        """Return the rows that came after the version `before`, or None if the log no longer reaches back to it.

        A log forgets its old commits: by default 30 days after them, at the next checkpoint.
        """
        try:
            self.read_version(table, before)
            return self.changes(table, before + 1, last)
        except (AnalysisException, Py4JJavaError) as error:
            if _FORGOTTEN.search(str(error)) is None:
                raise
            return None

    def version(self, table: str) -> int:
        """Return the table's version."""
        [row] = self.spark.sql(_history(self.target(table))).select("version").head(1)
        return int(row["version"])

    def properties(self, table: str) -> Mapping[str, str]:
        """Return the table's properties."""
        [row] = self.spark.sql(_detail(self.target(table))).select("properties").collect()
        return dict(row["properties"])

    def stored_bytes(self, table: str) -> int:
        """Return the bytes of the table's live data files."""
        [row] = self.spark.sql(_detail(self.target(table))).select("sizeInBytes").collect()
        return int(row["sizeInBytes"] or 0)

    @contextmanager
    def sized(self, work_bytes: int, split_bytes: int | None = None) -> Iterator[None]:
        """Fit Spark's settings to the work of the block: bytes to do, and bytes of a split of a file.

        Compiling a plan costs most of a second on a fresh JVM, more than interpreting it costs on a few megabytes.
        """
        settings = dict(INTERPRETED) if work_bytes <= SMALL_WORK_BYTES else {}
        if split_bytes is not None:
            settings["spark.sql.files.maxPartitionBytes"] = str(split_bytes)
        with session_settings(self.spark, settings):
            yield

    @cached_property
    def buckets(self) -> int:
        """N of the lake, from the table property."""
        return int(self.properties("namespace_state")[BUCKETS_PROPERTY])

    def schema(self, table: str) -> StructType:
        """Return the columns that the contract states, as Spark's types."""
        schema = StructType.fromDDL(columns_ddl(contract(table)))
        if not isinstance(schema, StructType):
            raise TypeError(f"the contract of {table} is no list of columns")
        return schema

    def merge_new(
        self,
        table: str,
        rows: DataFrame,
        buckets: tuple[int, ...],
        bounds: Bounds,
        *,
        lies_ready: bool = False,
    ) -> Written:
        """Add the rows whose key is absent; nothing else changes.

        Where no stored row can have one of the keys, the rows are written as they are laid out: sorted, and a large
        bucket by several tasks. Rows that lie ready in their tasks are written from there.
        """
        described = contract(table)
        sql = insert_only_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets, bounds=bounds
        )
        overlapping = self._overlapping(table, buckets, bounds)
        settings = {REPARTITION: str(overlapping).lower()}
        if lies_ready:
            # Without it the writer sorts by bucket what has one bucket, or few.
            settings[OPEN_FILES] = str(BUCKETS_LYING_READY)
        return self._merge(described, sql, rows, buckets, settings, lay_out=not lies_ready)

    def replace(
        self,
        table: str,
        rows: DataFrame,
        buckets: tuple[int, ...],
        gone: DataFrame | None = None,
        bounds: Bounds = NO_BOUNDS,
    ) -> Written:
        """Make each key of `rows` have the row given; a row equal but for provenance stays as it is.

        Rows whose key `gone` names (the key's columns and bucket) are deleted, in the same commit. Files outside of
        `bounds` are not opened: no stored row with one of the keys may lie there.
        """
        described = contract(table)
        sql = replace_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets,
            deleting=gone is not None, bounds=bounds,
        )  # fmt: skip
        if gone is None:
            return self._merge(described, sql, rows, buckets, {})
        kept = rows.select(*described.names, F.lit(False).alias(GONE))
        keys = gone.select(*described.partition, *described.key, F.lit(True).alias(GONE))
        marked = kept.unionByName(keys, allowMissingColumns=True)
        return self._merge(described, sql, marked, buckets, {}, marks=(GONE,))

    def upsert(self, table: str, rows: DataFrame, buckets: tuple[int, ...]) -> Written:
        """Add absent keys, and count the second sighting of others as the contract says."""
        described = contract(table)
        sql = upsert_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets
        )
        return self._merge(described, sql, rows, buckets, {})

    def delete(self, table: str, keys: DataFrame, buckets: tuple[int, ...]) -> Written:
        """Delete the rows whose key `keys` names; `keys` has the key's columns and bucket."""
        described = contract(table)
        sql = delete_merge_sql(
            described, target=self.target(table), source=self._view(table), buckets=buckets
        )
        return self._merge(described, sql, keys, buckets, {}, lay_out=False)

    def is_torn(self, tables: tuple[str, ...]) -> bool:
        """Return whether the run that last wrote one of the tables has no row in `run`: killed, or under way."""
        writers = {
            row["userMetadata"]
            for table in tables
            for row in self.spark.sql(_history(self.target(table), commits=WRITES_LOOKED_AT))
            .where("operation = 'MERGE'").select("userMetadata").head(1)
        }  # fmt: skip
        named = sorted(writers - {None, self.run_id})
        told = self.read("run").where(F.col("run_id").isin(named)).select("run_id").distinct().count()
        return told < len(named)

    def append(self, table: str, rows: DataFrame) -> None:
        """Append rows to a table that is no record table."""
        shaped = rows.select(*contract(table).names)
        with session_settings(self.spark, self._transaction(table)):
            if self.location.is_path():
                shaped.write.format("delta").mode("append").save(self.location.table_path(table))
            else:
                shaped.write.format("delta").mode("append").saveAsTable(self.target(table))

    def append_rows(self, table: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Append a few rows given as values; columns left out are null."""
        schema = self.schema(table)
        values = [tuple(row.get(name) for name in schema.names) for row in rows]
        self.append(table, self.spark.createDataFrame(values, schema))

    def _overlapping(self, table: str, buckets: tuple[int, ...], bounds: Bounds) -> bool:
        stored = self.read(table).where(F.col("bucket").isin(*buckets))
        for name, (low, high) in bounds.items():
            stored = stored.where(F.col(name).between(low, high))
        return bool(stored.select("bucket").head(1))

    def _view(self, table: str) -> str:
        return f"strandline_{table}_{self._statements}"

    def _transaction(self, table: str) -> dict[str, str]:
        self._statements += 1
        return transaction(f"{self.run_id}/{table}/{self._statements}", 0, self.run_id)

    def _merge(
        self, described: Contract, sql: str, rows: DataFrame, buckets: tuple[int, ...], settings: Mapping[str, str],
        *, lay_out: bool = True, marks: tuple[str, ...] = (),
    ) -> Written:  # fmt: skip
        view = self._view(described.table)
        source = laid_out(rows.select(*described.names, *marks), described) if lay_out else rows
        source.createOrReplaceTempView(view)
        plain = {f"{DICTIONARY}#{column.name}": "false" for column in described.columns if column.distinct}
        statement = {**self._transaction(described.table), **plain, **settings}
        try:
            with session_settings(self.spark, statement):
                [metrics] = self._retry.run(
                    lambda: self.spark.sql(sql).collect(), table=described.table, buckets=buckets
                )
        finally:
            self.spark.catalog.dropTempView(view)
        return Written(
            self.version(described.table),
            int(metrics["num_inserted_rows"]),
            int(metrics["num_updated_rows"]),
            int(metrics["num_deleted_rows"]),
        )


def _history(target: str, commits: int = 1) -> str:
    return f"DESCRIBE HISTORY {target} LIMIT {int(commits)}"


def _detail(target: str) -> str:
    return f"DESCRIBE DETAIL {target}"
