"""Reads tables of a lake path with delta-rs: without JVM and Spark, in about a second."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from strandline.contracts.load import tables
from strandline.contracts.shared_tables import RUNS
from strandline.core.errors import UsageError
from strandline.tables.column_checks import check_columns, column_types
from strandline.tables.damage import check_log, check_versions, has_table
from strandline.tables.delta_rs_faults import Reading
from strandline.tables.history import history
from strandline.tables.location import Location
from strandline.tables.read_lake import Row, newest_addition
from strandline.tables.refusals import check_properties, lake_not_found, table_missing
from strandline.tables.slices import slices_of

if TYPE_CHECKING:
    from deltalake import DeltaTable

# Schemes that delta-rs supports; Spark reads those of Hadoop only (hdfs, ..).
_SCHEMES = ("s3://", "s3a://", "gs://", "az://", "abfs://", "abfss://")


VECTORS = "deletionVectors"
"""The feature of Delta that a table needs for deletion vectors."""
READ_HERE = frozenset({"columnMapping", "timestampNtz", "v2Checkpoint"})
"""Features with which delta-rs reads the rows of a table. It opens tables with more of them."""


def has_vectors(table: "DeltaTable") -> bool:
    """Return whether a table can have deletion vectors."""
    return VECTORS in (table.protocol().reader_features or ())


def opens_without_spark(location: Location) -> bool:
    """Return whether `location` is a folder, or a URI that delta-rs opens."""
    return location.is_local() or (location.path is not None and location.path.startswith(_SCHEMES))


@dataclass(frozen=True, slots=True)
class DeltaRsLake:
    """The tables of one lake, each at the version at which it was opened."""

    location: Location
    tables: Mapping[str, "DeltaTable"]

    @property
    def needs_spark(self) -> bool:
        """True if a table has a feature with which only Spark reads its rows, such as deletion vectors."""
        return any(
            not set(table.protocol().reader_features or ()) <= READ_HERE for table in self.tables.values()
        )

    def query(self, text: str, tables: Sequence[str]) -> list[Row]:
        """Return the rows of the SELECT `text` over `tables`.

        Raises: FaultError `TABLE_DAMAGED` if a data file is missing or cannot be read.
        """
        return [row for rows in self.batches(text, tables) for row in rows]

    def batches(self, text: str, tables: Sequence[str]) -> Iterator[list[Row]]:
        """Yield the rows of the SELECT `text` over `tables`, in batches of some thousands.

        Raises: FaultError `TABLE_DAMAGED` if a data file is missing or cannot be read.
        """
        from deltalake import QueryBuilder

        engine = QueryBuilder()
        for table in tables:
            with Reading(self.location, table):
                engine = engine.register(table, self.tables[table])
        with Reading(self.location, *tables):
            for batch in engine.execute(text):
                names = batch.schema.names
                columns = [batch.column(name).to_pylist() for name in names]
                yield [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]

    def slices(self, tables: Sequence[str]) -> list[str | None]:
        """Return conditions on `bucket` and `namespace` that divide the tables into slices, see `slices.slices_of`.

        The row counts are from the log.
        """
        row_counts: Counter[int | None] = Counter()
        for table in tables:
            added = self.tables[table].get_add_actions(flatten=True)
            if not added.num_rows:
                continue
            if not {"partition.bucket", "num_records"} <= set(added.column_names):
                return [None]
            buckets, counts = (added.column(name).to_pylist() for name in ("partition.bucket", "num_records"))
            for bucket, rows in zip(buckets, counts, strict=True):
                # Somebody took NOT NULL from the column.
                row_counts[None if bucket is None else int(bucket)] += int(rows or 0)
        without = row_counts.pop(None, None)
        found = slices_of({bucket: rows for bucket, rows in row_counts.items() if bucket is not None})
        return found if without is None or found == [None] else [*found, "bucket IS NULL"]

    def version(self, table: str) -> int:
        """Return the Delta version of `table`."""
        return int(self.tables[table].version())

    def newest_addition(self, table: str, after: int) -> int | None:
        """Return the newest version of `table` after `after` that may have added rows, or None; see `ReadLake`.

        Reads: the commits after `after`.
        """
        behind = self.version(table) - after
        if behind <= 0:
            return (self.version(table) or None) if behind else None
        with Reading(self.location, table):
            folder = self.location.local_path() / table if self.location.is_local() else None
            commits = history(self.tables[table], folder, behind)
        return newest_addition(commits, after, self.version(table))


def open_delta_rs(location: Location) -> DeltaRsLake:
    """Return the lake at `location`, with every table of the contracts opened.

    Raises: UsageError `LAKE_NOT_FOUND` (nothing exists), `LAKE_FOREIGN` (other files exist), `TABLE_MISSING`,
    `CONTRACT_NEWER`, `PROPERTY_INVALID`, `TABLE_DIFFERS`; FaultError `TABLE_DAMAGED`.
    """
    found = open_tables(location)
    if not found:
        raise _no_lake(location)
    for table in tables():
        if table not in found:
            raise table_missing(location, table)
    _check_stated(location, found)
    return DeltaRsLake(location, found)


def open_tables(location: Location) -> dict[str, "DeltaTable"]:
    """Return the existing tables of a lake, each at its current version. Logs of a local lake are checked.

    Raises: FaultError `TABLE_DAMAGED`.
    """
    from deltalake.exceptions import TableNotFoundError

    if location.is_local() and not location.local_path().is_dir():
        return {}
    found: dict[str, DeltaTable] = {}
    # `run` first: it then names no version that was committed after another table was opened.
    for table in sorted(tables(), key=lambda name: name != RUNS):
        if location.is_local() and not has_table(location, table):
            continue
        if location.is_local():
            check_log(location, table)
        try:
            found[table] = open_table(location, table)
        except TableNotFoundError:
            continue
    if location.is_local() and RUNS in found:
        check_versions(location, {table: int(opened.version()) for table, opened in found.items()})
    return {table: found[table] for table in tables() if table in found}


def check_tables(location: Location) -> None:
    """Check that no table of a local lake is damaged, of an unknown version or with other columns; some may be missing.

    Raises: UsageError `CONTRACT_NEWER`, `PROPERTY_INVALID`, `TABLE_DIFFERS`; FaultError `TABLE_DAMAGED`.
    """
    if location.is_local():
        _check_stated(location, open_tables(location))


def _check_stated(location: Location, opened: Mapping[str, "DeltaTable"]) -> None:
    """Check what tables state of themselves: their properties, then their columns."""
    properties = {name: table.metadata().configuration for name, table in opened.items()}
    check_properties(location, properties)
    check_columns(location, {name: column_types(table) for name, table in opened.items()}, properties)


def check_logs(location: Location) -> None:
    """Check that no table of another local lake is damaged, by the files of its log.

    Rows and properties are checked when they are read.
    Raises: FaultError `TABLE_DAMAGED`.
    """
    for table in tables() if location.is_local() else ():
        if has_table(location, table):
            check_log(location, table)


def open_table(location: Location, table: str) -> "DeltaTable":
    """Return one table at its current version. Raises: FaultError `TABLE_DAMAGED`; `TableNotFoundError` of delta-rs."""
    from deltalake import DeltaTable

    with Reading(location, table):
        return DeltaTable(location.table_path(table))


def _no_lake(location: Location) -> UsageError:
    name = location.describe()
    if location.is_local() and Path(name).exists() and not location.local_path().is_dir():
        return UsageError("LAKE_FOREIGN", f"{name} is a file, not a lake", "name a folder with --lake")
    if location.is_local() and location.local_path().is_dir() and any(location.local_path().iterdir()):
        return UsageError(
            "LAKE_FOREIGN",
            f"the folder {name} has other files and is not a lake",
            "name another folder with --lake",
        )
    return lake_not_found(location)
