"""The end of a log from its first new entry on: new positions there, and unchanged ones before."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog.reduce import ORDER_BLOCK
from strandline.dialects.ipfslog.spark import order
from strandline.dialects.ipfslog.spark.hints import Hint
from strandline.dialects.ipfslog.spark.logs import order_of

DIGEST_BYTES = 32
_CLOCK_BYTES = 32
"""The first bytes of a clock id that a border has. An id may be as long as an entry, and borders are broadcast."""


def first_new(new_entries: DataFrame) -> DataFrame:
    """Find the least (time, start of the clock id) of the new entries of each log: none of them is before it.

    Reads:  namespace, clock_time, clock_id, cid.
    Gives:  namespace, least (STRUCT<time, clock>).
    Rows:   one per log.
    """
    time, clock, _ = order_of()
    start = F.substring(clock, 1, _CLOCK_BYTES)
    least = F.min(F.struct(time.alias("time"), start.alias("clock")))
    return new_entries.groupBy("namespace").agg(least.alias("least"))


def _clock() -> Column:
    time, clock, _ = order_of()
    return F.struct(time.alias("time"), clock.alias("clock"))


def borders(entries: DataFrame, configured: DataFrame, least: DataFrame, hint: Hint) -> DataFrame:
    """Count the entries of logs, and those before the first new entry.

    Reads:  entries: namespace, clock_time, clock_id, cid: all entries whose writer is on the write list; configured:
            namespace, bucket, old_blocks, old_groups; least: `first_new`; hint: that of `configured`.
    Gives:  namespace, bucket, least, entries, before (entries that keep their position), kept_blocks, kept_groups
            (unchanged hashes, or null), first_block (place of the first block that is hashed again).
    Rows:   one per row of `configured`.
    """
    clocks = configured.select("namespace").join(least, "namespace", "left")
    is_before = F.col("least").isNull() | (_clock() < F.col("least"))
    counted = (
        entries.join(hint(clocks), "namespace")
        .groupBy("namespace")
        .agg(F.count(F.lit(1)).alias("entries"), F.count_if(is_before).alias("before"))
    )
    zero = F.lit(0).cast("bigint")
    found = (
        configured.select("namespace", "bucket", "old_blocks", "old_groups")
        .join(least, "namespace", "left").join(counted, "namespace", "left")
        .withColumns({"entries": F.coalesce("entries", zero), "before": F.coalesce("before", zero)})
    )  # fmt: skip
    whole_blocks = F.floor(F.col("before") / ORDER_BLOCK).cast("int")
    first = F.when(F.col("old_blocks").isNull(), 0).otherwise(whole_blocks)
    kept = F.substring(F.col("old_blocks"), F.lit(1), F.col("first_block") * DIGEST_BYTES)
    return found.withColumn("first_block", first).select(
        "namespace", "bucket", "least", "entries", "before", kept.alias("kept_blocks"),
        F.col("old_groups").alias("kept_groups"), "first_block",
    )  # fmt: skip


def from_borders(entries: DataFrame, found: DataFrame, hint: Hint) -> DataFrame:
    """Keep the entries that are not before the first new entry of their log.

    Reads:  entries: namespace, clock_time, clock_id, cid, ..; found: `borders`; hint: that of `found`.
    Gives:  the columns of `entries`.
    Rows:   at most one per row.
    """
    least = found.where("least IS NOT NULL").select("namespace", "least")
    return entries.join(hint(least), "namespace").where(_clock() >= F.col("least")).drop("least")


def placed(behind: DataFrame, found: DataFrame, stored: DataFrame, late: DataFrame, hint: Hint) -> DataFrame:
    """Shape the ends of logs to rows of `ipfs_log_view`.

    Reads:  behind: `from_borders`, with dag.NODE; found: `borders`; stored: rows of `ipfs_log_view`; late: namespace,
            record_id of entries that are no longer ok because of new entries; hint: that of `found`.
    Gives:  the columns of `ipfs_log_view`.
    Rows:   one per row of `behind`.
    """
    key = ["namespace", "record_id"]
    before = hint(found.select("namespace", "before"))
    was_ok = (
        stored.join(before, "namespace").where((F.col("position") > F.col("before")) & ~F.col("clock_ok"))
        .select(*key)
    )  # fmt: skip
    not_ok = was_ok.unionByName(late.select(*key)).distinct().withColumn("clock_ok", F.lit(False))
    places = order.ranked(behind).join(before, "namespace").join(not_ok, key, "left")
    return order.as_view(
        places.withColumns(
            {
                "position": F.col("rank") + F.col("before"),
                "clock_ok": F.coalesce("clock_ok", F.lit(True)),
                "mode": F.lit("sort"),
            }
        )
    )


def first_block(stored: DataFrame, found: DataFrame, hint: Hint) -> DataFrame:
    """Keep the stored positions before the new entries in the blocks that are hashed again.

    Reads:  stored: rows of `ipfs_log_view`; found: `borders`; hint: that of `found`.
    Gives:  namespace, position, record_id.
    Rows:   at most one per row.
    """
    start = F.col("first_block") * F.lit(ORDER_BLOCK)
    columns = hint(found.select("namespace", "before", start.alias("start")))
    return (
        stored.select("namespace", "position", "record_id").join(columns, "namespace")
        .where((F.col("position") > F.col("start")) & (F.col("position") <= F.col("before")))
        .select("namespace", "position", "record_id")
    )  # fmt: skip
