"""The inputs of verdicts from other namespaces: states of authorities, and geneses of contexts."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.spark.retained_operations import PrunedOperations
from strandline.frames.buckets import in_buckets

GENESIS: Final = "ContextGenesis"


def known_states(
    histories: DataFrame | None, facts: DataFrame, pruned: PrunedOperations | None, buckets: tuple[int, ...]
) -> DataFrame:
    """Return the states that accepted and pruned operations of authorities in these buckets made, and of this run.

    Gives:  authority, commitment, epoch, group_key.  Rows: one per state.
    """
    columns = (
        F.col("namespace").alias("authority"), F.col("new_commitment").alias("commitment"),
        F.col("new_epoch").alias("epoch"), F.col("new_group_key").alias("group_key"),
    )  # fmt: skip
    is_near = in_buckets(buckets)
    found = facts.where(is_near & (F.col("kind") == "AttestedOp")).select(*columns)
    if pruned is not None:
        made = pruned.where(is_near).states().withColumnRenamed("namespace", "authority")
        found = found.unionByName(made)
    if histories is not None:
        found = found.unionByName(histories.where("new_commitment IS NOT NULL").select(*columns))
    return found.dropDuplicates(["authority", "commitment"])


def geneses(
    valid: DataFrame, histories: DataFrame | None, facts: DataFrame, buckets: tuple[int, ...]
) -> DataFrame:
    """Return the accepted genesis of each context in these buckets, and of this run.

    Gives:  namespace, genesis (its `content_json`).  Rows: one per context that has one.
    """
    stored = facts.where(in_buckets(buckets) & (F.col("variant") == GENESIS))
    found = stored.select("namespace", F.col("content_json").alias("genesis"))
    if histories is not None:
        accepted = histories.where("status = 'accepted'").select("judge_id")
        new = valid.where(F.col("variant") == GENESIS).join(accepted, "judge_id", "left_semi")
        found = found.unionByName(new.select("namespace", F.col("content_json").alias("genesis")))
    return found.dropDuplicates(["namespace"])
