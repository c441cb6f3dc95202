"""What is read of the tables of one lake: rows of a version, the change feed, versions, properties, sizes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from strandline.contracts.ddl import columns_ddl
from strandline.contracts.load import contract
from strandline.contracts.quoting import quote_name, quote_path
from strandline.tables.commits import session_settings
from strandline.tables.location import Location
from strandline.tables.refusals import buckets_of

if TYPE_CHECKING:
    from deltalake import DeltaTable

COMMITS_LOOKED_AT: Final = 20
"""Newest commits of a table among which its last merge is looked for; others are those of maintenance."""
RESTORED: Final = "RESTORE"
SMALL_WORK_BYTES: Final = 16 * 1024 * 1024
NAMES_PUSHED: Final = {"spark.sql.parquet.pushdown.inFilterThreshold": "200"}
"""Of a list of more values Spark tells Parquet the least and the greatest alone, which skips nothing."""
INTERPRETED: Final = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


FORGOTTEN: Final = re.compile(
    r"\[(DELTA_LOG_FILE_NOT_FOUND|DELTA_VERSION_NOT_FOUND|DELTA_TRUNCATED_TRANSACTION_LOG|DELTA_VERSIONS_NOT_CONTIGUOUS)\]"
)
"""What Delta says of a version whose commit is no longer in the log."""


class TableReads:
    """The tables of one lake, through one Spark session, as they are looked at."""

    def __init__(self, spark: SparkSession, location: Location) -> None:
        self.spark = spark
        self.location = location

    def table_id(self, table: str) -> str:
        """Return the id that Delta gave the table when it was made."""
        light = self._light(table)
        return self._detail(table, "id") if light is None else str(light.metadata().id)

    def target(self, table: str) -> str:
        """Return the table's name as SQL."""
        if self.location.catalog is None or self.location.schema_name is None:
            return quote_path(self.location.table_path(table))
        return quote_name(self.location.catalog, self.location.schema_name, table)

    def read(self, table: str) -> DataFrame:
        """Return the table as it is now; the frame stays at this version."""
        if not self.location.is_path():
            return self.spark.read.table(self.target(table))
        rows = self.spark.read.format("delta").load(self.location.table_path(table))
        # Delta looks for files with a job at each scan; of what is known to be empty Spark leaves whole plans out.
        return rows.limit(0) if self._is_known_empty(table) else rows

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
            if FORGOTTEN.search(str(error)) is None:
                raise
            return None

    def was_restored(self, table: str, previous: int, version: int) -> bool:
        """Return whether a commit after the version `previous` put an older version of the table back."""
        light, commits = self._light(table), version - previous
        if light is None:
            asked = self.spark.sql(history_sql(self.target(table), commits)).select("operation").collect()
            return any(row["operation"] == RESTORED for row in asked)
        return any(each["operation"] == RESTORED for each in light.history(commits))

    def version(self, table: str) -> int:
        """Return the table's version."""
        light = self._light(table)
        if light is not None:
            return int(light.version())
        [row] = self.spark.sql(history_sql(self.target(table))).select("version").head(1)
        return int(row["version"])

    def merged_by(self, table: str) -> str | None:
        """Return the id of the run that last merged into the table, None if none of its newest commits is a merge."""
        light = self._light(table)
        if light is None:
            asked = self.spark.sql(history_sql(self.target(table), commits=COMMITS_LOOKED_AT))
            commits = [row.asDict() for row in asked.select("operation", "userMetadata").collect()]
        else:
            commits = light.history(COMMITS_LOOKED_AT)
        return next((each.get("userMetadata") for each in commits if each["operation"] == "MERGE"), None)

    def properties(self, table: str) -> Mapping[str, str]:
        """Return the table's properties."""
        light = self._light(table)
        return dict(self._detail(table, "properties") if light is None else light.metadata().configuration)

    def has_files(self, table: str) -> bool:
        """Return False if the log of a local folder names no live data file; elsewhere True."""
        light = self._light(table)
        return light is None or bool(light.get_add_actions().num_rows)

    def stored_bytes(self, table: str) -> int:
        """Return the bytes of the table's live data files."""
        light = self._light(table)
        if light is None:
            return int(self._detail(table, "sizeInBytes") or 0)
        return sum(light.get_add_actions().column("size_bytes").to_pylist())

    def _is_known_empty(self, table: str) -> bool:
        """Return True if the newest commit of a local folder says beside it that the table has no file."""
        if not self.location.is_local():
            return False
        log = Path(self.location.table_path(table), "_delta_log")
        newest = max(log.glob("*.json"), default=log)
        if next(log.glob("_*commits/*"), None) is not None:
            # Commits lie there that a catalog knows to be newer.
            return False
        try:
            return bool(json.loads(newest.with_suffix(".crc").read_bytes())["numFiles"] == 0)
        except (OSError, ValueError, KeyError):
            return False

    def _light(self, table: str) -> DeltaTable | None:
        """Return the table of a local folder as delta-rs opens it, or None.

        What Spark answers by planning and running jobs is told in milliseconds.
        """
        if not self.location.is_local():
            return None
        from strandline.tables.delta_rs import open_table

        return open_table(self.location, table)

    def _detail(self, table: str, column: str) -> Any:
        [row] = self.spark.sql(_detail_sql(self.target(table))).select(column).collect()
        return row[column]

    @contextmanager
    def sized(self, work_bytes: int, split_bytes: int | None = None) -> Iterator[None]:
        """Fit Spark's settings to the work of the block: bytes to do, and bytes of a split of a file.

        Compiling a plan costs most of a second on a fresh JVM, more than interpreting it costs on a few megabytes.
        """
        settings = NAMES_PUSHED | (INTERPRETED if work_bytes <= SMALL_WORK_BYTES else {})
        if split_bytes is not None:
            settings["spark.sql.files.maxPartitionBytes"] = str(split_bytes)
        with session_settings(self.spark, settings):
            yield

    @cached_property
    def buckets(self) -> int:
        """N of the lake, from the table property."""
        return buckets_of(self.location, "namespace_state", self.properties("namespace_state"))

    def schema(self, table: str) -> StructType:
        """Return the columns that the contract states, as Spark's types."""
        schema = StructType.fromDDL(columns_ddl(contract(table)))
        if not isinstance(schema, StructType):
            raise TypeError(f"the contract of {table} is no list of columns")
        return schema


def history_sql(target: str, commits: int = 1) -> str:
    """Return the statement that tells the newest commits of a table."""
    return f"DESCRIBE HISTORY {target} LIMIT {int(commits)}"


def _detail_sql(target: str) -> str:
    return f"DESCRIBE DETAIL {target}"
