"""Creates the schema, the tables and the views of a lake, and completes tables of which a part is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from pyspark.sql import SparkSession

from strandline.contracts.ddl import (
    BUCKETS_PROPERTY,
    add_checks_sql,
    add_columns_sql,
    create_table_sql,
    quote_name,
    set_contract_sql,
)
from strandline.contracts.load import contract, tables
from strandline.contracts.views import create_view_sql, view_names
from strandline.tables.catalogs import names_in, refusals, schema_sql
from strandline.tables.commits import CONFLICTS, current_schema, session_settings
from strandline.tables.leftovers import is_created, not_created
from strandline.tables.spark_errors import condition_of, spark_errors
from strandline.tables.store import TableStore
from strandline.tables.views import lake_views

TABLES_AT_ONCE: Final = 4
TRIES: Final = 4
"""How often a table is created while other processes create it, too, or remove what a killed one left of it."""
DEFAULT_PROPERTIES: Final = "spark.databricks.delta.properties.defaults."
"""What the settings begin with by which Delta gives properties to new tables."""
FOLDER_TAKEN: Final = "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
CONSTRAINT_THERE: Final = "DELTA_CONSTRAINT_ALREADY_EXISTS"


@dataclass(frozen=True, slots=True)
class LakeDesign:
    """The design of a lake: number of buckets, and properties of tables (lake options of dialects)."""

    buckets: int
    properties: Mapping[str, Mapping[str, str]]


def make(store: TableStore, design: LakeDesign, missing: Iterable[str]) -> tuple[str, ...]:
    """Create the missing tables. The table that runs write last is created after all others. Return their names.

    A table that another process creates at the same time is left as it is.
    Raises: FaultError CATALOG_REFUSED, WRITE_CONFLICT, TABLE_DAMAGED.
    """
    made = tuple(table for table in tables() if table in set(missing))
    if not store.location.is_path():
        _make_schema(store)

    def create(table: str) -> None:
        with refusals(store.location, f"the table {table}"):
            for _ in range(TRIES):
                store.repeated(lambda: _create_table(store, design, table), table=table, buckets=())
                if is_created(store.location, table):
                    return
        raise not_created(store.location, table)

    # A table takes most of a second, in which the driver waits: several at once. The last one marks a complete lake.
    with _no_defaults(store.spark):
        with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
            list(pool.map(create, made[:-1]))
        for table in made[-1:]:
            create(table)
    return made


def _no_defaults(spark: SparkSession) -> AbstractContextManager[None]:
    """Let new tables have the properties of their contracts alone, none that the session gives to every new table.

    Of a table with column mapping delta-rs reads no column, and an append-only one cannot be reduced again.
    """
    given = (name for name in spark.conf.getAll if name.startswith(DEFAULT_PROPERTIES))
    return session_settings(spark, dict.fromkeys(given))


def make_views(store: TableStore) -> tuple[str, ...]:
    """Create the views of a lake in a schema; the views of a folder are in the session. Return their names.

    Raises: FaultError CATALOG_REFUSED.
    """
    if store.location.catalog is None or store.location.schema_name is None:
        return ()
    parts = (store.location.catalog, store.location.schema_name)
    with current_schema(store.spark, *parts):
        for name, view in lake_views().items():
            with refusals(store.location, f"the view {name}"):
                store.spark.sql(create_view_sql(view, target=quote_name(*parts, name)))
    return view_names()


def add_columns(store: TableStore, table: str) -> None:
    """Add the columns that a table of an older contract lacks, null in stored rows. It can be repeated after a kill."""
    described, target = contract(table), store.target(table)
    added = add_columns_sql(described, target=target, present=store.read(table).columns)
    if added is not None:
        store.spark.sql(added)
    store.spark.sql(set_contract_sql(described, target=target))


def add_checks(store: TableStore, table: str, properties: Mapping[str, str]) -> bool:
    """Add the CHECK constraints that a table with these properties lacks; return whether it lacked one.

    The constraints of a table without buckets do not name their number.
    """
    buckets = int(properties.get(BUCKETS_PROPERTY, "1"))
    statements = add_checks_sql(
        contract(table), target=store.target(table), buckets=buckets, properties=properties
    )
    for statement in statements:
        try:
            store.spark.sql(statement)
        except spark_errors() as refused:
            # Another process added it meanwhile.
            if condition_of(refused) != CONSTRAINT_THERE:
                raise
    return bool(statements)


def _make_schema(store: TableStore) -> None:
    """Create the schema if it does not exist: who may not create schemas may still have tables in one."""
    if names_in(store.spark, store.location) is None:
        with refusals(store.location, "the schema"):
            store.spark.sql(_create_schema(schema_sql(store.location)))


def _create_table(store: TableStore, design: LakeDesign, table: str) -> None:
    """Create a table. A catalog that takes no constraints from CREATE TABLE gets them after it.

    Each catalog refuses them with an error of its own: after any error the table is tried without them. A kill between
    the two leaves a table without constraints, which `init` adds.
    """
    described, target = contract(table), store.target(table)
    properties = design.properties.get(table, {})
    try:
        store.spark.sql(
            create_table_sql(described, target=target, buckets=design.buckets, properties=properties)
        )
    except spark_errors() as refused:
        if store.location.is_local() and condition_of(refused) == FOLDER_TAKEN:
            # Another process is creating the table, or was killed: `is_created` looks.
            return
        if store.location.is_path() or condition_of(refused) in CONFLICTS:
            raise
        store.spark.sql(
            create_table_sql(
                described, target=target, buckets=design.buckets, properties=properties, with_checks=False
            )
        )
        # Another process may have made it with some of them.
        add_checks(store, table, store.properties(table))


def _create_schema(schema: str) -> str:
    return f"CREATE SCHEMA IF NOT EXISTS {schema}"
