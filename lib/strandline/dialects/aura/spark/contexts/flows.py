"""Flow budgets of contexts in Spark."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.flows import MOST
from strandline.dialects.aura.spark.contexts.bodies import BODY, is_attested_by, parsed
from strandline.dialects.aura.spark.contexts.encoding import id_bytes, row_hash, u64

_HOME: Final = ("namespace", "bucket")
_KEY: Final = (*_HOME, "src", "dst", "epoch")


def flow_budgets(facts: DataFrame) -> DataFrame:
    """Return the budgets in the form of `flow_budget`.

    Reads:  facts of contexts with a genesis: rows of `aura_fact`.  Gives: the columns of `flow_budget`.
    Rows:   one per sender, receiver and epoch with a charge or a limit. A charge counts once, however often it came.
    """
    rows = facts.select(*BODY, "variant", "content_json", "attest")
    charges = parsed(rows, "FlowCharge").where(is_attested_by("src"))
    each = charges.groupBy(*_KEY, "body_id").agg(
        F.first("cost").alias("cost"), F.first("nonce").alias("nonce")
    )
    limits = parsed(rows, "FlowLimit").where(is_attested_by("src", "dst"))
    together = each.select(*_KEY, "cost", "nonce", "body_id").unionByName(
        limits.select(*_KEY, "limit"), allowMissingColumns=True
    )
    most = F.lit(Decimal(MOST))
    spent = F.least(F.coalesce(F.sum(F.col("cost").cast("decimal(20,0)")), F.lit(0)), most)
    tip = F.max(F.when(F.col("nonce").isNotNull(), F.struct("nonce", "body_id")))
    found = together.groupBy(*_KEY).agg(
        spent.cast("decimal(20,0)").alias("spent"), F.count("nonce").alias("charges"), tip.alias("last"),
        F.min("limit").alias("limit"),
    )  # fmt: skip
    next_nonce = F.coalesce(F.col("last.nonce") + 1, F.lit(0))
    return found.select(
        *_KEY, "spent", "charges", F.col("last.nonce").alias("tip_nonce"), F.col("last.body_id").alias("tip"), "limit",
        (F.col("charges") == next_nonce).alias("unbroken"),
        F.coalesce(F.col("spent") > F.col("limit"), F.lit(False)).alias("overdrawn"),
    )  # fmt: skip


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
