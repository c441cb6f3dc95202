"""Reduction of authorities: every touched one from all of its operations, by their stored columns.

The contexts that depend on them are reduced after them: `spark.contexts`.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.aura import kernels
from strandline.dialects.aura.reduce import REDUCER
from strandline.dialects.aura.spark.tables import (
    AUTHORITIES,
    EQUIVOCATIONS,
    FACTS,
    LEAVES,
    OPERATIONS,
    REDUCED,
)
from strandline.dialects.aura.types import DIALECT
from strandline.frames.lift import map_batches
from strandline.frames.states import as_namespace_state

_NESTED: Final = {OPERATIONS: "operations", LEAVES: "leaves", EQUIVOCATIONS: "forks"}


def reduce(changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the authorities in `changes` (rows of the change feed), or all if it is None, with equal rows.

    After a killed run all authorities are reduced, since rows may be newer than their state.
    """
    facts = tables.read_version(FACTS, scope.version).where(F.startswith("namespace", F.lit("authority:")))
    touched = None
    if changes is not None and not tables.has_partial_run(REDUCED):
        named = changes.where(F.startswith("namespace", F.lit("authority:"))).select("namespace", "bucket")
        touched = jobs.checkpoint(named.distinct(), "authorities")
        buckets = jobs.row(touched.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
        facts = facts.where(F.col("bucket").isin(*buckets)).join(
            touched, ["namespace", "bucket"], "left_semi"
        )
    counts = facts.groupBy("namespace").agg(F.count(F.lit(1)).alias("record_count"))
    operations = facts.where(F.col("kind") == "AttestedOp").select(*kernels.OPERATION_COLUMNS)
    grouped = operations.repartition("namespace").sortWithinPartitions("namespace")
    reduced = jobs.checkpoint(map_batches(grouped, kernels.reduced, kernels.REDUCED_SCHEMA), "states")
    state_columns = [field.name for field in kernels.STATE_FIELDS]
    rows = {AUTHORITIES: reduced.select("namespace", "bucket", *state_columns)}
    rows |= {table: _exploded(reduced, column) for table, column in _NESTED.items()}
    states = reduced.select("namespace", "bucket", "state_hash").join(counts, "namespace")
    shaped = as_namespace_state(
        states.withColumn("reducer_version", F.lit(REDUCER)), dialect=DIALECT, reduced_version=scope.version,
        run_id=scope.run_id,
    )  # fmt: skip
    deletes = {table: _strays(table, rows[table], reduced, tables) for table in (OPERATIONS, LEAVES)}
    return Reduction(rows, shaped, deletes)


def _exploded(reduced: DataFrame, column: str) -> DataFrame:
    each = reduced.select("namespace", "bucket", F.explode(column).alias("row"))
    return each.select("namespace", "bucket", "row.*")


def _strays(table: str, rows: DataFrame, reduced: DataFrame, tables: Tables) -> DataFrame:
    """Return the keys of stored rows of these authorities that are no rows any more."""
    key = list(contract(table).key)
    stored = tables.read(table).select("bucket", *key)
    theirs = stored.join(reduced.select("namespace"), "namespace", "left_semi")
    return theirs.join(rows.select(*key), key, "left_anti")
