"""The histories of authorities that a plan of contexts relies on: their states, and which of them are final."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import SNAPSHOTS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.pruning import PruneScope
from strandline.dialect_api.removed import removed_records
from strandline.dialects.aura import kernels
from strandline.dialects.aura.spark.namespaces import KINDS, authority_namespace, authority_uuid, is_of
from strandline.dialects.aura.spark.retained_operations import PrunedOperations, with_remains
from strandline.dialects.aura.spark.snapshots import known_statuses, named_facts, with_relied
from strandline.dialects.aura.types import DIALECT
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches


def asked_facts(every: DataFrame, members: DataFrame, scope: PruneScope) -> DataFrame:
    """Return the facts of the selected authorities, and of the members of contexts."""
    facts = every.where(is_of("authority"))
    if scope.namespaces is None:
        return facts
    each = members.select(F.explode("members").alias("authority"))
    named = each.select(authority_namespace().alias("namespace"))
    asked = facts.where(scope.is_asked()).select("namespace")
    return facts.join(named.unionByName(asked).distinct(), "namespace", "left_semi")


@dataclass(frozen=True, slots=True)
class StoredBases:
    """The stored bases of authorities, and the remains of pruned operations.

    `relied`: namespace, relied: the states that earlier collections relied on, or None if nothing was pruned;
    `known_bases`: namespace, known_base: the snapshot in force of an authority. One row per authority. `pruned` is None
    if no authority has pruned operations; else `statuses`: namespace, record_id, known_status of judged snapshots.
    """

    relied: DataFrame | None
    known_bases: DataFrame
    pruned: PrunedOperations | None = None
    statuses: DataFrame | None = None


def stored_bases(tables: Tables, jobs: Jobs, pruned: PrunedOperations | None) -> StoredBases:
    """Return the bases that earlier collections and Snapshot facts in force give."""
    snapshots = tables.read(SNAPSHOTS).where(F.col("dialect") == DIALECT)
    in_force = snapshots.where("origin = 'fact' AND status = 'in_force'").groupBy("namespace")
    known_bases = in_force.agg(F.max("snapshot_id").alias("known_base"))
    statuses = None if pruned is None else known_statuses(tables)
    return StoredBases(relied_states(tables, jobs), known_bases, pruned, statuses)


def relied_states(tables: Tables, jobs: Jobs) -> DataFrame | None:
    """Return the states that earlier collections relied on, or None if nothing was pruned.

    Gives:  namespace, relied.  Rows: one per authority.
    """
    rows = removed_records(KINDS, tables, jobs)
    if rows is None:
        return None
    applied = rows.select("namespace", "snapshot_id").distinct()
    each = (
        tables.read(SNAPSHOTS)
        .join(applied, ["namespace", "snapshot_id"], "left_semi")
        .select(F.explode("inputs").alias("input"))
    )
    return each.select("input.*").groupBy("namespace").agg(F.collect_set("commitment").alias("relied"))


def histories_of(facts: DataFrame, bases: StoredBases) -> DataFrame:
    """Return the histories of authorities, from operations, snapshots and the facts that snapshots name.

    Reads:  facts: rows of `aura_fact` of authorities.
    Gives:  kernels.HISTORY_SCHEMA.  Rows: one per authority.
    Without broadcast hints: the bases have a row per authority of the lake.
    """
    decides = F.col("kind").isin("AttestedOp", "Snapshot")
    facts = facts.where(decides).unionByName(named_facts(facts, ~decides))
    if bases.relied is None:
        facts = facts.withColumn("relied", F.lit(None).cast("array<binary>"))
    else:
        facts = with_relied(facts, bases.relied)
    with_known_bases = facts.join(bases.known_bases, "namespace", "left")
    columns = ["namespace", "bucket", "fact_cbor", "relied", "known_base"]
    if bases.statuses is None:
        rows = with_known_bases.select(*columns).withColumn("known_status", F.lit(None).cast("string"))
    else:
        rows = with_known_bases.join(bases.statuses, list(KEY), "left").select(
            *columns, "known_status", *kernels.DERIVED
        )
    grouped = with_remains(rows, bases.pruned, kernels.HISTORY_COLUMNS)
    return map_batches(grouped, kernels.histories, kernels.HISTORY_SCHEMA)


def states_of(histories: DataFrame, name: str) -> DataFrame:
    """Return states of authorities.  Gives: authority (uuid), commitment.  Rows: one per state."""
    return histories.select(authority_uuid(), F.explode(name).alias("commitment"))


def bases_of(histories: DataFrame) -> DataFrame:
    """Return the base of each authority that has one.  Gives: namespace, commitment."""
    return histories.where("base IS NOT NULL").select("namespace", F.col("base").alias("commitment"))


def own_bases(histories: DataFrame) -> DataFrame:
    """Return the base that each authority relies on itself.  Gives: namespace, inputs.  Rows: one per authority."""
    pair = F.struct("namespace", F.col("base").alias("commitment"))
    return histories.where("base_id IS NOT NULL").select("namespace", F.array(pair).alias("inputs"))
