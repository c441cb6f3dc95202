"""Logs as DAGs: heads, links to missing parents, and links that contradict the clocks."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.dialects.ipfslog.spark.logs import order_of
from strandline.dialects.ipfslog.spark.order import ranked
from strandline.frames.links import distinct

NODE = ("namespace", "bucket", "record_id", "cid", "clock_time", "clock_id", "writer")
"""The columns of an entry in heads, tails and order; its links are in `next`."""

LINK = ("namespace", "bucket", "record_id", "cid", "clock_time", "clock_id")
"""The columns of the entry that has a link, `clock_id` null if it is long."""

LINK_CLOCK_CHARS = 256
"""Maximum length of a clock id in a link: an entry may have a megabyte of it, and thousands of links."""

HEAD, MISSING, LATE, INVERTED, UNSURE = "head", "missing", "late", "inverted", "unsure"
"""Kinds of edges: an entry that no entry names; a link to an entry that is not stored; a link to an entry whose time
is not less; of these, one to an entry that is not before it by k. UNSURE is LATE or INVERTED, which `settled` decides.
"""


def links(nodes: DataFrame) -> DataFrame:
    """Give each link once.

    Reads:  NODE, next.  Gives: LINK, parent.  Rows: one per entry and distinct digest in `next`.
    """
    return _with_short_clock(nodes).select(*LINK, F.explode(distinct("next")).alias("parent"))


def as_links(rows: DataFrame) -> DataFrame:
    """Shape links.

    Reads:  NODE, parent.  Gives: LINK, parent.  Rows: one per row.
    """
    return _with_short_clock(rows).select(*LINK, "parent")


def _with_short_clock(rows: DataFrame) -> DataFrame:
    clock = F.when(F.length("clock_id") <= LINK_CLOCK_CHARS, F.col("clock_id"))
    return rows.withColumn("clock_id", clock)


def edges(nodes: DataFrame) -> DataFrame:
    """Find heads and irregular links: for an honest, complete log, only its heads.

    Reads:  NODE, next.
    Gives:  NODE, parent (null for a head), kind; of a link `writer` is null, and `clock_id` may be.
    Rows:   one per head and per irregular link. One join of entries with the links that name them.
    """
    return _edges(links(nodes), nodes, "full_outer")


def link_edges(named: DataFrame, nodes: DataFrame) -> DataFrame:
    """Find irregular links.

    Reads:  named: LINK, parent; nodes: NODE, all entries that the links may name.
    Gives:  as `edges`, without heads.
    Rows:   at most one per link.
    """
    return _edges(named, nodes, "right_outer")


def _edges(named: DataFrame, nodes: DataFrame, how: str) -> DataFrame:
    by, of = named.alias("by"), nodes.select(*NODE).alias("of")
    same = (F.col("of.namespace") == F.col("by.namespace")) & (F.col("of.record_id") == F.col("by.parent"))
    of_time, by_time = F.col("of.clock_time"), F.col("by.clock_time")
    (_, *of_rest), (_, *by_rest) = order_of("of"), order_of("by")
    at_one_time = (
        F.when(F.col("by.clock_id").isNull(), UNSURE)
        .when(F.struct(*of_rest) >= F.struct(*by_rest), INVERTED)
        .otherwise(LATE)
    )
    kind = (
        F.when(F.col("by.parent").isNull(), HEAD)
        .when(F.col("of.record_id").isNull(), MISSING)
        .when(of_time > by_time, INVERTED)
        .when(of_time == by_time, at_one_time)
    )
    found = of.join(by, same, how).withColumn("kind", kind).where("kind IS NOT NULL")
    is_head = F.col("kind") == HEAD
    subject = [
        F.when(is_head, F.col(f"of.{name}")).otherwise(F.col(f"by.{name}")).alias(name) for name in LINK
    ]
    writer = F.when(is_head, F.col("of.writer")).alias("writer")
    return found.select(*subject, writer, F.col("by.parent").alias("parent"), "kind")


def settled(found: DataFrame, nodes: DataFrame) -> DataFrame:
    """Decide which UNSURE links are INVERTED and which are LATE, by the ranks of all entries of their logs.

    Reads:  found: `edges`; nodes: NODE.  Gives: the columns of `found`.  Rows: one per row.
    """
    is_unsure = F.col("kind") == UNSURE
    unsure = found.where(is_unsure)
    of_logs = nodes.join(unsure.select("namespace").distinct(), "namespace", "left_semi")
    ranks = ranked(of_logs).select("namespace", "record_id", "rank")
    of_parents = ranks.withColumnsRenamed({"record_id": "parent", "rank": "parent_rank"})
    kind = F.when(F.col("parent_rank") >= F.col("rank"), INVERTED).otherwise(LATE)
    decided = (
        unsure.join(ranks, ["namespace", "record_id"]).join(of_parents, ["namespace", "parent"])
        .withColumn("kind", kind)
    )  # fmt: skip
    return found.where(~is_unsure).unionByName(decided.select(*found.columns))


def counted(found: DataFrame) -> DataFrame:
    """Count what a state has of each log.

    Reads:  `edges`.
    Gives:  namespace, links (heads, and links to missing parents), is_inverted and is_unsure (the log has such a link).
    Rows:   one per log with an edge.
    """
    return found.groupBy("namespace").agg(
        F.count_if(F.col("kind").isin(HEAD, MISSING)).alias("links"),
        F.bool_or(F.col("kind") == INVERTED).alias("is_inverted"),
        F.bool_or(F.col("kind") == UNSURE).alias("is_unsure"),
    )


def walked(found: DataFrame) -> DataFrame:
    """Give the logs with a link that is inverted or may be.

    Reads:  `edges`.  Gives: namespace.  Rows: one per such log.
    """
    return found.where(F.col("kind").isin(INVERTED, UNSURE)).select("namespace").distinct()


def not_ok(found: DataFrame) -> DataFrame:
    """Give the entries whose time is not greater than that of all their stored parents.

    Reads:  `edges`.  Gives: namespace, record_id.  Rows: one per such entry.
    """
    return found.where(F.col("kind").isin(LATE, INVERTED, UNSURE)).select("namespace", "record_id").distinct()


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
