"""Why a lake is not worked on: errors that every way of opening one shares. Spark is not needed."""

import os
from pathlib import Path

from strandline.contracts.load import contract, tables
from strandline.core.errors import FaultError, UsageError
from strandline.tables.location import Location


def lake_not_found(location: Location) -> UsageError:
    """Return the error of a location that holds nothing."""
    name = location.describe()
    return UsageError(
        "LAKE_NOT_FOUND", f"there is no lake at {name}", f"`strandline init {option_of(location)}` makes one"
    )


def no_folder(location: Location) -> UsageError:
    """Return the error of a local lake that is a file."""
    return UsageError(
        "LAKE_NO_FOLDER", f"the lake {location.describe()} is no folder", "give --lake a folder or a new path"
    )


def lake_foreign(location: Location, name: str) -> UsageError:
    """Return the error of a folder that holds something else, for example `name`."""
    return UsageError(
        "LAKE_FOREIGN",
        f"the folder {location.describe()} holds other things: {name}",
        "give --lake a new or empty folder",
    )


def check_place(location: Location, *, makes: bool) -> None:
    """See what a local lake's path alone shows: `makes` says whether the command makes a lake that is not there.

    A folder that is there may still lack tables: who opens it sees that.
    Raises: UsageError LAKE_NOT_FOUND, LAKE_NO_FOLDER, LAKE_FOREIGN; FaultError NOT_WRITABLE.
    """
    if not location.is_local():
        return
    root = location.local_path()
    if not os.path.exists(root):
        if not makes:
            raise lake_not_found(location)
        _check_parent(root)
    elif not os.path.isdir(root):
        raise no_folder(location)
    elif not any(os.path.isdir(root / table) for table in tables()):
        foreign = sorted(name for name in os.listdir(root) if not name.startswith((".", "_")))
        if foreign:
            raise lake_foreign(location, foreign[0])
        if not makes:
            raise lake_not_found(location)


def _check_parent(root: Path) -> None:
    """See that the folder `root` can be made: below a folder that is there and may be written."""
    parent = next(each for each in root.parents if os.path.lexists(each))
    if not os.path.isdir(parent):
        raise UsageError(
            "LAKE_NO_FOLDER",
            f"the lake {root} cannot be made: {parent} is no folder",
            "give --lake a path below a folder",
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FaultError(
            "NOT_WRITABLE",
            f"the lake {root} cannot be made: {parent} may not be written",
            "give write access, or name another place with --lake",
        )


def table_missing(location: Location, table: str) -> UsageError:
    """Return the error of a lake that lacks a table."""
    return UsageError(
        "TABLE_MISSING",
        f"the table {table} is missing in {location.describe()}",
        f"`strandline init {option_of(location)}` makes it and keeps what is there",
    )


def check_contract(location: Location, table: str, stored: str | None) -> None:
    """See that the version `stored` with a table is none that a newer Strandline made.

    Raises: UsageError CONTRACT_NEWER for a greater major version than ours.
    """
    ours = contract(table).version
    if _major(stored or "0") > _major(ours):
        raise UsageError(
            "CONTRACT_NEWER",
            f"the table {table} of {location.describe()} follows contract {stored}, this Strandline knows {ours}",
            "use the newer Strandline that made it",
        )


def option_of(location: Location) -> str:
    """Return the option that names the location on a command line."""
    return f"{'--lake' if location.is_path() else '--schema'} {location.describe()}"


def _major(version: str) -> int:
    head = version.partition(".")[0]
    return int(head) if head.isascii() and head.isdecimal() else 0
