"""Faults of tables that delta-rs reads: a damaged table, or a store that refuses."""

import re
from types import TracebackType

from strandline.core.errors import FaultError
from strandline.tables.damage import log_damage, table_damaged
from strandline.tables.location import Location
from strandline.tables.refusals import lake_unreadable, not_readable, table_in_catalog, table_unsupported

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_DATA_FILE = re.compile(r"[^\s:'\"]+\.parquet")
_UNSUPPORTED = re.compile(r"(?<=Unsupported: ).+|Unsupported table features required: .+")
_IN_CATALOG = "catalog-managed table"
_DENIED = re.compile(r"(?:(/[^:'\"]+): )?Permission denied")


class Reading:
    """Turns exceptions of delta-rs and Arrow about a damaged table into a fault that names it.

    A context manager, since the reader of query results raises a bare `Exception`: only that exact class and the
    documented subclasses are turned into faults.
    """

    def __init__(self, location: Location, *tables: str) -> None:
        self._location = location
        self._tables = tables

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise FaultError instead of `error`, but not for a table that does not exist.

        Raises: FaultError `TABLE_DAMAGED`, `TABLE_UNSUPPORTED` (a feature of Delta that delta-rs does not read, or a
            catalog has the newest commits), `NOT_READABLE` (a file without read permission), `LAKE_UNREADABLE` (a
            store that does not answer or refuses).
        """
        from deltalake.exceptions import DeltaError, TableNotFoundError

        if error is None or isinstance(error, TableNotFoundError):
            return
        if kind is Exception or isinstance(error, DeltaError | OSError | ValueError):
            raise self._fault(str(error)) from error

    def _fault(self, text: str) -> FaultError:
        """Return the fault: commits in a catalog, an unknown feature, no permission, a damaged log, else `text`."""
        file = _DATA_FILE.search(text)
        named = [table for table in self._tables if f"/{table}/" in text] or self._with_file(file)
        if _IN_CATALOG in text:
            return table_in_catalog(self._location, " or ".join(named))
        unsupported = _UNSUPPORTED.search(text)
        if unsupported is not None:
            return table_unsupported(self._location, " or ".join(named), unsupported[0])
        if self._location.is_local():
            denied = _DENIED.search(text)
            if denied is not None:
                return not_readable(self._location, denied[1] or f"the table {' or '.join(named)}")
            for table in named:
                found = log_damage(self._location, table)
                if found is not None:
                    return found
        first = _STYLE.sub("", (text.splitlines() or [""])[0])
        if file is None and not self._location.is_local():
            return lake_unreadable(self._location, first)
        return table_damaged(
            self._location, " or ".join(named), f"{file[0] if file else 'it'} cannot be read: {first}"
        )

    def _with_file(self, file: re.Match[str] | None) -> list[str]:
        """Return the tables with a data file that is not in their folder, as those of a clone, or else all tables."""
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        every = list(self._tables)
        if file is None or len(every) == 1 or not self._location.is_local():
            return every
        name = file[0].rpartition("/")[2]
        try:
            uris = {table: DeltaTable(self._location.table_path(table)).file_uris() for table in every}
        except (DeltaError, OSError):
            return every
        return [table for table in every if any(uri.endswith(name) for uri in uris[table])] or every
