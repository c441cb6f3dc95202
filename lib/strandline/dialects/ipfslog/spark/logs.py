"""Logs and their configuration; entries whose writer is on the write list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.reduce import STORES_WITH_ROWS, LogConfiguration
from strandline.dialects.ipfslog.spark.hints import Hint
from strandline.dialects.ipfslog.spark.write_lists import WriteLists, list_bytes
from strandline.frames.lift import map_batches, series_udf

ORDER = ("clock_time", "clock_id", "cid")
"""The columns of k, the order of entries."""
_TEXT_CHARS: Final = 512
"""More characters than any type has, and any address that leads to a manifest: `MAX_CID_CHARS` and a prefix."""


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
    Gives:  the columns of `logs`, and the others of `kernels.CONFIGURATION_SCHEMA`.
    Rows:   one per row.
    """
    found = chains(logs, manifests, has_carries=carries is not None)
    if carries is None:
        found = found.withColumn("carry", F.lit(None).cast("binary"))
    else:
        found = found.join(carries, "namespace", "left")
    configurations = map_batches(
        found, kernels.configurations, kernels.CONFIGURATION_SCHEMA, operator_config=operator_config
    )
    return logs.join(configurations, "namespace")


def chains(logs: DataFrame, manifests: DataFrame, *, has_carries: bool = False) -> DataFrame:
    """Follow the manifests that logs commit to: database, controller, list; a chain has at most three.

    Reads:  logs: namespace; manifests: rows of `ipfs_log_manifest`.
    Gives:  namespace, log_id, manifests (ARRAY<STRUCT<kernels.MANIFEST_COLUMNS>>, the stored ones; without
            `has_carries`, `list_digest` is null).
    Rows:   one per row of `logs`, of limited size.
    """
    access = series_udf(kernels.access_digests, pa.binary())
    stored = limited(manifests, has_carries=has_carries).withColumn("leads_to", access("access"))
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


def limited(manifests: DataFrame, *, has_carries: bool) -> DataFrame:
    """Shape manifests to `kernels.MANIFEST_COLUMNS`: many logs may name one, whose texts may be as long as a block."""
    digest = F.lit(None).cast("binary")
    if has_carries:
        size = F.octet_length
        texts = F.transform("write", lambda text: F.concat(size(text).cast("string"), F.lit(":"), text))
        digest = F.when(F.col("write").isNotNull(), F.unhex(F.sha2(F.concat_ws("", texts), 256)))
    starts = (F.substring(text, 1, _TEXT_CHARS).alias(text) for text in ("type", "access"))
    measures = (list_bytes().alias("list_bytes"), digest.alias("list_digest"))
    return manifests.select("record_id", "kind", *starts, *measures)


def listed(entries: DataFrame, logs: DataFrame, hint: Hint, lists: WriteLists | None) -> DataFrame:
    """Keep the entries whose writer, or key, is on the write list of their log.

    Reads:  entries: namespace, writer, key, ..; logs: namespace, list_id; hint: that of `logs`; lists: those of `logs`,
            or None if everyone may write all of them.
    Gives:  the columns of `entries`.
    Rows:   at most one per row.
    """
    if lists is None:
        return entries.join(hint(logs.select("namespace")), "namespace", "left_semi")
    named = entries.join(hint(logs.select("namespace", "list_id")), "namespace")
    return lists.keep(named).select(*entries.columns)


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
