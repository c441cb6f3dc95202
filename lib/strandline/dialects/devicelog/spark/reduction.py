"""Reduction of groups of device logs: every touched one from the headers of all of its entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.devicelog.kernels.headers import HEADER_COLUMNS, NO_STATEMENT
from strandline.dialects.devicelog.kernels.reduction import reduced
from strandline.dialects.devicelog.kernels.schemas import REDUCED_SCHEMA
from strandline.dialects.devicelog.reduce import reducer_version
from strandline.dialects.devicelog.types import DIALECT, ForkPolicy
from strandline.frames.lift import map_batches
from strandline.frames.states import as_namespace_state

ENTRIES: Final = "device_log_entry"
POLICY: Final = "fork-policy"
TABLES: Final = {
    "view": "device_log_view", "screw": "device_log_screw", "tip": "device_log_tip", "member": "device_log_member",
}  # fmt: skip
"""The reduced tables, by the part of a reduced row that is a row of theirs."""


def reduce(changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the groups in `changes` (rows of the change feed), or all if it is None, with equal rows.

    After a killed run all groups are reduced, since rows may be newer than their state.
    """
    policy = cast("ForkPolicy", scope.lake_options[POLICY])
    entries = tables.read_version(ENTRIES, scope.version)
    if changes is not None and not tables.has_partial_run(tuple(TABLES.values())):
        touched = jobs.checkpoint(changes.select("namespace", "bucket").distinct(), "groups")
        buckets = jobs.row(touched.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
        entries = entries.where(F.col("bucket").isin(*buckets)).join(
            touched, ["namespace", "bucket"], "left_semi"
        )
    grouped = headers(entries).repartition("namespace").sortWithinPartitions("namespace")
    found = jobs.persist(map_batches(grouped, reduced, REDUCED_SCHEMA, policy=policy), "views")
    rows = {table: _part(found, part) for part, table in TABLES.items()}
    states = _part(found, "state").withColumn("reducer_version", F.lit(reducer_version(policy)))
    shaped = as_namespace_state(states, dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id)
    return Reduction(rows, shaped, {TABLES["tip"]: _old_tips(rows, states, tables)})


def headers(entries: DataFrame) -> DataFrame:
    """Keep what reducers read: no bodies of messages.

    Reads:  columns of `device_log_entry`.  Gives: HEADER_COLUMNS.  Rows: one per row.
    """
    states = ~F.col("kind").isin(*NO_STATEMENT)
    return entries.withColumn("body", F.when(states, F.col("body"))).select(*HEADER_COLUMNS)


def _part(found: DataFrame, part: str) -> DataFrame:
    """Give the rows of one part with its columns."""
    return found.where(F.col("part") == part).select("namespace", "bucket", f"{part}.*")


def _old_tips(rows: Mapping[str, DataFrame], states: DataFrame, tables: Tables) -> DataFrame:
    """Return the keys of stored tips of these groups that are none any more.

    Reads:  namespace, log, record_id.  Gives: bucket and the key of `device_log_tip`.
    """
    table = TABLES["tip"]
    stored = tables.read(table).select("bucket", "namespace", "log", "record_id")
    theirs = stored.join(states.select("namespace"), "namespace", "left_semi").alias("t")
    tips = rows[table].select("namespace", "log", "record_id").alias("s")
    is_same = (
        (F.col("t.namespace") == F.col("s.namespace"))
        & (F.col("t.log") == F.col("s.log"))
        & F.col("t.record_id").eqNullSafe(F.col("s.record_id"))
    )
    return theirs.join(tips, is_same, "left_anti")
