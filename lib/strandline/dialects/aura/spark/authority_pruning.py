"""Pruning of authorities: the rules of `reduce.pruning`, an authority a task. Those without a base keep all facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Jobs
from strandline.dialect_api.pruning import PruneScope
from strandline.dialects.aura import kernels
from strandline.dialects.aura.reduce import REDUCER
from strandline.dialects.aura.spark.namespaces import is_of
from strandline.dialects.aura.spark.reduction import authority_rows, authority_states, counted, with_bases
from strandline.dialects.aura.spark.retained_operations import PrunedOperations, with_remains
from strandline.dialects.aura.spark.tables import HOME, STATE
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches

_KINDS: Final = ("AttestedOp", "RendezvousReceipt")
NOTHING_WENT: Final = b"\xa1\x61v\x01"
"""The carry of an authority that pruned nothing, {v: 1} in CBOR."""


@dataclass(frozen=True, slots=True)
class PlannedAuthorities:
    """Authorities with a snapshot in force, or with pruned operations.

    `facts`: rows of `aura_fact` that are not pruned; `in_force`: HOME, record_id of the snapshots that give a base;
    `found`: kernels.PLANNED_SCHEMA.
    """

    facts: DataFrame
    in_force: DataFrame
    pruned: PrunedOperations | None
    found: DataFrame

    def members(self) -> DataFrame:
        """Return the planned operations.  Gives: namespace, record_id, generation, hold, skeleton."""
        each = self.found.select("namespace", F.explode("planned").alias("row"))
        return each.select("namespace", "row.*")

    def reduced(self) -> dict[str, DataFrame]:
        """Return the rows of the full reduction of all stored operations."""
        return _tables(self.found, counted(self.facts, self.pruned))

    def inconsistent(self) -> DataFrame:
        """Return the authorities whose remains are inconsistent: namespace."""
        return self.found.where("is_inconsistent").select("namespace")

    def carries(self, chosen: DataFrame) -> DataFrame:
        """Return the carry of each authority after the chosen facts are pruned.  Gives: namespace, carry."""
        named = chosen.select("namespace")
        if self.pruned is not None:
            named = named.unionByName(self.pruned.rows.select("namespace"))
        some = named.distinct().withColumn("is_carried", F.lit(True))
        carry = F.when(F.col("is_carried") & F.col("carry").isNotNull(), F.col("carry"))
        joined = self.found.select("namespace", "carry").join(some, "namespace", "left")
        return joined.select("namespace", carry.otherwise(F.lit(NOTHING_WENT)).alias("carry"))

    def reduced_without(self, chosen: DataFrame, carries: DataFrame, jobs: Jobs) -> dict[str, DataFrame]:
        """Return the rows of a full reduction of the facts that stay, with the new skeletons and carries.

        Reads:  chosen: HOME, record_id, skeleton; carries: namespace, carry.
        """
        rows = chosen.select(*HOME, "record_id", "skeleton")
        if self.pruned is not None:
            rows = rows.unionByName(self.pruned.rows.select(*rows.columns))
        homes = rows.select(*HOME).distinct()
        rest = PrunedOperations(rows, carries.join(homes, "namespace").select(*HOME, "carry"))
        facts = self.facts.join(chosen.select(*KEY), list(KEY), "left_anti")
        found = authority_states(facts, self.in_force, rest, full=True)
        return _tables(jobs.checkpoint(found, "authorities again"), counted(facts, rest))


def plan(
    every: DataFrame, histories: DataFrame, pruned: PrunedOperations | None, jobs: Jobs, scope: PruneScope
) -> PlannedAuthorities | None:
    """Reduce the selected authorities with prunable or pruned operations; None without any.

    Reads:  every: rows of `aura_fact`; histories: kernels.HISTORY_SCHEMA, computed.
    """
    asked = histories.where(scope.is_asked())
    in_force = asked.where("base_id IS NOT NULL").select(*HOME, F.col("base_id").alias("record_id"))
    if pruned is None and not jobs.has_rows(in_force):
        return None
    named, theirs = in_force.select(*HOME), None
    if pruned is not None:
        theirs = pruned.of(asked)
        named = named.unionByName(theirs.rows.select(*HOME)).distinct()
    facts = every.where(is_of("authority")).join(named, list(HOME), "left_semi")
    facts = facts if theirs is None else theirs.kept(facts)
    needed = facts.where(F.col("kind").isin(*_KINDS))
    grouped = with_remains(with_bases(needed, facts, in_force), theirs, kernels.REDUCTION_COLUMNS)
    found = map_batches(grouped, kernels.planned, kernels.PLANNED_SCHEMA, skip_window=scope.skip_window)
    return PlannedAuthorities(facts, in_force, theirs, jobs.checkpoint(found, "plans of authorities"))


def _tables(found: DataFrame, counts: DataFrame) -> dict[str, DataFrame]:
    states = found.join(counts, "namespace").withColumn("reducer_version", F.lit(REDUCER))
    return {**authority_rows(found), STATES: states.select(*STATE)}
