"""Tables and views under their bare names, so that one query text works over a folder and a schema alike."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from pyspark.sql import SparkSession

from strandline.contracts.load import tables
from strandline.contracts.quoting import quote_name, quote_text
from strandline.contracts.views import Query, create_view_sql, view_names, views
from strandline.dialects import health_queries
from strandline.tables.commits import current_schema
from strandline.tables.store import TableStore

SCHEMA: Final = "strandline"
"""Schema of the session's own catalog in which a lake that is a folder or URI shows its tables and views."""

CATALOG: Final = "spark_catalog"
"""Name of the session's own catalog."""

_SHOWN: Final = "spark.strandline.lake"
"""Setting of the session that says which lake the schema shows."""


def names() -> tuple[str, ...]:
    """Return the bare names of all tables and views."""
    return (*tables(), *view_names())


def lake_views() -> Mapping[str, Query]:
    """Return the views of a lake by name, with what its dialects say of health."""
    return views(behind=(part.select for health in health_queries() for part in health.behind))


@contextmanager
def bare_names(store: TableStore) -> Iterator[None]:
    """Make bare names mean the tables and views of the lake, while the block runs.

    - A lake that is a schema: that schema is the current one.
    - A lake at a path: tables (external) and views stand in the schema `strandline` of the session's own catalog, which
      is the current one. They stay there until another lake takes their place; nothing of them is on disk.
    - The same in a session with a metastore: they are temporary views and go when the block ends, so that nothing
      enters the metastore.

    Temporary views of these names that were there before are dropped: they would hide the lake's own.
    """
    spark, location = store.spark, store.location
    for name in names():
        spark.catalog.dropTempView(name)
    if location.catalog is not None and location.schema_name is not None:
        with current_schema(store.spark, location.catalog, location.schema_name):
            yield
    elif has_metastore(spark):
        with _as_temporary_views(store):
            yield
    else:
        _show(store)
        with current_schema(store.spark, CATALOG, SCHEMA):
            yield


def has_metastore(spark: SparkSession) -> bool:
    """Return whether what enters the session's own catalog outlives the session."""
    return spark.conf.get("spark.sql.catalogImplementation", "in-memory") != "in-memory"


def external_table_sql(name: str, path: str) -> str:
    """Return the statement after which the table `name` of the current schema is the Delta table at `path`."""
    return f"CREATE TABLE {quote_name(name)} USING DELTA LOCATION {quote_text(path)}"


def create_schema_sql(name: str, folder: str) -> str:
    """Return the statement that makes a schema whose own folder, where nothing is ever put, is `folder`."""
    return f"CREATE SCHEMA IF NOT EXISTS {quote_name(CATALOG, name)} LOCATION {quote_text(folder)}"


def _show(store: TableStore) -> None:
    """Put the lake's tables and views into the schema `strandline`, unless they are there."""
    spark, path = store.spark, store.location.describe()
    if not spark.catalog.databaseExists(quote_name(CATALOG, SCHEMA)):
        # Spark makes the folder of a schema. It stays empty. It must not be the lake: dropping the schema deletes it.
        with tempfile.TemporaryDirectory(prefix="strandline-") as folder:
            spark.sql(create_schema_sql(SCHEMA, folder))
    elif spark.conf.get(_SHOWN, "") == path:
        return
    spark.conf.set(_SHOWN, "")
    with current_schema(store.spark, CATALOG, SCHEMA):
        for name in view_names():
            spark.sql(_drop_view(name))
        for table in tables():
            spark.sql(_drop_table(table))
            spark.sql(external_table_sql(table, store.location.table_path(table)))
        for name, view in lake_views().items():
            spark.sql(create_view_sql(view, target=quote_name(name)))
    spark.conf.set(_SHOWN, path)


@contextmanager
def _as_temporary_views(store: TableStore) -> Iterator[None]:
    spark = store.spark
    try:
        for table in tables():
            store.read(table).createOrReplaceTempView(table)
        for name, view in lake_views().items():
            spark.sql(create_view_sql(view, target=quote_name(name), temporary=True))
        yield
    finally:
        for name in names():
            spark.catalog.dropTempView(name)


def _drop_view(name: str) -> str:
    return f"DROP VIEW IF EXISTS {quote_name(name)}"


def _drop_table(name: str) -> str:
    return f"DROP TABLE IF EXISTS {quote_name(name)}"
