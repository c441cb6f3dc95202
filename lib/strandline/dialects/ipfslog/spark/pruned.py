"""Entries that were pruned: the nodes that stand for them, and what their logs are reduced as."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.spark import dag
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches


def skeletons(pruned: DataFrame) -> DataFrame:
    """Give the nodes that stand for pruned entries.

    Reads:  kernels.SKELETON_COLUMNS.
    Gives:  dag.NODE, key, variant (these and writer null: nothing tells), next.
    Rows:   one per row.
    """
    nodes = map_batches(pruned.select(*kernels.SKELETON_COLUMNS), kernels.skeletons, kernels.SKELETON_SCHEMA)
    gone = [F.lit(None).cast("string").alias(name) for name in ("writer", "key", "variant")]
    return nodes.select("*", *gone).select(*dag.NODE, "key", "variant", "next")


def carries(pruned: DataFrame, snapshots: DataFrame) -> DataFrame:
    """Give the carry of the snapshot that is applied to each log with pruned entries.

    Reads:  namespace, snapshot_id, gc_number; snapshots: namespace, snapshot_id, carry.
    Gives:  namespace, carry.
    Rows:   one per such log.
    """
    applied = pruned.groupBy("namespace").agg(F.max_by("snapshot_id", "gc_number").alias("snapshot_id"))
    return applied.join(snapshots, ["namespace", "snapshot_id"]).select("namespace", "carry")


def members(stored: DataFrame, pruned: DataFrame) -> DataFrame:
    """Give the pruned entries that stored rows of `equivocation` name, as far as the rows show them.

    Reads:  stored: the columns of `equivocation`, of clocks; pruned: namespace, record_id.
    Gives:  namespace, bucket, key, clock_time, variant, record_id, block (null of those that no row shows whole).
    Rows:   one per such entry.
    """
    place = F.posexplode("members").alias("place", "record_id")
    each = stored.select("namespace", "bucket", "key", "position", "bytes_a", "bytes_b", place)
    block = F.when(F.col("place") == 0, F.col("bytes_a")).when(F.col("place") == 1, F.col("bytes_b"))
    named = each.select(
        "namespace", "bucket", "key", F.col("position").cast("bigint").alias("clock_time"),
        F.lit("any").alias("variant"), "record_id", block.alias("block"),
    )  # fmt: skip
    return named.join(pruned.select(*KEY), list(KEY), "left_semi")
