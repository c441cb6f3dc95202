"""The carries of contexts, and the check that skeletons give the stored sums."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura import kernels
from strandline.dialects.aura.spark.contexts import flows
from strandline.dialects.aura.spark.contexts.retained import PrunedFacts
from strandline.frames.lift import map_batches


def encoded(sums: DataFrame, contexts: DataFrame) -> DataFrame:
    """Return the carry of each context.  Gives: namespace, carry.  Rows: one per context."""
    flow: Any = F.struct("src", "dst", "epoch", "spent", "charges", "nonce", "body_id")
    listed = flows.added(sums).groupBy("namespace").agg(F.collect_list(flow).alias("flows"))
    rows = contexts.join(listed, "namespace", "left").select(*kernels.FLOW_COLUMNS)
    return map_batches(rows, kernels.encoded_carries, kernels.CARRY_SCHEMA)


def damaged(pruned: PrunedFacts, skeletons: DataFrame, sums: DataFrame) -> DataFrame:
    """Return the contexts whose skeletons do not add up to their applied carry; a lost carry can be computed again.

    Reads:  skeletons: `PrunedFacts.skeleton_sums`; sums: those that are whole, as `flows.sums`.  Gives: namespace.
    """
    names = pruned.rows.select("namespace").distinct()
    made = encoded(sums, names).withColumnRenamed("carry", "made")
    compared = made.join(pruned.carries.select("namespace", "carry"), "namespace", "left")
    wrong = compared.where("NOT made <=> carry AND NOT carry <=> X''").select("namespace")
    return wrong.unionByName(skeletons.where("is_damaged").select("namespace"))
