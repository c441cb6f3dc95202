"""What the logs of the tables of one lake say: versions, commits, properties, sizes. No data file is read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Row, SparkSession
from pyspark.sql.types import StructType

from strandline.contracts.ddl import columns_ddl
from strandline.contracts.load import contract
from strandline.contracts.quoting import quote_name, quote_path
from strandline.contracts.shared_tables import STATES
from strandline.tables.commits import METADATA_OF_COMMIT
from strandline.tables.history import history
from strandline.tables.location import Location
from strandline.tables.opened_tables import OpenedTables
from strandline.tables.read_lake import OF_MERGE, changes_rows, newest_addition, replaces_rows
from strandline.tables.refusals import buckets_of
from strandline.tables.written import Written

if TYPE_CHECKING:
    from deltalake import DeltaTable

COMMITS_SEARCHED: Final = 20
"""Number of newest commits of a table that are listed first: mostly they have its last MERGE."""
_MORE: Final = 10
"""How many times as many commits are listed next."""


class TableMetadata:
    """The metadata of the tables of one lake: of a local lake through delta-rs, else through one Spark session."""

    def __init__(self, spark: SparkSession, location: Location) -> None:
        self.spark = spark
        self.location = location
        self._opened = OpenedTables(location)

    def target(self, table: str) -> str:
        """Return the table's name as SQL."""
        if self.location.catalog is None or self.location.schema_name is None:
            return quote_path(self.location.table_path(table))
        return quote_name(self.location.catalog, self.location.schema_name, table)

    def delta_rs_table(self, table: str) -> DeltaTable | None:
        """Return the table of a local lake through delta-rs, or None.

        It answers in milliseconds what Spark answers with plans and jobs.
        """
        return self._opened.table(table)

    def detail(self, table: str, column: str) -> Any:
        """Return a column of DESCRIBE DETAIL of a table."""
        [row] = collected(self.spark, detail_sql(self.target(table)))
        return row[column]

    def table_id(self, table: str) -> str:
        """Return the table's id in Delta, which changes when it is recreated."""
        opened = self.delta_rs_table(table)
        return self.detail(table, "id") if opened is None else str(opened.metadata().id)

    def properties(self, table: str) -> Mapping[str, str]:
        """Return the table's properties."""
        opened = self.delta_rs_table(table)
        return dict(self.detail(table, "properties") if opened is None else opened.metadata().configuration)

    @cached_property
    def buckets(self) -> int:
        """The number of buckets of the lake, a table property."""
        return buckets_of(self.location, STATES, self.properties(STATES))

    def schema(self, table: str) -> StructType:
        """Return the columns of the contract as a Spark schema."""
        schema = StructType.fromDDL(columns_ddl(contract(table)))
        if not isinstance(schema, StructType):
            raise TypeError(f"the contract of {table} is not a list of columns")
        return schema

    def has_files(self, table: str) -> bool:
        """Return False if the log of a local table names no live data file; True for any other lake."""
        opened = self.delta_rs_table(table)
        return opened is None or bool(opened.get_add_actions().num_rows)

    def stored_bytes(self, table: str) -> int:
        """Return the bytes of the table's live data files."""
        opened = self.delta_rs_table(table)
        if opened is None:
            return int(self.detail(table, "sizeInBytes") or 0)
        return sum(opened.get_add_actions().column("size_bytes").to_pylist())

    def version(self, table: str) -> int:
        """Return the table's version."""
        opened = self.delta_rs_table(table)
        if opened is not None:
            return int(opened.version())
        [row] = collected(self.spark, history_sql(self.target(table)))
        return int(row["version"])

    def newest_commits(self, table: str, limit: int = COMMITS_SEARCHED) -> list[dict[str, Any]]:
        """Return the newest commits of a table, the newest first: version, operation and what else they state."""
        opened = self.delta_rs_table(table)
        if opened is not None:
            return history(opened, self.location.local_path() / table, limit)
        return [row.asDict() for row in collected(self.spark, history_sql(self.target(table), limit))]

    def was_replaced(self, table: str, previous: int, version: int) -> bool:
        """Return whether a commit after the version `previous`, up to `version`, replaced rows of the table."""
        return any(map(replaces_rows, self._commits(table, previous, version)))

    def may_have_added(self, table: str, previous: int, version: int) -> bool:
        """Return whether a commit after the version `previous`, up to `version`, counts as an addition of rows."""
        return newest_addition(self._commits(table, previous, version), previous, version) is not None

    def commits_after(self, table: str, version: int, first: int = COMMITS_SEARCHED) -> list[dict[str, Any]]:
        """Return the commits after a version, newest first, as far as the log has them.

        They are listed at once if they are among the `first` newest ones.
        """
        commits = self.newest_commits(table, first)
        if commits and commits[-1]["version"] > version + 1:
            commits = self.newest_commits(table, commits[0]["version"] - version + COMMITS_SEARCHED)
        return [each for each in commits if each["version"] > version]

    def _commits(self, table: str, previous: int, version: int) -> list[dict[str, Any]]:
        """Return the commits after the version `previous`, up to `version`, newest first."""
        # The newest commits are listed, and other writers may have added some to these.
        later = self.commits_after(table, previous, version - previous + COMMITS_SEARCHED)
        return [each for each in later if each["version"] <= version]

    def merge_of(self, table: str, run_id: str, written: Written) -> Written:
        """Return what the last MERGE of a run wrote to a table, or `written` if the newest commits have none of it.

        The last commit of a session may be another one: Delta's auto compaction commits right after the MERGE.
        Others commit while a statement waits before it is repeated.
        """
        merges = filter(is_merge, islice(self.every_commit(table), COMMITS_SEARCHED * _MORE))
        merge = next((each for each in merges if each.get(METADATA_OF_COMMIT) == run_id), None)
        if merge is None:
            return written
        metrics = merge.get("operationMetrics") or {}
        return Written(int(merge["version"]), *(int(metrics.get(name) or 0) for name in OF_MERGE))

    def is_merged_by_others(self, table: str, run_id: str, version: int) -> bool:
        """Return whether a run other than `run_id` merged into the table after a version."""
        return bool(self._merges_of_others(table, run_id, version))

    def is_touched_by_others(self, table: str, run_id: str, version: int) -> bool:
        """Return whether a run other than `run_id` committed a MERGE after a version that changed no row."""
        return not all(map(changes_rows, self._merges_of_others(table, run_id, version)))

    def _merges_of_others(self, table: str, run_id: str, version: int) -> list[dict[str, Any]]:
        merges = filter(is_merge, self.commits_after(table, version))
        return [each for each in merges if each.get(METADATA_OF_COMMIT) != run_id]

    def every_commit(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield the commits of a table, newest first.

        Maintenance can commit more often than `COMMITS_SEARCHED` after a MERGE: then more commits are listed.
        """
        limit, seen = COMMITS_SEARCHED, math.inf
        while True:
            commits = self.newest_commits(table, limit)
            yield from (each for each in commits if each["version"] < seen)
            if len(commits) < limit:
                return
            limit, seen = limit * _MORE, commits[-1]["version"]


def is_merge(commit: Mapping[str, Any]) -> bool:
    """Return whether a commit is that of a MERGE."""
    return bool(commit["operation"] == "MERGE")


def collected(spark: SparkSession, statement: str) -> list[Row]:
    """Return the rows of a statement about a table or schema.

    Whole, and chosen from in Python: to select columns of them would be a query with a job of its own.
    """
    return spark.sql(statement).collect()


def history_sql(target: str, commits: int = 1) -> str:
    """Return the statement that lists the newest commits of a table."""
    return f"DESCRIBE HISTORY {target} LIMIT {int(commits)}"


def detail_sql(target: str) -> str:
    """Return the statement that describes a table: its format, id, properties and size."""
    return f"DESCRIBE DETAIL {target}"
