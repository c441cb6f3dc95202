"""Accepted elements as rows of `node_journal_line`."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.dialects.sdmp.spark.elements import SEGMENT, is_candidate
from strandline.dialects.sdmp.spark.line_columns import is_long_form, line_hash, number_of

_DELIVERY = ("file_no", "part", "frame", "idx")
"""The order of deliveries in a run: the least is the first."""


def accepted(facts: DataFrame, heads: DataFrame, *, overlapping: bool) -> DataFrame:
    """Keep the elements of segments with n, each line once.

    Reads:  the elements with their facts; heads with n, namespace, bucket, source, overlaps; `overlapping`: some head
            overlaps.
    Gives:  _DELIVERY, namespace, bucket, node, n, hash, raw, source.
    Rows:   one per (namespace, line): the first of several deliveries. Only overlapping segments are shuffled for
            this.
    """
    known = heads.where("n IS NOT NULL").select(
        *SEGMENT, "namespace", "bucket", "source", F.col("n").alias("head_n"), "overlaps"
    )
    placed = facts.where(is_candidate()).join(known, list(SEGMENT))
    columns = (*_DELIVERY, "namespace", "bucket", "node", "hash", "raw", "source")
    lines = placed.select(*columns, (F.col("head_n") + F.col("idx") - F.col("head")).alias("n"), "overlaps")
    if not overlapping:
        return lines.drop("overlaps")
    alone = lines.where(~F.col("overlaps"))
    first = Window.partitionBy("namespace", "n", "hash").orderBy(*_DELIVERY)
    shared = (
        lines.where("overlaps").withColumn("rank", F.row_number().over(first)).where("rank = 1").drop("rank")
    )
    return alone.unionByName(shared).drop("overlaps")


def implied(nodes: DataFrame) -> DataFrame:
    """Give line 1, a constant of the namespace, of journals of which it was not delivered.

    Reads:  nodes: namespace, bucket, node.
    Gives:  the columns of `accepted` without DELIVERY.
    Rows:   one per row.
    """
    raw = F.col("node").cast("binary")
    return nodes.select(
        "namespace",
        "bucket",
        "node",
        line_hash(raw, F.col("node")).alias("hash"),
        raw.alias("raw"),
        F.lit(1).cast("bigint").alias("n"),
        F.lit(None).cast("string").alias("source"),
    )


def as_node_journal_line(lines: DataFrame, *, origin: str) -> DataFrame:
    """Shape accepted lines to the contract of `node_journal_line`.

    Reads:  namespace, bucket, node, n, hash, raw, source.
    Gives:  the columns of `node_journal_line` without those that the writing run adds.
    Rows:   one per row.
    """
    chars = F.length("node")
    is_first = F.col("n") == 1
    null = F.lit(None).cast("string")
    record_id = F.when(is_long_form(F.col("node")), F.unhex(F.sha2("raw", 256))).otherwise(F.unhex("hash"))
    return lines.select(
        "namespace",
        "bucket",
        record_id.alias("record_id"),
        F.when(is_long_form(F.col("node")), F.lit("0.12")).otherwise(F.lit("0.9")).alias("profile"),
        "n",
        F.when(is_first, null).otherwise(number_of(F.col("raw"), F.col("node"))).alias("line_number"),
        F.col("hash").alias("line_hash"),
        F.when(is_first, null).otherwise(_part(chars + 2, chars)).alias("author_fp"),
        F.when(is_first, null).otherwise(_part(chars * 2 + 3, chars)).alias("resource_id"),
        F.lit(origin).alias("origin"),
        "source",
    )


def _part(start: Column, chars: Column) -> Column:
    # Cut from the bytes, then cast: in a string, Spark would count characters from the start.
    return F.substring(F.col("raw"), start, chars).cast("string")
