"""Logs as DAGs: heads, links to missing parents, and links that contradict the clocks."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.dialects.ipfslog.spark.logs import key_of, order_of
from strandline.frames.links import distinct

NODE = ("namespace", "bucket", "record_id", "cid", "clock_time", "clock_id", "writer")
"""The columns of an entry in heads, tails and order; its links are in `next`."""

HEAD, MISSING, LATE, INVERTED = "head", "missing", "late", "inverted"
"""Kinds of edges: an entry that no entry names; a link to an entry that is not stored; a link to an entry whose time
is not less; of these, one to an entry that is not before it by k.
"""


def links(nodes: DataFrame) -> DataFrame:
    """Give each link once.

    Reads:  NODE, next.  Gives: NODE, parent.  Rows: one per entry and distinct digest in `next`.
    """
    return nodes.select(*NODE, F.explode(distinct("next")).alias("parent"))


def edges(nodes: DataFrame) -> DataFrame:
    """Find heads and irregular links: for an honest, complete log, its heads alone.

    Reads:  NODE, next.
    Gives:  NODE, parent (null for a head), kind: HEAD, MISSING, LATE or INVERTED.
    Rows:   one per head and per irregular link. One join of entries with the links that name them.
    """
    return _edges(links(nodes), nodes, "full_outer")


def link_edges(named: DataFrame, nodes: DataFrame) -> DataFrame:
    """Find irregular links.

    Reads:  named: NODE, parent; nodes: NODE, all entries that the links may name.
    Gives:  as `edges`, without heads.
    Rows:   at most one per link.
    """
    return _edges(named, nodes, "right_outer")


def _edges(named: DataFrame, nodes: DataFrame, how: str) -> DataFrame:
    by, of = named.alias("by"), nodes.select(*NODE).alias("of")
    same = (F.col("of.namespace") == F.col("by.namespace")) & (F.col("of.record_id") == F.col("by.parent"))
    kind = (
        F.when(F.col("by.parent").isNull(), HEAD)
        .when(F.col("of.record_id").isNull(), MISSING)
        .when(key_of("of") >= key_of("by"), INVERTED)
        .when(F.col("of.clock_time") >= F.col("by.clock_time"), LATE)
    )
    found = of.join(by, same, how).withColumn("kind", kind).where("kind IS NOT NULL")
    subject = [
        F.when(F.col("kind") == HEAD, F.col(f"of.{name}")).otherwise(F.col(f"by.{name}")).alias(name)
        for name in NODE
    ]
    return found.select(*subject, F.col("by.parent").alias("parent"), "kind")


def counted(found: DataFrame) -> DataFrame:
    """Count what a state has of each log.

    Reads:  `edges`.
    Gives:  namespace, links (heads, and links to missing parents), is_inverted (the log has an inverted link).
    Rows:   one per log with an edge.
    """
    return found.groupBy("namespace").agg(
        F.count_if(F.col("kind").isin(HEAD, MISSING)).alias("links"),
        F.bool_or(F.col("kind") == INVERTED).alias("is_inverted"),
    )


def walked(found: DataFrame) -> DataFrame:
    """Give the logs with an inverted link.

    Reads:  `edges`.  Gives: namespace.  Rows: one per such log.
    """
    return found.where(F.col("kind") == INVERTED).select("namespace").distinct()


def not_ok(found: DataFrame) -> DataFrame:
    """Give the entries whose time is not greater than that of all their stored parents.

    Reads:  `edges`.  Gives: namespace, record_id.  Rows: one per such entry.
    """
    return found.where(F.col("kind").isin(LATE, INVERTED)).select("namespace", "record_id").distinct()


def as_head(heads: DataFrame) -> DataFrame:
    """Shape all heads of logs to the contract of `ipfs_log_head`.

    Reads:  NODE.  Rows: one per row.
    """
    newest = Window.partitionBy("namespace").orderBy(*(column.desc() for column in order_of()))
    return heads.withColumn("rank", F.row_number().over(newest)).select(
        "namespace", "bucket", "record_id", "rank", "cid", "writer", "clock_id", "clock_time"
    )


def roots(nodes: DataFrame) -> DataFrame:
    """Keep the entries without links, as tails.

    Reads:  NODE, next.  Gives: namespace, bucket, record_id, cid, missing (empty).  Rows: at most one per row.
    """
    none = F.array().cast("array<binary>")
    return nodes.where(F.size("next") == 0).select(
        "namespace", "bucket", "record_id", "cid", none.alias("missing")
    )


def partial(lacking: DataFrame) -> DataFrame:
    """Collect the missing parents of entries.

    Reads:  namespace, bucket, record_id, cid, parent (distinct).
    Gives:  namespace, bucket, record_id, cid, missing (ascending).
    Rows:   one per entry with a missing parent.
    """
    parents = F.array_sort(F.collect_list("parent"))
    return lacking.groupBy("namespace", "bucket", "record_id", "cid").agg(parents.alias("missing"))


def as_tail(tails: DataFrame) -> DataFrame:
    """Shape tails to the contract of `ipfs_log_tail`.

    Reads:  `roots` and `partial`.  Rows: one per row.
    """
    kind = F.when(F.size("missing") > 0, F.lit("partial")).otherwise(F.lit("root"))
    return tails.select("namespace", "bucket", "record_id", "cid", kind.alias("kind"), "missing")
