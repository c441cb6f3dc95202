"""Erasure of bodies of device logs: messages of the final prefix, which no later entry moves."""

from __future__ import annotations

from typing import cast

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import PRUNED, STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.pruning import Erasing, PrunePlan, PruneScope, ReducedTables
from strandline.dialects.devicelog.info import FORK_POLICY, INFO
from strandline.dialects.devicelog.kernels.reduction import reduced
from strandline.dialects.devicelog.kernels.schemas import REDUCED_SCHEMA
from strandline.dialects.devicelog.reduce import CARRY, reducer_version
from strandline.dialects.devicelog.spark.reduction import TABLES, headers
from strandline.dialects.devicelog.spark.tables import ENTRIES, VIEW
from strandline.dialects.devicelog.types import ForkPolicy
from strandline.frames.known import KEY, pruned_records
from strandline.frames.lift import map_batches
from strandline.frames.pruning import GENERATION, boundary


def plan(tables: Tables, jobs: Jobs, scope: PruneScope) -> PrunePlan:
    """Reduce groups from all of their headers, and give the hold of each entry with a body."""
    entries = tables.read_version(ENTRIES, scope.reduction.version).where(scope.is_asked())
    rows = _reduced(entries, jobs, scope)
    pruned = pruned_records(tables.read(PRUNED), INFO.kinds, "erase")
    whole = entries.join(pruned.select(*KEY), list(KEY), "left_anti")
    states = rows[STATES].join(entries.select("namespace", "bucket").distinct(), "namespace")
    members = _members(whole, rows[VIEW], scope.erasing or Erasing(), scope.skip_window)
    return PrunePlan(
        jobs.persist(members, "what keeps bodies"),
        states.select("namespace", "bucket", "state_hash", "reducer_version"), rows, entries,
    )  # fmt: skip


def skeletons(chosen: DataFrame) -> DataFrame:
    """Return no skeletons: the rows stay."""
    return chosen.withColumn("skeleton", F.lit(None).cast("binary"))


def carries(plan: PrunePlan) -> DataFrame:
    """Return the carry of each group."""
    return plan.states.select("namespace", F.lit(CARRY).alias("carry"))


def reduce_rest(plan: PrunePlan, chosen: DataFrame, jobs: Jobs, scope: PruneScope) -> ReducedTables:
    """Reduce the groups of a plan without the chosen bodies."""
    entries: DataFrame = plan.context
    named = chosen.select(*KEY).withColumn("is_chosen", F.lit(True))
    rest = entries.join(named, list(KEY), "left")
    return _reduced(rest.withColumn("body", F.when(F.col("is_chosen").isNull(), F.col("body"))), jobs, scope)


def _reduced(entries: DataFrame, jobs: Jobs, scope: PruneScope) -> dict[str, DataFrame]:
    """Return the rows of the reduced tables by table, and the states."""
    policy = cast("ForkPolicy", scope.reduction.lake_options[FORK_POLICY])
    grouped = headers(entries).repartition("namespace").sortWithinPartitions("namespace")
    found = jobs.persist(map_batches(grouped, reduced, REDUCED_SCHEMA, policy=policy), "views")

    def part(name: str) -> DataFrame:
        return found.where(F.col("part") == name).select("namespace", f"{name}.*")

    states = part("state").withColumn("reducer_version", F.lit(reducer_version(policy)))
    return {table: part(name) for name, table in TABLES.items()} | {STATES: states}


def _members(entries: DataFrame, view: DataFrame, erasing: Erasing, skip_window: int) -> DataFrame:
    """Give the rule (hold) that keeps the body of each entry, the first that applies.

    - `SIGNED_TEXT`: a Scuttlebutt message, whose text is what was signed;
    - `KIND_KEPT`: no message, or one that is not effective;
    - `WINDOW`: its position is not below the boundary of the final prefix, or its time is not before the given one.

    Gives:  as `PrunePlan.members`.  Rows: one per entry.
    """
    finals = view.groupBy("namespace").agg(F.count_if("final").alias("final_length"))
    placed = entries.join(view.select(*KEY, "position"), list(KEY), "left").join(finals, "namespace", "left")
    last = boundary(F.coalesce("final_length", F.lit(0)), skip_window)
    is_young = F.lit(False) if erasing.before is None else F.col("utc") >= erasing.before
    hold = (
        F.when(F.col("profile") != "native", F.lit("SIGNED_TEXT"))
        .when(_is_kept(), F.lit("KIND_KEPT"))
        .when((F.col("position") >= last) | is_young, F.lit("WINDOW"))
    )
    return placed.select(
        "namespace", "bucket", "record_id", "kind", F.lit(None).cast("binary").alias("alt_id"),
        F.col("position").cast(GENERATION).alias("generation"), hold.alias("hold"),
        F.col("body_size").cast("bigint").alias("size"),
    )  # fmt: skip


def _is_kept() -> Column:
    return (F.col("kind") != "msg") | F.col("position").isNull()
