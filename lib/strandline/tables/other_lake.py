"""Another lake as input: rows are untrusted and checked against the contracts of their tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.ddl import BUCKETS_PROPERTY
from strandline.contracts.load import contract
from strandline.contracts.model import Contract
from strandline.contracts.quoting import MAX_BUCKETS
from strandline.contracts.rules import row_rules
from strandline.contracts.shared_tables import STATES
from strandline.core.errors import FaultError, UsageError
from strandline.frames.differences import key_bytes, matching
from strandline.frames.row_rules import BROKEN, is_comparable, keeps_contract, with_broken_rules
from strandline.session.engine import engine_of
from strandline.tables.refusals import table_unsupported
from strandline.tables.spark_errors import spark_errors

if TYPE_CHECKING:
    from strandline.dialect_api.ports import Jobs
    from strandline.tables.location import Location
    from strandline.tables.reads import TableReads

_UNREADABLE: Final = re.compile(r"\[FAILED_READ_FILE[.\w]*\][^\n]*? file (\S+?)\.?(?:\s|$)")
_OF_DELTA: Final = re.compile(r"\[DELTA_\w+")
_UNSUPPORTED: Final = re.compile(r"\[DELTA_(?:UNSUPPORTED_FEATURES_FOR_READ|INVALID_PROTOCOL_VERSION)\b")


class OtherLake:
    """The tables of another lake, each at the version at which it is first read (`ports.LakeSnapshot`)."""

    def __init__(self, reads: TableReads) -> None:
        """Raises: UsageError TABLE_DIFFERS if that lake does not state its number of buckets."""
        self.name = reads.location.describe()
        self._reads = reads
        self._rows: dict[str, DataFrame] = {}
        self._buckets = self._number_of_buckets()

    @property
    def buckets(self) -> int:
        """The number of buckets of that lake."""
        return self._buckets

    def read(self, table: str) -> DataFrame:
        """Return the rows that meet the contract of their table, with its columns."""
        return self.marked(table, self.rows(table)).where(keeps_contract()).drop(BROKEN)

    def matching(self, table: str, keys: DataFrame, jobs: Jobs) -> DataFrame:
        """Return the rows that have the columns of a row of `keys` and meet the contract of their table.

        The rules are evaluated for these rows alone: Spark would do so before the join, for every row of the lake.
        """
        keys = jobs.checkpoint(keys, "keys")
        size = jobs.row(keys.agg(key_bytes().alias("bytes")))["bytes"]
        found = jobs.persist(matching(self.rows(table), keys, size), "rows that match")
        return self.marked(table, found).where(keeps_contract()).drop(BROKEN)

    def rows(self, table: str) -> DataFrame:
        """Return all rows with the contract's columns, whatever they contain."""
        if table not in self._rows:
            self._rows[table] = self._with_columns(table)
        return self._rows[table]

    def marked(self, table: str, rows: DataFrame) -> DataFrame:
        """Add the rules that each of some rows breaks. To evaluate all rules takes longer than to read a row."""
        return with_broken_rules(rows, row_rules(contract(table), buckets=self.buckets))

    def ids(self, table: str) -> DataFrame:
        """Return bucket, namespace and record_id of all rows, and whether they are valid for a comparison."""
        ids = self.rows(table).select("bucket", "namespace", "record_id")
        return ids.withColumn("is_comparable", is_comparable())

    def incomparable(self, table: str) -> DataFrame:
        """Return the rows whose namespace or id is invalid."""
        return self.rows(table).where(~is_comparable())

    def has_files(self, table: str) -> bool:
        """Return False if the log of a local table names no live data file; True for any other lake."""
        return self._reads.has_files(table)

    def stored_bytes(self, table: str) -> int:
        """Return the bytes of the table's live data files."""
        return self._reads.stored_bytes(table)

    def check(self, tables: Iterable[str]) -> None:
        """Check that tables have the columns of their contracts, with their types. Further columns are ignored.

        The tables are then read at versions that are not older from one to the next.
        A nullable column can be missing: an older lake does not have it.
        Raises: UsageError TABLE_DIFFERS; FaultError TABLE_DAMAGED for a log that Delta does not accept,
        TABLE_UNSUPPORTED for a feature of Delta that is unknown here.
        """
        for table in tables:
            try:
                self._check_columns(table, contract(table))
                self.rows(table)
            except spark_errors() as error:
                if _OF_DELTA.search(str(error)) is None:
                    raise
                raise self._refused(table, str(error)) from error

    def _check_columns(self, table: str, described: Contract) -> None:
        there = {field.name: field.dataType.simpleString() for field in self._reads.read(table).schema}
        required = {column.name for column in described.columns if column.required}
        for field in self._reads.schema(table):
            expected, found = field.dataType.simpleString(), there.get(field.name)
            if found == expected or (found is None and field.name not in required):
                continue
            has = f"has the type {found}" if found else "is missing"
            raise self._differs(
                f"the column {table}.{field.name} of {self.name} {has}, but its contract requires {expected}"
            )

    def _number_of_buckets(self) -> int:
        stated = self._reads.properties(STATES).get(BUCKETS_PROPERTY, "")
        if re.fullmatch("[1-9][0-9]{0,4}", stated) is None or int(stated) > MAX_BUCKETS:
            raise self._differs(
                f"the table namespace_state of {self.name} has no number in {BUCKETS_PROPERTY}"
            )
        return int(stated)

    def damage(self, error: BaseException, ours: Location) -> FaultError | None:
        """Return the fault of a file of this lake, if `error` is about one that Spark could not read, else None.

        A log can name files anywhere: what is not in our lake, too, is theirs. None for a lake in a schema: only its
        catalog knows which files are those of the lake.
        """
        named = _UNREADABLE.search(str(error))
        if named is None or not self._reads.location.is_path():
            return None
        file = unquote(named.group(1))
        is_ours = not ours.is_path() or ours.table_path("") in file
        if is_ours and not any(self._reads.location.table_path(table) in file for table in self._rows):
            return None
        return FaultError(
            "TABLE_DAMAGED",
            f"a file of the lake {self.name} cannot be read: {file}",
            "repair that lake and run the command again: its other dialects are not affected",
        )

    def _refused(self, table: str, said: str) -> FaultError:
        """Return the fault of a table whose log Delta does not accept, by the line that names its condition."""
        first = next(line for line in said.splitlines() if _OF_DELTA.search(line))
        found = first[first.index("[DELTA_") :][:300]
        if _UNSUPPORTED.search(found):
            return table_unsupported(self._reads.location, table, found)
        return FaultError(
            "TABLE_DAMAGED",
            f"Delta does not read the table {table} of the lake {self.name}: {found}",
            "repair that lake, or ingest a file that it exported",
        )

    @staticmethod
    def _differs(message: str) -> UsageError:
        return UsageError("TABLE_DIFFERS", message, "repair that lake, or ingest a file that it exported")

    def _with_columns(self, table: str) -> DataFrame:
        # Spark does not check for nulls in a column that a table declares as NOT NULL: one in a file ends the job.
        rows = engine_of(self._reads.spark).nullable(
            self._reads.read_version(table, self._reads.version(table))
        )
        # An empty literal relation lets Spark drop whole plans.
        rows = rows if self._reads.has_files(table) else rows.limit(0)
        there = set(rows.columns)
        return rows.select(
            *(
                F.col(field.name)
                if field.name in there
                else F.lit(None).cast(field.dataType).alias(field.name)
                for field in self._reads.schema(table)
            )
        )
