"""Why a lake is not worked on: errors that every way of opening one shares. Spark is not needed."""

from strandline.contracts.load import contract
from strandline.core.errors import UsageError
from strandline.tables.location import Location


def lake_not_found(location: Location) -> UsageError:
    """Return the error of a location that holds nothing."""
    name = location.describe()
    return UsageError(
        "LAKE_NOT_FOUND", f"there is no lake at {name}", f"`strandline init {option_of(location)}` makes one"
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
            "use the newer Strandline that made it: `pip install --upgrade strandline`",
        )


def option_of(location: Location) -> str:
    """Return the option that names the location on a command line."""
    return f"{'--lake' if location.is_path() else '--schema'} {location.describe()}"


def _major(version: str) -> int:
    head = version.partition(".")[0]
    return int(head) if head.isascii() and head.isdecimal() else 0
