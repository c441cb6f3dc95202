"""Checks that the tables of a lake have the columns of their contracts: an operator can rename, drop or widen one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from strandline.contracts.load import contract, tables
from strandline.contracts.model import Column
from strandline.core.errors import UsageError
from strandline.tables.location import Location
from strandline.tables.refusals import older_tables

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from strandline.tables.reads import TableReads

GIVE_BACK: Final = (
    "if the column was renamed, rename it back with `ALTER TABLE .. RENAME COLUMN`; if it was dropped, restore the "
    "version before with `RESTORE TABLE .. TO VERSION AS OF`: both keep its values"
)
"""The next step for a table without a column."""
TAKE_BACK: Final = (
    "restore the version before with `RESTORE TABLE .. TO VERSION AS OF`, and ingest again what came after it: no "
    "command writes columns of other types"
)
"""The next step for a column of another type."""
_OF_SPARK: Final = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
"""Types that have another name in Delta's schema than in SQL."""


def column_types(opened: DeltaTable) -> dict[str, str]:
    """Return the type of each column, as Spark's SQL has it in short: `map<string,struct<version:bigint>>`."""
    fields = json.loads(opened.schema().to_json())["fields"]
    return {field["name"]: _type(field["type"]) for field in fields}


def check_columns(
    location: Location, columns: Mapping[str, Mapping[str, str]], properties: Mapping[str, Mapping[str, str]]
) -> None:
    """Check that tables have the columns of their contracts, with their types; call `refusals.check_properties` first.

    `columns` are those of each table, as `column_types` has them. A table of an older contract may lack what can be
    null, until `init` adds it. Further columns are ignored. Raises: UsageError TABLE_DIFFERS.
    """
    older = older_tables(properties)
    for table, found in columns.items():
        for column in contract(table).columns:
            if column.name not in found and (column.required or table not in older):
                raise column_missing(location, table, column)
        check_types(location, table, found)


def check_types(location: Location, table: str, found: Mapping[str, str]) -> None:
    """Check that the columns that a table has are of the types of its contract; `found` is as `column_types` has it.

    Raises: UsageError TABLE_DIFFERS.
    """
    for column in contract(table).columns:
        there = found.get(column.name)
        if there is not None and there.lower() != _in_short(column):
            raise _type_differs(location, table, column, there)


def lost_column(reads: TableReads) -> UsageError | None:
    """Return the error of the first table of a lake whose columns differ, or None. Spark looks at all of them."""
    from strandline.tables.spark_errors import spark_errors

    columns: dict[str, dict[str, str]] = {}
    properties: dict[str, Mapping[str, str]] = {}
    try:
        for table in tables():
            with suppress(*spark_errors()):
                columns[table], properties[table] = dict(reads.read(table).dtypes), reads.properties(table)
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


def _type_differs(location: Location, table: str, column: Column, found: str) -> UsageError:
    return UsageError(
        "TABLE_DIFFERS",
        f"the column {column.name} of the table {table} of {location.describe()} has the type {found}, but its "
        f"contract requires {column.physical_type}",
        TAKE_BACK,
    )


def _in_short(column: Column) -> str:
    return column.physical_type.replace(" ", "").lower()


def _type(described: Any) -> str:
    """Return a type of Delta's schema as SQL."""
    if isinstance(described, str):
        return _OF_SPARK.get(described, described)
    match described["type"]:
        case "array":
            return f"array<{_type(described['elementType'])}>"
        case "map":
            return f"map<{_type(described['keyType'])},{_type(described['valueType'])}>"
        case _:
            fields = (f"{field['name']}:{_type(field['type'])}" for field in described["fields"])
            return f"struct<{','.join(fields)}>"
