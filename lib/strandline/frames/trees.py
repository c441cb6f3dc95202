"""The roots of the Merkle trees of namespaces; no task holds more than a chunk of a tree."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from strandline.frames.lift import map_batches
from strandline.frames.sets import first_byte
from strandline.kernels.trees import (
    CHUNK_BITS,
    CHUNK_SCHEMA,
    ROOT_SCHEMA,
    chunk_roots,
    tree_roots,
)


def with_positions(news: DataFrame) -> DataFrame:
    """Give the records of each namespace their places in its tree: after its `old_size` leaves, by record id.

    Reads:  namespace, record_id (BINARY, distinct in a namespace), old_size.
    Gives:  the columns of `news`, position.
    Rows:   one per row. One parallel sort per (namespace, first byte), so no task sorts a whole namespace.
    """
    parts = news.withColumn("first", first_byte("record_id"))
    counts = parts.groupBy("namespace", "first").agg(F.count(F.lit(1)).alias("rows"))
    before = Window.partitionBy("namespace").orderBy("first").rowsBetween(Window.unboundedPreceding, -1)
    starts = counts.select(
        "namespace", "first", F.coalesce(F.sum("rows").over(before), F.lit(0)).alias("start")
    )
    rank = F.row_number().over(Window.partitionBy("namespace", "first").orderBy("record_id"))
    ranked = parts.withColumn("rank", rank).join(starts, ["namespace", "first"])
    position = F.col("old_size") + F.col("start") + F.col("rank") - 1
    return ranked.withColumn("position", position.cast("bigint")).select(*news.columns, "position")


def with_first_positions(ids: DataFrame) -> DataFrame:
    """Give the records of new trees of one chunk each their places, by record id.

    Reads:  namespace, bucket, record_id (BINARY, distinct in a namespace).
    Gives:  the columns of `ids`, position.
    Rows:   one per row: those of a bucket in one task, in the write order of `checkpoint_leaf`. So the roots and the
            write need no shuffle.
    """
    in_order = Window.partitionBy("bucket", "namespace").orderBy("record_id")
    position = F.row_number().over(in_order) - 1
    return ids.repartition("bucket").withColumn("position", position.cast("bigint"))


def chunked(leaves: DataFrame, *, in_place: bool = False) -> DataFrame:
    """Return the roots of chunks of trees.

    Reads:  namespace, position, record_id, old_size. `in_place`: each chunk is in one task, in order.
    Gives:  CHUNK_SCHEMA.
    Rows:   one per chunk that has a leaf.
    """
    numbered = leaves.select(
        "namespace", F.shiftright("position", CHUNK_BITS).alias("chunk"), "position", "record_id", "old_size"
    )
    key = ("namespace", "chunk")
    placed = numbered if in_place else numbered.repartition(*key).sortWithinPartitions(*key, "position")
    return map_batches(placed, chunk_roots, CHUNK_SCHEMA)


def roots(leaves: DataFrame, *, in_place: bool = False) -> DataFrame:
    """Return the root of each tree, and of the older tree that has its first `old_size` leaves.

    Reads:  as `chunked`, with one old_size per namespace.
    Gives:  ROOT_SCHEMA.
    Rows:   one per namespace.
    """
    in_order = (
        chunked(leaves, in_place=in_place).repartition("namespace").sortWithinPartitions("namespace", "chunk")
    )
    return map_batches(in_order, tree_roots, ROOT_SCHEMA)
