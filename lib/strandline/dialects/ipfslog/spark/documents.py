"""The stores of logs as rows: the newest value of each key, the greatest count of each id."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog.spark.hints import Hint
from strandline.frames.digests import digests_of_runs

DOCUMENT = (
    "namespace", "bucket", "document_key", "store", "record_id", "item", "deleted", "value_json",
)  # fmt: skip


def effects(entries: DataFrame, logs: DataFrame, hint: Hint) -> DataFrame:
    """Give the effects of entries on the store of their log.

    Reads:  entries: namespace, bucket, record_id, ops; logs: namespace, store, of logs whose store
            has rows; hint: that of these logs.
    Gives:  DOCUMENT; `value_json` of a count is at least 0.
    Rows:   one per effect that the store applies.
    """
    stores = hint(logs.select("namespace", "store"))
    each = entries.join(stores, "namespace").select(
        "namespace", "bucket", "store", "record_id", F.explode("ops").alias("effect")
    )
    store, op = F.col("store"), F.col("effect.op")
    fits = (
        ((store == "keyvalue") & op.isin("PUT", "DEL"))
        | ((store == "documents") & op.isin("PUT", "DEL", "PUTALL"))
        | ((store == "counter") & (op == "COUNTER"))
    )
    below_zero = (store == "counter") & (F.col("effect.value_json").cast("double") <= 0)
    deleted = op == "DEL"
    value = F.when(below_zero, F.lit("0")).when(~deleted, F.col("effect.value_json"))
    return each.where(fits & F.col("effect.op_key").isNotNull()).select(
        "namespace", "bucket", F.col("effect.op_key").alias("document_key"), "store", "record_id",
        F.col("effect.item").alias("item"), deleted.alias("deleted"), value.alias("value_json"),
    )  # fmt: skip


def winners(candidates: DataFrame) -> DataFrame:
    """Keep the effect that sets each key: the greatest count of a counter; else, and of equal counts, the newest.

    Reads:  DOCUMENT, position of the entry.
    Gives:  DOCUMENT.
    Rows:   one per key. Of several items of one entry the first counts.
    """
    count = F.when(F.col("store") == "counter", F.col("value_json").cast("double")).otherwise(0.0)
    rank = F.struct(count.alias("count"), "position", (-F.col("item")).alias("before"))
    row = F.struct("record_id", "item", "deleted", "value_json")
    best = candidates.groupBy("namespace", "bucket", "document_key", "store").agg(
        F.max_by(row, rank).alias("best")
    )
    return best.select("namespace", "bucket", "document_key", "store", "best.*").select(*DOCUMENT)


def group_of(document_key: Column) -> Column:
    """Return the group of a key: the first byte of its SHA-256."""
    return F.conv(F.substring(F.sha2(document_key, 256), 1, 2), 16, 10).cast("int")


def group_digests(documents: DataFrame) -> DataFrame:
    """Hash rows of `ipfs_log_document` by group.

    Reads:  DOCUMENT: all rows of each group that has a row.
    Gives:  namespace, groups (ARRAY<STRUCT<place INT, digest>>).
    Rows:   one per log.
    """
    encoded = F.concat(
        F.unhex(F.sha2("document_key", 256)),
        F.col("record_id"),
        F.unhex(F.lpad(F.hex(F.col("item")), 8, "0")),
        F.when(F.col("deleted"), F.lit(b"\x01")).otherwise(F.lit(b"\x00")),
        F.unhex(F.sha2(F.coalesce("value_json", F.lit("")), 256)),
    )
    runs = documents.select(
        "namespace", group_of(F.col("document_key")).alias("place"), encoded.alias("value")
    )
    digests = digests_of_runs(runs, order="value")
    return digests.groupBy("namespace").agg(F.collect_list(F.struct("place", "digest")).alias("groups"))
