"""The histories of authorities that a plan of contexts relies on: their states, and which of them are final."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class StoredBases:
    """What the tables say of bases: the states that earlier collections relied on, and authorities with one in force.

    `relied`: namespace, relied, or None if nothing was pruned; `settled`: namespace, is_settled. One row per authority.
    """

    relied: DataFrame | None
    settled: DataFrame


def stored_bases(tables: Tables, contexts: RetainedFacts) -> StoredBases:
    """Return what earlier collections and Snapshot facts in force say of authorities."""
    snapshots = tables.read(SNAPSHOTS).where(F.col("dialect") == DIALECT)
    in_force = snapshots.where("origin = 'fact' AND status = 'in_force'").select("namespace").distinct()
    settled = in_force.withColumn("is_settled", F.lit(True))
    if contexts.pruned is None:
        return StoredBases(None, settled)
    applied = contexts.pruned.rows.select("namespace", "snapshot_id").distinct()
    each = snapshots.join(applied, ["namespace", "snapshot_id"], "left_semi").select(
        F.explode("inputs").alias("input")
    )
    relied = each.select("input.*").groupBy("namespace").agg(F.collect_set("commitment").alias("relied"))
    return StoredBases(relied, settled)


def histories_of(facts: DataFrame, bases: StoredBases) -> DataFrame:
    """Return the histories of authorities.

    Reads:  facts: rows of `aura_fact` with `is_history`.
    Gives:  kernels.HISTORY_SCHEMA.  Rows: one per authority.
    """
    if bases.relied is None:
        facts = facts.withColumn("relied", F.lit(None).cast("array<binary>"))
    else:
        facts = facts.join(F.broadcast(bases.relied), "namespace", "left")
    facts = facts.join(F.broadcast(bases.settled), "namespace", "left").fillna(False, ["is_settled"])
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
