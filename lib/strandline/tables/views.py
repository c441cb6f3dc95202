"""Tables and views under their bare names, so that a query works the same over a folder and a schema."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from pyspark.sql import SparkSession

from strandline.contracts.load import tables
from strandline.contracts.quoting import quote_name, quote_text
from strandline.contracts.views import Query, create_view_sql, view_names, views
from strandline.dialects import health_queries
from strandline.tables.commits import current_schema
from strandline.tables.store import TableStore

SCHEMA: Final = "strandline"
"""Schema of the session catalog with the tables and views of a lake at a path."""

CATALOG: Final = "spark_catalog"
"""Name of the session catalog."""

_SHOW_TABLES: Final = "SHOW TABLES"
_ANY_NAME: Final = frozenset(("show", "identifier"))
"""Words of statements that can name any table without its name as a word."""


def names() -> tuple[str, ...]:
    """Return the bare names of all tables and views."""
    return (*tables(), *view_names())


def lake_views() -> Mapping[str, Query]:
    """Return the views of a lake by name, with the health queries of its dialects."""
    return views(behind=(part.select for health in health_queries() for part in health.behind))


@dataclass(frozen=True, slots=True)
class Relations:
    """Tables by their names, and the views of them."""

    tables: tuple[str, ...]
    views: Mapping[str, Query]


def relations(statement: str | None) -> Relations:
    """Return the tables and views that a statement can read: all whose names are words of it, or of such a view.

    Spark resolves a view for each of its columns when it is created: all views of a lake take it many seconds.
    None stands for a statement that can read all.
    """
    words = _words(statement) if statement is not None else _ANY_NAME
    is_any = not words.isdisjoint(_ANY_NAME)
    found = {name: view for name, view in lake_views().items() if is_any or name in words}
    words = words.union(*(_words(view.select) for view in found.values()))
    return Relations(tuple(table for table in tables() if is_any or table in words), found)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


@contextmanager
def bare_names(store: TableStore, statement: str | None = None) -> Iterator[None]:
    """Make bare names refer to the tables and views of the lake while the block runs: those of `relations`.

    - A lake in a schema: that schema becomes the current one.
    - A lake at a path: its tables (external) and views are in the schema `strandline` of the session catalog, which
      becomes the current one. They stay there until another lake replaces them; nothing of them is on disk.
    - The same in a session with a metastore: temporary views, dropped at the end of the block, so that the metastore
      does not change.

    Temporary views with these names are dropped first: they would hide the tables and views of the lake.
    """
    spark, location = store.spark, store.location
    for name in names():
        spark.catalog.dropTempView(name)
    if location.catalog is not None and location.schema_name is not None:
        with current_schema(store.spark, location.catalog, location.schema_name):
            yield
    elif has_metastore(spark):
        with _as_temporary_views(store, relations(statement)):
            yield
    else:
        _register(store, relations(statement))
        with current_schema(store.spark, CATALOG, SCHEMA):
            yield


def has_metastore(spark: SparkSession) -> bool:
    """Return whether the session catalog is persistent."""
    return spark.conf.get("spark.sql.catalogImplementation", "in-memory") != "in-memory"


def external_table_sql(name: str, path: str) -> str:
    """Return the statement that creates the external table `name` of the Delta table at `path`."""
    return f"CREATE TABLE {quote_name(name)} USING DELTA LOCATION {quote_text(path)}"


def create_schema_sql(name: str, folder: str) -> str:
    """Return the statement that creates a schema with the folder `folder`, which stays empty."""
    return f"CREATE SCHEMA IF NOT EXISTS {quote_name(CATALOG, name)} LOCATION {quote_text(folder)}"


def _register(store: TableStore, wanted: Relations) -> None:
    """Register tables and views of the lake in the schema `strandline`, unless they are there.

    The comment of the schema names the lake: all sessions of a JVM share the catalog.
    """
    spark, path = store.spark, store.location.describe()
    if not spark.catalog.databaseExists(quote_name(CATALOG, SCHEMA)):
        # Spark creates the folder of a schema. It must not be the lake's folder: DROP SCHEMA would delete that.
        with tempfile.TemporaryDirectory(prefix="strandline-") as folder:
            spark.sql(create_schema_sql(SCHEMA, folder))
    with current_schema(spark, CATALOG, SCHEMA):
        there = {row["tableName"] for row in spark.sql(_SHOW_TABLES).collect() if not row["isTemporary"]}
        if spark.catalog.getDatabase(quote_name(CATALOG, SCHEMA)).description != path:
            spark.sql(_comment_sql(""))
            for name in there:
                spark.sql(_drop_table(name) if name in tables() else _drop_view(name))
            there = set()
        for table in wanted.tables:
            if table not in there:
                spark.sql(external_table_sql(table, store.location.table_path(table)))
        for name, view in wanted.views.items():
            if name not in there:
                spark.sql(create_view_sql(view, target=quote_name(name)))
    spark.sql(_comment_sql(path))


def _comment_sql(text: str) -> str:
    return f"COMMENT ON SCHEMA {quote_name(CATALOG, SCHEMA)} IS {quote_text(text)}"


@contextmanager
def _as_temporary_views(store: TableStore, wanted: Relations) -> Iterator[None]:
    spark = store.spark
    try:
        for table in wanted.tables:
            store.read(table).createOrReplaceTempView(table)
        for name, view in wanted.views.items():
            spark.sql(create_view_sql(view, target=quote_name(name), temporary=True))
        yield
    finally:
        for name in (*wanted.tables, *wanted.views):
            spark.catalog.dropTempView(name)


def _drop_view(name: str) -> str:
    return f"DROP VIEW IF EXISTS {quote_name(name)}"


def _drop_table(name: str) -> str:
    return f"DROP TABLE IF EXISTS {quote_name(name)}"
