"""Flow budgets of contexts in Spark."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.flows import MOST
from strandline.dialects.aura.reduce.contexts.skeletons import CHARGE
from strandline.dialects.aura.spark.contexts.bodies import BODY, is_attested_by, parsed
from strandline.dialects.aura.spark.contexts.encoding import id_bytes, row_hash, u64
from strandline.dialects.aura.spark.tables import HOME

_KEY: Final = (*HOME, "src", "dst", "epoch")
READ: Final = ("variant", "content_json", "attest")
LIMIT: Final = (*_KEY, "limit")


def flow_budgets(facts: DataFrame, carried: DataFrame | None) -> DataFrame:
    """Return the budgets in the form of `flow_budget`.

    Reads:  facts of contexts with a genesis: rows of `aura_fact`; carried: `sums`, of charges that were pruned.
    Gives:  the columns of `flow_budget`.
    Rows:   one per sender, receiver and epoch with a charge or a limit. A charge counts once, however often it came.
    """
    return budgets_of(charges(facts.select(*BODY, *READ)), facts, carried)


def budgets_of(charges: DataFrame, facts: DataFrame, carried: DataFrame | None) -> DataFrame:
    """Return the same of charges that were read before.  Reads: `charges`; facts: with the limits."""
    each = sums(charges)
    return budgets(each if carried is None else each.unionByName(carried), limits(facts.select(*BODY, *READ)))


def charges(rows: DataFrame) -> DataFrame:
    """Return the charges that their senders attest.

    Reads:  BODY, READ, and any more.
    Gives:  their members in place of `variant` and `content_json`.
    Rows:   one per fact.
    """
    return parsed(rows, CHARGE).where(is_attested_by("src"))


def limits(rows: DataFrame) -> DataFrame:
    """Return the limits that a sender or a receiver attests.  Reads: BODY, READ.  Gives: LIMIT.  Rows: one per fact."""
    return parsed(rows, "FlowLimit").where(is_attested_by("src", "dst")).select(*LIMIT)


def budgets(parts: DataFrame, limits: DataFrame) -> DataFrame:
    """Add up budgets.  Reads: parts: `sums`; limits: LIMIT.  Gives: the columns of `flow_budget`."""
    together = parts.unionByName(limits, allowMissingColumns=True)
    found = together.groupBy(*_KEY).agg(*_totals(), F.min("limit").alias("limit"))
    next_nonce = F.coalesce(F.col("last.nonce") + 1, F.lit(0))
    return found.select(
        *_KEY, "spent", "charges", F.col("last.nonce").alias("tip_nonce"), F.col("last.body_id").alias("tip"), "limit",
        (F.col("charges") == next_nonce).alias("unbroken"),
        F.coalesce(F.col("spent") > F.col("limit"), F.lit(False)).alias("overdrawn"),
    )  # fmt: skip


def sums(charges: DataFrame) -> DataFrame:
    """Return the share of each charge in its budget.

    Reads:  namespace, bucket, body_id and the members of charges.
    Gives:  _KEY, spent, charges (1), nonce, body_id.
    Rows:   one per body.
    """
    each = charges.groupBy(*_KEY, "body_id").agg(
        F.first("cost").cast("decimal(20,0)").alias("spent"), F.first("nonce").alias("nonce")
    )
    return each.select(*_KEY, "spent", F.lit(1).cast("bigint").alias("charges"), "nonce", "body_id")


def as_sums(stored: DataFrame) -> DataFrame:
    """Return stored budgets in the form of `sums`.  Reads: rows of `flow_budget`.  Rows: one per budget."""
    return stored.select(
        *_KEY, "spent", "charges", F.col("tip_nonce").alias("nonce"), F.col("tip").alias("body_id")
    )


def added(parts: DataFrame) -> DataFrame:
    """Sum charges by budget.  Reads: `sums`.  Gives: the same columns.  Rows: one per budget."""
    return parts.groupBy(*_KEY).agg(*_totals()).select(*_KEY, "spent", "charges", "last.*")


def _totals() -> list[Column]:
    """Return the totals of `sums`; `spent` saturates at its greatest value."""
    spent = F.least(F.coalesce(F.sum("spent"), F.lit(0)), F.lit(Decimal(MOST)))
    tip = F.max(F.when(F.col("nonce").isNotNull(), F.struct("nonce", "body_id")))
    return [
        spent.cast("decimal(20,0)").alias("spent"),
        F.coalesce(F.sum("charges"), F.lit(0)).cast("bigint").alias("charges"),
        tip.alias("last"),
    ]


def flow_hashes(budgets: DataFrame) -> DataFrame:
    """Return the hashes of the canonical rows of budgets: of what was spent, and of limits.

    Reads:  `flow_budgets`.  Gives: namespace, row_hash.  Rows: one or two per budget.
    """
    key = F.concat(id_bytes(F.col("src")), id_bytes(F.col("dst")), u64(F.col("epoch")))
    numbers = [u64(F.col(name)) for name in ("spent", "charges", "tip_nonce")]
    spent = F.concat(F.lit(b"\x04"), key, *numbers, F.col("tip"))
    limit = F.concat(F.lit(b"\x05"), key, u64(F.col("limit")))
    rows = budgets.select("namespace", F.explode(F.array(spent, limit)).alias("row")).where("row IS NOT NULL")
    return rows.select("namespace", row_hash(F.col("row")).alias("row_hash"))
