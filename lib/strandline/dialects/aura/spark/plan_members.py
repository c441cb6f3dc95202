"""What a plan says of each stored fact: the hold that keeps it, and its generation."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.holds import GENERATION as KINDS
from strandline.dialects.aura.spark.contexts import holds
from strandline.dialects.aura.spark.contexts.retained import RetainedFacts
from strandline.dialects.aura.spark.tables import HOME
from strandline.dialects.aura.types import ZERO
from strandline.frames.known import KEY


def of_contexts(retained: RetainedFacts, found: DataFrame) -> DataFrame:
    """Say of each stored fact of contexts what keeps it.  Gives: as `PrunePlan.members`."""
    facts = retained.records.withColumn("is_pruned", F.lit(False))
    if retained.pruned is not None:
        bodies_ = retained.pruned.bodies().withColumn("is_gone", F.lit(True))
        facts = facts.join(bodies_, ["namespace", "body_id"], "left").withColumn(
            "is_pruned", F.coalesce("is_gone", F.lit(False))
        )
    is_free = F.col("is_pruned")
    hold = F.when(is_free, F.lit(None).cast("string")).when(
        ~F.col("variant").isin(*KINDS), F.lit("KIND_KEPT")
    )
    kept = facts.join(found, ["namespace", "body_id"], "left")
    return _as_members(kept, holds.generation(), hold.otherwise(F.col("hold")))


def of_authorities(facts: DataFrame, planned: DataFrame | None) -> DataFrame:
    """Say of each fact of authorities what keeps it; without a plan an operation has no base.

    Reads:  rows of `aura_fact` that are not pruned, with `record_id` and `size`; planned: namespace, record_id, hold,
            or None.
    Gives:  as `PrunePlan.members`.
    """
    is_kept = (F.col("kind") != "AttestedOp") | (F.col("parent_commitment") == F.lit(ZERO))
    hold = F.when(is_kept, F.lit("KIND_KEPT")).otherwise(F.lit("NO_BASE"))
    if planned is not None:
        told = planned.select(*KEY, "hold", F.lit(True).alias("is_planned"))
        facts = facts.join(told, list(KEY), "left")
        hold = F.when(F.col("is_planned"), F.col("hold")).otherwise(hold)
    return _as_members(facts, F.col("height"), hold)


def _as_members(facts: DataFrame, generation: Column, hold: Column) -> DataFrame:
    return facts.select(
        *HOME, "record_id", F.col("variant").alias("kind"), F.col("body_id").alias("alt_id"),
        generation.alias("generation"), hold.alias("hold"),
        "size",
    )  # fmt: skip
