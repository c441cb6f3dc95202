"""Charges of contexts in a pruning plan: their JSON, parsed once, the rules that keep them, and their skeletons."""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs
from strandline.dialects.aura.reduce.contexts.skeletons import CHARGE
from strandline.dialects.aura.spark.contexts import flows
from strandline.dialects.aura.spark.contexts.bodies import BODY, is_attested_by, parsed
from strandline.dialects.aura.spark.contexts.encoding import cbor_number, id_hex
from strandline.dialects.aura.spark.tables import BODY_KEY
from strandline.frames.pruning import GENERATION, boundary

_FLOW: Final = ("src", "dst", "epoch")
_CONTENT: Final = (*_FLOW, "cost", "nonce")
_LIST_OF_5, _BYTES_16 = "85", "50"
"""What CBOR puts before five members, and before 16 bytes."""


def is_charge() -> Column:
    """Return whether a fact is a charge.  Reads: variant."""
    return F.col("variant").eqNullSafe(CHARGE)


def charges(facts: DataFrame) -> DataFrame:
    """Read charges.

    Reads:  BODY, record_id, size, flows.READ.
    Gives:  BODY, record_id, size, src, dst, epoch, cost, nonce, is_met (its sender attests it).
    Rows:   one per fact that is a charge.
    """
    each = parsed(facts.select(*BODY, "record_id", "size", *flows.READ), CHARGE)
    return each.withColumn("is_met", F.coalesce(is_attested_by("src"), F.lit(False))).drop("attest")


def holds(rows: DataFrame, budgets: DataFrame, skip_window: int, jobs: Jobs) -> DataFrame:
    """Give the rule (hold) that keeps each charge, except the rules that depend on other facts.

    Reads:  `charges` that are not pruned themselves; budgets: rows of `flow_budget`.
    Gives:  the columns of `rows`, hold.
    Rows:   one per row. A charge is met if a copy of it is.
    """
    is_met = F.col("is_met")
    unmet = rows.where(~is_met)
    if jobs.has_rows(unmet):
        met = (
            unmet.select(*BODY_KEY)
            .distinct()
            .join(rows.where(is_met).select(*BODY_KEY), list(BODY_KEY), "left_semi")
        )
        rows = rows.join(met.withColumn("has_met", F.lit(True)), list(BODY_KEY), "left")
        is_met = F.coalesce("has_met", is_met)
    tips = budgets.select("namespace", *_FLOW, "tip_nonce")
    tip = F.coalesce("tip_nonce", F.lit(0).cast(GENERATION))
    hold = F.when(~is_met, F.lit("UNMET")).when(F.col("nonce") >= boundary(tip, skip_window), F.lit("WINDOW"))
    placed = rows.join(tips, ["namespace", *_FLOW], "left").withColumn("hold", hold)
    return placed.drop("tip_nonce", "has_met")


def detail() -> Column:
    """Return the content of a charge and whether it counts, for `PrunePlan.members`.  Reads: `charges`, is_pruned."""
    counts: Any = F.col("is_pruned").isNull().alias("counts")
    return F.struct(*_CONTENT, counts).alias("detail")


def sums(chosen: DataFrame) -> DataFrame:
    """Return the sums of chosen charges, as `flows.sums`.  Reads: `PrunePlan.members`."""
    each = chosen.where("detail.counts").select(
        "namespace", "bucket", F.col("alt_id").alias("body_id"), *(f"detail.{name}" for name in _CONTENT)
    )
    return flows.sums(each)


def skeleton() -> Column:
    """Return the skeleton of a charge: `reduce.contexts.skeletons.charge_skeleton`; null for others.  Reads: detail."""
    src, dst, *numbers = (F.col(f"detail.{name}") for name in _CONTENT)
    ids = (part for uuid in (src, dst) for part in (F.lit(_BYTES_16), id_hex(uuid)))
    return F.unhex(F.concat(F.lit(_LIST_OF_5), *ids, *map(cbor_number, numbers)))
