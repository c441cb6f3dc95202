"""Reads tables of a lake path with delta-rs: no JVM, no Spark, an answer in about a second."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from strandline.contracts.ddl import CONTRACT_PROPERTY
from strandline.contracts.load import tables
from strandline.core.errors import FaultError, UsageError
from strandline.tables.location import Location
from strandline.tables.read_lake import Row, newest_addition
from strandline.tables.refusals import check_contract, lake_not_found, table_missing

if TYPE_CHECKING:
    from deltalake import DeltaTable

# Schemes that delta-rs opens; what only Hadoop knows (hdfs, ..) is read through Spark.
_SCHEMES = ("s3://", "s3a://", "gs://", "az://", "abfs://", "abfss://")


def opens_without_spark(location: Location) -> bool:
    """Return whether `location` is a folder, or a URI that delta-rs opens."""
    return location.is_local() or (location.path is not None and location.path.startswith(_SCHEMES))


@dataclass(frozen=True, slots=True)
class DeltaRsLake:
    """The tables of one lake as they stood when each was opened."""

    location: Location
    tables: Mapping[str, "DeltaTable"]

    @property
    def has_deletion_vectors(self) -> bool:
        """True if a table may have rows that only its deletion vectors remove: then Spark must read the lake."""
        return any(
            "deletionVectors" in (table.protocol().reader_features or ()) for table in self.tables.values()
        )

    def query(self, text: str, tables: Sequence[str]) -> list[Row]:
        """Return the rows of the SELECT `text` over `tables`.

        Raises: FaultError `TABLE_DAMAGED` if a data file is missing or cannot be read.
        """
        from deltalake import QueryBuilder

        engine = QueryBuilder()
        for table in tables:
            engine = engine.register(table, self.tables[table])
        with _Reading(self.location, " or ".join(tables)):
            found = engine.execute(text).read_all()
        columns = [(name, found.column(name).to_pylist()) for name in found.column_names]
        return [{name: values[at] for name, values in columns} for at in range(found.num_rows)]

    def version(self, table: str) -> int:
        """Return the Delta version of `table`."""
        return int(self.tables[table].version())

    def newest_addition(self, table: str, after: int) -> int | None:
        """Return the newest version of `table` beyond `after` that may have added rows, or None.

        Reads: the commits beyond `after`.
        """
        behind = self.version(table) - after
        if behind <= 0:
            return None
        with _Reading(self.location, table):
            commits = self.tables[table].history(behind)
        history = [(int(commit["version"]), commit.get("operation")) for commit in commits]
        return newest_addition(history, after, self.version(table))


def open_light(location: Location) -> DeltaRsLake:
    """Return the lake at `location`, every table of the contracts opened.

    Raises: UsageError `LAKE_NOT_FOUND` (nothing there), `LAKE_FOREIGN` (other things there), `TABLE_MISSING`,
    `CONTRACT_NEWER`; FaultError `TABLE_DAMAGED`.
    """
    from deltalake import DeltaTable
    from deltalake.exceptions import TableNotFoundError

    found: dict[str, DeltaTable] = {}
    for table in tables():
        if location.is_local() and not (location.local_path() / table / "_delta_log").is_dir():
            continue
        try:
            with _Reading(location, table):
                found[table] = DeltaTable(location.table_path(table))
        except TableNotFoundError:
            continue
    if not found:
        raise _no_lake(location)
    for table in tables():
        if table not in found:
            raise table_missing(location, table)
        check_contract(location, table, found[table].metadata().configuration.get(CONTRACT_PROPERTY))
    return DeltaRsLake(location, found)


class _Reading:
    """Turns what delta-rs and Arrow raise for a damaged table into a fault that names it.

    A context manager, since the reader of query results raises bare `Exception` and nothing narrower: exactly that
    class is taken, none that derives from it but the documented ones.
    """

    def __init__(self, location: Location, table: str) -> None:
        self._location = location
        self._table = table

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise FaultError `TABLE_DAMAGED` instead of `error`; a table that is not there stays what it is."""
        from deltalake.exceptions import DeltaError, TableNotFoundError

        if error is None or isinstance(error, TableNotFoundError):
            return
        if kind is Exception or isinstance(error, DeltaError | OSError):
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise FaultError(
                "TABLE_DAMAGED",
                f"the table {self._table} of {self._location.describe()} cannot be read: {first}",
                "run the command again if somebody writes there; else restore the table's folder from a copy",
            ) from error


def _no_lake(location: Location) -> UsageError:
    name = location.describe()
    if location.is_local() and Path(name).exists() and not location.local_path().is_dir():
        return UsageError("LAKE_FOREIGN", f"{name} is a file, not a lake", "name a folder with --lake")
    if location.is_local() and location.local_path().is_dir() and any(location.local_path().iterdir()):
        return UsageError(
            "LAKE_FOREIGN",
            f"the folder {name} holds other things, not a lake",
            "name another folder with --lake",
        )
    return lake_not_found(location)
