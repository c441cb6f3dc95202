"""Logs and their configuration; entries whose writer is on the write list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.codec import ANYONE, KEY_PREFIX
from strandline.dialects.ipfslog.reduce import STORES_WITH_ROWS, LogConfiguration
from strandline.dialects.ipfslog.spark.hints import Hint
from strandline.frames.lift import map_batches, series_udf

ORDER = ("clock_time", "clock_id", "cid")
"""The columns of k, the order of entries."""


def counted(entries: DataFrame) -> DataFrame:
    """Count the entries of each log.

    Reads:  namespace, bucket.  Gives: namespace, bucket, record_count.  Rows: one per log.
    """
    return entries.groupBy("namespace", "bucket").agg(F.count(F.lit(1)).alias("record_count"))


def configured(
    logs: DataFrame,
    manifests: DataFrame,
    carries: DataFrame | None,
    operator_config: Mapping[str, LogConfiguration],
) -> DataFrame:
    """Add the configuration of each log: from the operator's file, else from the manifests that its id commits to.

    Reads:  logs: namespace; manifests: rows of `ipfs_log_manifest`; carries: namespace, carry, of logs with pruned
            entries; a carry takes precedence.
    Gives:  the columns of `logs`, store, write, whence, depends_on (ARRAY<BINARY>), reducer_version, configuration,
            is_refused (the file differs from the carry), is_bereft (the carry is gone or cannot be read).
    Rows:   one per row.
    """
    found = chains(logs, manifests)
    if carries is None:
        found = found.withColumn("carry", F.lit(None).cast("binary"))
    else:
        found = found.join(carries, "namespace", "left")
    configurations = map_batches(
        found, kernels.configurations, kernels.CONFIGURATION_SCHEMA, operator_config=operator_config
    )
    return logs.join(configurations, "namespace")


def chains(logs: DataFrame, manifests: DataFrame) -> DataFrame:
    """Follow the manifests that logs commit to: database, controller, list; a chain has at most three.

    Reads:  logs: namespace; manifests: rows of `ipfs_log_manifest`.
    Gives:  namespace, log_id, manifests (ARRAY<STRUCT<MANIFEST_COLUMNS>>, the stored ones).
    Rows:   one per row of `logs`.
    """
    access = series_udf(kernels.access_digests, pa.binary())
    stored = manifests.select(*kernels.MANIFEST_COLUMNS).withColumn("leads_to", access("access"))
    log_id = F.url_decode(F.substring_index("namespace", ":", -1))
    chain = logs.select("namespace", log_id.alias("log_id")).withColumn(
        "leads_to_0", series_udf(kernels.database_digests, pa.binary())("log_id")
    )
    for step in range(3):
        named = stored.select(
            F.col("record_id").alias(f"leads_to_{step}"),
            F.struct(*kernels.MANIFEST_COLUMNS).alias(f"manifest_{step}"),
            F.col("leads_to").alias(f"leads_to_{step + 1}"),
        )
        chain = chain.join(named, f"leads_to_{step}", "left")
    followed = F.filter(
        F.array(*(F.col(f"manifest_{step}") for step in range(3))), lambda manifest: manifest.isNotNull()
    )
    return chain.select("namespace", "log_id", followed.alias("manifests"))


def listed(entries: DataFrame, logs: DataFrame, hint: Hint) -> DataFrame:
    """Keep the entries whose writer, or key, is on the write list of their log.

    Reads:  entries: namespace, writer, key, ..; logs: namespace, write; hint: that of their lists.
    Gives:  the columns of `entries`.
    Rows:   at most one per row. The length of a list makes no difference to an entry.
    """
    # `*` is an expression of the row, too: for a constant, Spark would broadcast the lists another time.
    anyone = F.substring(F.concat(F.lit(ANYONE), "writer"), 1, len(ANYONE))
    allowed = {
        "of_anyone": anyone,
        "of_writer": F.col("writer"),
        "of_key": F.concat(F.lit(KEY_PREFIX), "key"),
    }
    lists = logs.select("namespace", F.explode(F.array_distinct("write")).alias("text"))
    found = entries
    for name, text in allowed.items():
        named = hint(lists.withColumn(name, F.lit(True)))
        found = found.withColumn("text", text).join(named, ["namespace", "text"], "left").drop("text")
    return found.where(F.coalesce(*allowed)).select(*entries.columns)


def has_documents() -> Column:
    """True for a log whose store has rows."""
    return F.col("store").isin(*sorted(STORES_WITH_ROWS))


class Present(NamedTuple):
    """What there is among some logs: stored rows of one, and one whose store has rows."""

    stored: bool
    stores: bool


def present(which: Column | None = None) -> Column:
    """Aggregate logs to the values of `Present`: all, or those for which a condition is true.

    Reads:  is_known (rows of the log may be stored), store.
    """
    values = zip(Present._fields, (F.col("is_known"), has_documents()), strict=True)
    counted = (
        F.coalesce(F.bool_or(value if which is None else which & value), F.lit(False)).alias(name)
        for name, value in values
    )
    return F.struct(*counted)


def order_of(side: str = "") -> list[Column]:
    """Return the columns that order entries: time, clock id by UTF-16 code units, address."""
    prefix = f"{side}." if side else ""
    return [
        F.col(f"{prefix}clock_time"),
        F.encode(F.col(f"{prefix}clock_id"), "UTF-16BE"),
        F.col(f"{prefix}cid"),
    ]


def key_of(side: str) -> Column:
    """Return the order of an entry, k, as one comparable value."""
    time, clock, cid = order_of(side)
    return F.struct(time.alias("time"), clock.alias("clock"), cid.alias("cid"))
