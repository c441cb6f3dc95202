"""Why a lake is not worked on: errors that every way of opening one shares. Spark is not needed."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from strandline.contracts.ddl import BUCKETS_PROPERTY, CONTRACT_PROPERTY
from strandline.contracts.load import contract, tables
from strandline.contracts.quoting import MAX_BUCKETS
from strandline.core.errors import FaultError, UsageError
from strandline.tables.location import Location

_VERSION: Final = re.compile(r"(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}")
_BUCKETS: Final = re.compile(r"[1-9][0-9]{0,8}")


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


def check_properties(location: Location, properties: Mapping[str, Mapping[str, str]]) -> None:
    """See that what the tables of a lake say of themselves is what this version wrote, or an older one.

    These hold:
    - `strandline.contract` of each table is a version, three numbers, of a major version that this one knows;
    - `strandline.buckets` of each table with buckets is a whole number from 1 to 65,536, the same for all.

    Raises: UsageError CONTRACT_NEWER, PROPERTY_INVALID.
    """
    counts: dict[int, str] = {}
    for table, stated in properties.items():
        _check_contract(location, table, stated.get(CONTRACT_PROPERTY, ""))
        if contract(table).is_bucketed:
            counts.setdefault(buckets_of(location, table, stated), table)
    if len(counts) > 1:
        (first, one), (second, other), *_ = counts.items()
        raise UsageError(
            "PROPERTY_INVALID",
            f"in {location.describe()} the table {one} has {first} buckets and {other} has {second}",
            "restore the lake's folder from a copy: all tables of a lake have the same number of buckets",
        )


def buckets_of(location: Location, table: str, properties: Mapping[str, str]) -> int:
    """Return the number of buckets that a table states. Raises: UsageError PROPERTY_INVALID."""
    stated = properties.get(BUCKETS_PROPERTY, "")
    if _BUCKETS.fullmatch(stated) is None or int(stated) > MAX_BUCKETS:
        raise _property_invalid(
            location, table, BUCKETS_PROPERTY, stated, f"a number from 1 to {MAX_BUCKETS:,}"
        )
    return int(stated)


def _check_contract(location: Location, table: str, stated: str) -> None:
    if _VERSION.fullmatch(stated) is None:
        raise _property_invalid(location, table, CONTRACT_PROPERTY, stated, "a version, as 1.0.0")
    ours = contract(table).version
    if int(stated.partition(".")[0]) > int(ours.partition(".")[0]):
        raise UsageError(
            "CONTRACT_NEWER",
            f"the table {table} of {location.describe()} follows contract {stated}, this Strandline knows {ours}",
            "use the newer Strandline that made it",
        )


def _property_invalid(location: Location, table: str, name: str, stated: str, wanted: str) -> UsageError:
    return UsageError(
        "PROPERTY_INVALID",
        f"the property {name} of the table {table} of {location.describe()} is {stated!r}, not {wanted}",
        "restore this table's folder from a copy of the lake, or name another lake",
    )


def option_of(location: Location) -> str:
    """Return the option that names the location on a command line."""
    return f"{'--lake' if location.is_path() else '--schema'} {location.describe()}"
