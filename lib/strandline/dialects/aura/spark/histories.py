"""The histories of authorities that a plan of contexts relies on: their states, and which of them are final."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Tables
from strandline.dialect_api.pruning import PruneScope
from strandline.dialects.aura import kernels
from strandline.dialects.aura.spark.contexts.retained import RetainedFacts
from strandline.dialects.aura.spark.namespaces import authority_id, is_of
from strandline.dialects.aura.spark.tables import SNAPSHOTS
from strandline.dialects.aura.types import DIALECT
from strandline.frames.lift import map_batches


def is_history() -> Column:
    """Return whether a fact decides the history of an authority: an operation, or a snapshot."""
    return is_of("authority") & F.col("kind").isin("AttestedOp", "Snapshot")


def needed_facts(every: DataFrame, members: DataFrame, scope: PruneScope) -> DataFrame:
    """Return the operations and snapshots of the asked authorities, and of the members of contexts."""
    facts = every.where(is_history())
    if scope.namespaces is None:
        return facts
    each = members.select(F.explode("members").alias("authority"))
    named = each.select(F.concat(F.lit("authority:"), "authority").alias("namespace"))
    asked = facts.where(scope.is_asked()).select("namespace")
    return facts.join(named.unionByName(asked).distinct(), "namespace", "left_semi")


def relied_and_settled(tables: Tables, contexts: RetainedFacts) -> tuple[DataFrame | None, DataFrame]:
    """Return the states of authorities that earlier collections relied on, and which authorities have a known base.

    Gives:  namespace, relied (None if nothing was pruned); namespace, is_settled.  Rows: one per authority.
    """
    snapshots = tables.read(SNAPSHOTS).where(F.col("dialect") == DIALECT)
    in_force = snapshots.where("origin = 'fact' AND status = 'in_force'").select("namespace").distinct()
    settled = in_force.withColumn("is_settled", F.lit(True))
    if contexts.pruned is None:
        return None, settled
    applied = contexts.pruned.rows.select("namespace", "snapshot_id").distinct()
    each = snapshots.join(applied, ["namespace", "snapshot_id"], "left_semi").select(
        F.explode("inputs").alias("input")
    )
    relied = each.select("input.*").groupBy("namespace").agg(F.collect_set("commitment").alias("relied"))
    return relied, settled


def histories_of(facts: DataFrame, told: tuple[DataFrame | None, DataFrame]) -> DataFrame:
    """Return the histories of authorities.

    Reads:  facts: rows of `aura_fact` with `is_history`; told: the result of `relied_and_settled`.
    Gives:  kernels.HISTORY_SCHEMA.  Rows: one per authority.
    """
    relied, settled = told
    if relied is None:
        facts = facts.withColumn("relied", F.lit(None).cast("array<binary>"))
    else:
        facts = facts.join(F.broadcast(relied), "namespace", "left")
    facts = facts.join(F.broadcast(settled), "namespace", "left").fillna(False, ["is_settled"])
    rows = facts.select(*kernels.HISTORY_COLUMNS).repartition("namespace").sortWithinPartitions("namespace")
    return map_batches(rows, kernels.histories, kernels.HISTORY_SCHEMA)


def states_of(histories: DataFrame, name: str) -> DataFrame:
    """Return states of authorities.  Gives: authority (uuid), commitment.  Rows: one per state."""
    return histories.select(authority_id(), F.explode(name).alias("commitment"))


def inputs_of(members: DataFrame, histories: DataFrame) -> DataFrame:
    """Return the bases that contexts rely on.  Gives: namespace, inputs.  Rows: one per context with one."""
    bases = histories.where("base IS NOT NULL").select(
        F.col("namespace").alias("member"), F.col("base").alias("commitment")
    )
    each = members.select("namespace", F.explode("members").alias("authority"))
    found = each.withColumn("member", F.concat(F.lit("authority:"), "authority")).join(bases, "member")
    pair = F.struct(F.col("member").alias("namespace"), "commitment")
    return found.groupBy("namespace").agg(F.sort_array(F.collect_list(pair)).alias("inputs"))
