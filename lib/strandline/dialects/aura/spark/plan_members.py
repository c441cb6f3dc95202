"""What a plan says of each stored fact: the hold that keeps it, and its generation."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.holds import GENERATION as KINDS
from strandline.dialects.aura.spark.contexts import holds
from strandline.dialects.aura.spark.contexts.retained import RetainedFacts
from strandline.dialects.aura.spark.tables import HOME


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


def of_authorities(facts: DataFrame) -> DataFrame:
    """Return the facts of authorities as members that stay."""
    return _as_members(facts, F.lit(None).cast("decimal(20,0)"), F.lit("KIND_KEPT"))


def _as_members(facts: DataFrame, generation: Column, hold: Column) -> DataFrame:
    return facts.select(
        *HOME, "record_id", F.col("variant").alias("kind"), F.col("body_id").alias("alt_id"),
        generation.alias("generation"), hold.alias("hold"),
        "size",
    )  # fmt: skip
