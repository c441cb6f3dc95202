"""The rows of a pruning plan: the hold that keeps each stored fact, and its generation."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs
from strandline.dialects.aura.reduce.contexts.holds import GENERATION_OF
from strandline.dialects.aura.reduce.contexts.skeletons import CHARGE
from strandline.dialects.aura.spark.contexts import charges, holds
from strandline.dialects.aura.spark.contexts.retained import RetainedFacts, bodies_of
from strandline.dialects.aura.spark.contexts.views import View
from strandline.dialects.aura.spark.tables import BODY_KEY, HOME
from strandline.dialects.aura.types import ZERO
from strandline.frames.known import KEY


def of_contexts(
    charged: RetainedFacts, others: RetainedFacts, facts: DataFrame, seen: tuple[View, View], budgets: DataFrame,
    skip_window: int, jobs: Jobs,
) -> DataFrame:  # fmt: skip
    """Give the hold of each stored fact of contexts.

    Reads:  charged: as `charges.charges`; others: rows of `aura_fact`; facts: those of `others` that count; seen: the
            ordinary and the final view; budgets: rows of `flow_budget`.
    Gives:  as `PrunePlan.members`, with `charges.detail`, which is null for all others.
    """
    ordinary, final = seen
    ids = charged.facts.select(*BODY_KEY, "record_id").unionByName(facts.select(*BODY_KEY, "record_id"))
    flags = jobs.checkpoint(holds.flags(facts, ids, final), "bodies that others need")
    held = charges.holds(charged.records, budgets, skip_window, jobs)
    found = holds.holds(facts, ordinary, final)
    return _of_charges(_marked(held, charged), flags, jobs).unionByName(
        _of_others(_marked(others.records, others), found, flags), allowMissingColumns=True
    )


def _of_charges(rows: DataFrame, flags: DataFrame, jobs: Jobs) -> DataFrame:
    """Give the hold of each stored charge.

    Reads:  rows: `charges.holds`, is_pruned; flags: `holds.flags`, computed.
    Gives:  as `PrunePlan.members`.
    """
    if jobs.has_rows(flags):
        rows = rows.join(flags, list(BODY_KEY), "left").withColumn("hold", F.coalesce("flag", "hold"))
    rows = rows.withColumn("variant", F.lit(CHARGE))
    return _as_members(rows, F.col("nonce"), _unless_pruned(F.col("hold")), charges.detail())


def _of_others(rows: DataFrame, found: DataFrame, flags: DataFrame) -> DataFrame:
    """Give the hold of each stored fact of contexts that is no charge.

    Reads:  rows of `aura_fact`, is_pruned; found: `holds.holds`; flags: `holds.flags`.
    Gives:  as `PrunePlan.members`.
    """
    kept = rows.join(found, list(BODY_KEY), "left").join(flags, list(BODY_KEY), "left")
    hold = F.when(
        F.coalesce(~F.col("variant").isin(*GENERATION_OF), F.lit(True)), F.lit("KIND_KEPT")
    ).otherwise(F.coalesce("flag", "hold"))
    return _as_members(kept, holds.generation(), _unless_pruned(hold))


def of_authorities(facts: DataFrame, planned: DataFrame | None) -> DataFrame:
    """Give the hold of each fact of authorities; without a plan the hold of an operation is NO_BASE.

    Reads:  rows of `aura_fact` that are not pruned, with `record_id` and `size`; planned: namespace, record_id, hold,
            or None.
    Gives:  as `PrunePlan.members`.
    """
    is_kept = (F.col("kind") != "AttestedOp") | (F.col("parent_commitment") == F.lit(ZERO))
    hold = F.when(is_kept, F.lit("KIND_KEPT")).otherwise(F.lit("NO_BASE"))
    if planned is not None:
        holds = planned.select(*KEY, "hold", F.lit(True).alias("is_planned"))
        facts = facts.join(holds, list(KEY), "left")
        hold = F.when(F.col("is_planned"), F.col("hold")).otherwise(hold)
    return _as_members(facts, F.col("height"), hold)


def _marked(rows: DataFrame, retained: RetainedFacts) -> DataFrame:
    """Mark the facts whose body is pruned: is_pruned, or null.  Reads: rows of `retained.records`."""
    pruned = retained.pruned_bodies
    if pruned is None:
        return rows.withColumn("is_pruned", F.lit(None).cast("boolean"))
    return rows.join(
        bodies_of(pruned).distinct().withColumn("is_pruned", F.lit(True)), list(BODY_KEY), "left"
    )


def _unless_pruned(hold: Column) -> Column:
    """Return no hold for a copy of a body that is pruned."""
    return F.when(F.col("is_pruned").isNull(), hold)


def _as_members(facts: DataFrame, generation: Column, hold: Column, *more: Column) -> DataFrame:
    return facts.select(
        *HOME, "record_id", F.col("variant").alias("kind"), F.col("body_id").alias("alt_id"),
        generation.alias("generation"), hold.alias("hold"), "size", *more,
    )  # fmt: skip
