"""Compares the stored reduced rows with those of a full reduction: different rows, and rows without a record."""

from __future__ import annotations

from functools import reduce as fold

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import SNAPSHOTS, STATES
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.reduction import Reduction
from strandline.pipelines.report import SomeNamespaces
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.store import TableStore
from strandline.tables.written import Written

DIFFERENCES_SHOWN = 10


def with_nulls(store: TableStore, states: DataFrame) -> DataFrame:
    """Add the nullable columns of `namespace_state` that the dialect does not use, as nulls."""
    missing = [column for column in store.schema(STATES) if column.name not in states.columns]
    return states.select(
        *states.columns, *(F.lit(None).cast(column.dataType).alias(column.name) for column in missing)
    )


def differences(store: TableStore, dialect: Dialect, rebuilt: Reduction) -> dict[str, SomeNamespaces]:
    """Return, by table, some namespaces whose stored rows differ from the full reduction."""
    found: dict[str, SomeNamespaces] = {}
    for table in _tables(dialect, rebuilt):
        if some := some_namespaces(_differing(store, dialect, table, rebuilt)):
            found[table] = some
    return found


def some_namespaces(rows: DataFrame) -> SomeNamespaces | None:
    """Return a few of the namespaces of rows, not the least ones, and their number; None without rows."""
    every = rows.select("namespace").distinct()
    few = every.limit(DIFFERENCES_SHOWN).collect()
    # The usual ones need no second query.
    total = len(few) if len(few) < DIFFERENCES_SHOWN else every.count()
    return SomeNamespaces(tuple(sorted(row["namespace"] for row in few)), total) if few else None


def _differing(store: TableStore, dialect: Dialect, table: str, rebuilt: Reduction) -> DataFrame:
    """Return the rows that are only stored, only reduced, or not equal in a column other than provenance.

    Rows of refused namespaces are not compared: they stay.
    """
    described = contract(table)
    stored = _stored(store, dialect, table)
    rows = with_nulls(store, rebuilt.states) if table == STATES else rebuilt.tables.get(table)
    given = stored.limit(0) if rows is None else rows
    if rebuilt.refused is not None:
        stored, given = rebuilt.refused.others(stored), rebuilt.refused.others(given)
    stored, given = stored.select(*described.compared), given.select(*described.compared)
    unequal: list[Column] = [
        ~F.expr(described.comparable(name, "s")).eqNullSafe(F.expr(described.comparable(name, "g")))
        for name in described.compared
    ]
    keys = [F.expr(described.equal(name, "s", "g")) for name in ("bucket", *described.key)]
    joined = stored.alias("s").join(given.alias("g"), fold(Column.__and__, keys), "full_outer")
    differing = joined.where(fold(Column.__or__, unequal))
    return differing.select(
        F.coalesce("s.namespace", "g.namespace").alias("namespace"),
        F.col("g.namespace").isNull().alias("is_stray"),
        *(F.col(f"s.{name}").alias(name) for name in ("bucket", *described.key) if name != "namespace"),
    )


def _tables(dialect: Dialect, rebuilt: Reduction) -> tuple[str, ...]:
    """Return the tables of a reduction: those of the dialect, those that others write, too, and the states last."""
    shared = (table for table in rebuilt.tables if table not in dialect.info.reduced_tables)
    return (*dialect.info.reduced_tables, *shared, STATES)


def _stored(store: TableStore, dialect: Dialect, table: str) -> DataFrame:
    """Return the stored rows that reductions of the dialect write."""
    rows = store.read(table)
    if table == SNAPSHOTS:
        rows = rows.where("origin = 'fact'")
    return rows.where(F.col("dialect") == dialect.info.name) if "dialect" in rows.columns else rows


def delete_strays(
    store: TableStore, dialect: Dialect, rebuilt: Reduction, jobs: SparkJobs
) -> dict[str, Written]:
    """Delete stored rows that the full reduction does not have. Return the commits."""
    written: dict[str, Written] = {}
    for table in _tables(dialect, rebuilt):
        found = _differing(store, dialect, table, rebuilt)
        strays = jobs.checkpoint(found.where("is_stray"), "stray rows")
        buckets = jobs.row(strays.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
        if buckets:
            written[table] = store.delete(
                table, strays.select("bucket", *contract(table).key), tuple(buckets)
            )
    return written
