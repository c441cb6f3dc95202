"""A lake in a schema of a catalog: which of its names are there, and what a catalog refuses.

A catalog says only names. Where a managed table lies is the catalog's own business: no path of one is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from strandline.contracts.ddl import CONTRACT_PROPERTY
from strandline.contracts.load import tables
from strandline.contracts.quoting import quote_name
from strandline.contracts.views import view_names
from strandline.tables.location import Location
from strandline.tables.metadata import collected, detail_sql
from strandline.tables.refusals import (
    LEFT_TO_CATALOG,
    catalog_refused,
    catalog_unknown,
    catalog_unreadable,
    lake_not_found,
    table_missing,
)
from strandline.tables.spark_errors import condition_of, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from strandline.tables.reads import TableReads

_NO_SCHEMA: Final = frozenset({"SCHEMA_NOT_FOUND"})
_NO_CATALOG: Final = frozenset(
    {
        "CATALOG_NOT_FOUND", "NO_SUCH_CATALOG_EXCEPTION", "REQUIRES_SINGLE_PART_NAMESPACE",
        "_LEGACY_ERROR_TEMP_1126",
    }
)  # fmt: skip
"""Spark takes an unknown catalog for a schema of the session catalog, which has no schemas in schemas.

`NO_SUCH_CATALOG_EXCEPTION` is said by Databricks.
"""

_NO_VIEWS: Final = "MISSING_CATALOG_ABILITY"
_CLASS: Final = re.compile(r"\b[A-Z]\w*(?:Exception|Error)\b")
_REQUIRED: Final = re.compile(r"catalog requires (?:table property|Delta protocol feature) '([\w.]+)'")
"""What Delta says, without a condition, of a catalog that wants its managed tables otherwise than their contracts."""


@dataclass(frozen=True, slots=True)
class SchemaNames:
    """The names in a schema, in lower case. `tables` has those of views, too, if the catalog lists both as one."""

    tables: frozenset[str]
    views: frozenset[str]


def schema_sql(location: Location) -> str:
    """Return the name of the lake's schema as SQL. Raises: ValueError for a lake at a path."""
    if location.catalog is None or location.schema_name is None:
        raise ValueError(f"{location.describe()} is no schema")
    return quote_name(location.catalog, location.schema_name)


def names_in(spark: SparkSession, location: Location) -> SchemaNames | None:
    """Return the names in the lake's schema, or None if the schema does not exist.

    Raises: UsageError CATALOG_UNKNOWN; FaultError CATALOG_UNREADABLE.
    """
    schema = schema_sql(location)
    try:
        listed = _names(spark, f"SHOW TABLES IN {schema}", "tableName")
        views = _views(spark, schema)
    except spark_errors() as error:
        condition = condition_of(error)
        if condition in _NO_SCHEMA:
            return None
        if condition in _NO_CATALOG:
            raise catalog_unknown(location) from error
        raise catalog_unreadable(location, _cause(error)) from error
    return SchemaNames(listed - views, views)


def _names(spark: SparkSession, statement: str, column: str) -> frozenset[str]:
    rows = collected(spark, statement)
    return frozenset(str(row[column]).lower() for row in rows if not row["isTemporary"])


def _views(spark: SparkSession, schema: str) -> frozenset[str]:
    try:
        return _names(spark, f"SHOW VIEWS IN {schema}", "viewName")
    except spark_errors() as error:
        if condition_of(error) != _NO_VIEWS:
            raise
        return frozenset()


def check_schema(tables_of: TableReads) -> None:
    """Check by their names that a schema has the tables of a lake.

    Raises: UsageError LAKE_NOT_FOUND, TABLE_MISSING, CATALOG_UNKNOWN; FaultError CATALOG_UNREADABLE.
    """
    location = tables_of.location
    names = names_in(tables_of.spark, location)
    missing = tables() if names is None else tuple(table for table in tables() if table not in names.tables)
    if len(missing) == len(tables()):
        raise lake_not_found(location)
    for table in missing:
        raise table_missing(location, table)


def delta_properties(tables_of: TableReads, table: str) -> Mapping[str, str] | None:
    """Return the properties of an existing table, or None if it is not of Delta."""
    [row] = collected(tables_of.spark, detail_sql(tables_of.target(table)))
    return dict(row["properties"]) if row["format"] == "delta" else None


def foreign_names(names: SchemaNames, properties: Mapping[str, Mapping[str, str] | None]) -> tuple[str, ...]:
    """Return the names of a lake that others have taken in its schema, ascending.

    These are: a view with the name of a table, a table with the name of a view, a table that states no contract
    (`properties` has those of each table, None if it is not of Delta); and, without a table of the lake, a view: it
    would be replaced.
    """
    ours = {
        table for table, stated in properties.items() if stated is not None and CONTRACT_PROPERTY in stated
    }
    taken = (names.views & set(tables())) | (names.tables & set(view_names())) | (properties.keys() - ours)
    return tuple(sorted(taken if ours else taken | (names.views & set(view_names()))))


@contextmanager
def refusals(location: Location, what: str) -> Iterator[None]:
    """Turn Spark's error about `what`, which the block creates in a schema, into a fault that names it.

    Errors without a condition are of the machine, such as a full disk: they stay as they are, but for what a catalog
    requires of its tables. Raises: FaultError CATALOG_REFUSED.
    """
    try:
        yield
    except spark_errors() as error:
        required = _REQUIRED.search(str(error))
        if location.is_path() or (required is None and condition_of(error) is None):
            raise
        cause = _cause(error) if required is None else f"it requires another value of {required[1]}"
        raise catalog_refused(location, what, cause) from error


@contextmanager
def noting_left(table: str, left: set[str]) -> Iterator[None]:
    """Add the table to `left` if its catalog lets nobody else do to it what the block does; then nothing was done."""
    try:
        yield
    except spark_errors() as error:
        if condition_of(error) != LEFT_TO_CATALOG:
            raise
        left.add(table)


def left_to_catalog(left: Collection[str]) -> str:
    """Return the sentence about the tables of `noting_left`."""
    return f"the catalog alone compacts and vacuums {len(left)} tables: they are left to it"


def _cause(error: BaseException) -> str:
    """Return the condition of an error, or the class of its innermost cause; its text can have a password."""
    condition = condition_of(error)
    if condition is not None and not condition.startswith("_"):
        return condition
    found = _CLASS.findall(str(error).partition("\n\tat ")[0])
    return found[-1] if found else type(error).__name__
