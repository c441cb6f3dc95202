"""Checks that the tables of a lake have the columns of their contracts: an operator can rename or drop one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from strandline.contracts.load import contract, tables
from strandline.contracts.model import Column
from strandline.core.errors import UsageError
from strandline.tables.location import Location
from strandline.tables.refusals import older_tables

if TYPE_CHECKING:
    from strandline.tables.reads import TableReads

GIVE_BACK: Final = (
    "if the column was renamed, rename it back with `ALTER TABLE .. RENAME COLUMN`; if it was dropped, restore the "
    "version before with `RESTORE TABLE .. TO VERSION AS OF`: both keep its values"
)
"""The next step for a table without a column."""


def check_columns(
    location: Location, columns: Mapping[str, Collection[str]], properties: Mapping[str, Mapping[str, str]]
) -> None:
    """Check that tables have the columns of their contracts; call `refusals.check_properties` first.

    `columns` are the names of the columns of each table. A table of an older contract may lack what can be null, until
    `init` adds it. Raises: UsageError TABLE_DIFFERS.
    """
    older = older_tables(properties)
    for table, found in columns.items():
        for column in contract(table).columns:
            if column.name not in found and (column.required or table not in older):
                raise column_missing(location, table, column)


def lost_column(reads: TableReads) -> UsageError | None:
    """Return the error of the first table of a lake that lacks a column, or None. Spark looks at all that are there."""
    from strandline.tables.spark_errors import spark_errors

    columns: dict[str, list[str]] = {}
    properties: dict[str, Mapping[str, str]] = {}
    for table in tables():
        with suppress(*spark_errors()):
            columns[table], properties[table] = reads.read(table).columns, reads.properties(table)
    try:
        check_columns(reads.location, columns, properties)
    except UsageError as lost:
        return lost
    return None


def column_missing(location: Location, table: str, column: Column) -> UsageError:
    """Return the error of a table of the lake without a column of its contract."""
    return UsageError(
        "TABLE_DIFFERS",
        f"the table {table} of {location.describe()} has no column {column.name}, but its contract requires "
        f"{column.physical_type}",
        GIVE_BACK,
    )
