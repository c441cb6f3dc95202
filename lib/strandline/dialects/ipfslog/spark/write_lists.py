"""The write lists that logs name: each is there once by its digest, and logs have the digest.

Any number of logs can name a manifest with some 300,000 writers: rows with log and text would be their product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.codec import ANYONE, KEY_PREFIX
from strandline.dialects.ipfslog.spark.hints import Hint, hint_of, is_small, name_bytes
from strandline.frames.lift import map_batches
from strandline.frames.union import union

_FILLED: Final = {"reducer_version": "listed_version", "configuration": "listed_configuration"}


@dataclass(frozen=True, slots=True)
class WriteLists:
    """The write lists of logs that not everyone may write.

    - `lists`: list_id, write: each list once, of the operator's file, of carries and of manifests.
    - `of_manifests`: list_id, store, write: each list of a manifest once for each store of its logs; None without any.
    - `hint`: that of joins with the texts of the lists.
    """

    lists: DataFrame
    of_manifests: DataFrame | None
    hint: Hint

    def keep(self, entries: DataFrame) -> DataFrame:
        """Keep the entries whose writer, or key, is on their list, and those without a list.

        Reads:  entries: list_id (null: everyone may write), writer, key, ..
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
        texts = self.lists.select("list_id", F.explode(F.array_distinct("write")).alias("text"))
        found = entries
        for name, text in allowed.items():
            named = self.hint(texts.withColumn(name, F.lit(True)))
            found = found.withColumn("text", text).join(named, ["list_id", "text"], "left").drop("text")
        return found.where(F.col("list_id").isNull() | F.coalesce(*allowed)).select(*entries.columns)

    def expanded(self, logs: DataFrame) -> DataFrame:
        """Fill in the write lists of logs, for rows that must have them: a copy for each log.

        Reads:  list_id, write (null for the list of a manifest), ..
        Gives:  the columns of `logs`.
        Rows:   one per row.
        """
        filled = logs.join(self.lists.withColumnRenamed("write", "listed"), "list_id", "left")
        return filled.withColumn("write", F.coalesce("write", "listed")).select(*logs.columns)


def described(states: DataFrame, lists: WriteLists | None) -> DataFrame:
    """Fill in the configuration of logs with the list of a manifest; it is computed once for each list and store.

    Reads:  list_id, store, reducer_version and configuration (null for such logs), ..; lists: those of the logs, or
            None if everyone may write all of them.
    Gives:  the columns of `states`.
    Rows:   one per row.
    """
    if lists is None or lists.of_manifests is None:
        return states
    found = map_batches(
        lists.of_manifests.select(*kernels.LISTED_COLUMNS),
        kernels.listed_configurations,
        kernels.LISTED_SCHEMA,
    )
    filled = {name: F.coalesce(name, of_list) for name, of_list in _FILLED.items()}
    return states.join(found, ["list_id", "store"], "left").withColumns(filled).select(*states.columns)


def list_bytes() -> Column:
    """Return the bytes of rows with the texts of a list.  Reads: write."""
    return F.array_size("write").cast("bigint") * kernels.TEXT_BYTES + F.octet_length(
        F.concat_ws("", "write")
    )


def sizes() -> Column:
    """Aggregate logs to name_bytes; has_own, has_named (a log has a list, of a manifest); list_bytes of all logs.

    Reads:  namespace, list_id, write, list_bytes.
    """
    of_manifest = F.col("write").isNull()
    any_list = {"has_own": ~of_manifest & F.col("list_id").isNotNull(), "has_named": of_manifest}
    flags = (F.coalesce(F.bool_or(each), F.lit(False)).alias(name) for name, each in any_list.items())
    total = F.coalesce(F.sum("list_bytes"), F.lit(0))
    return F.struct(name_bytes().alias("name_bytes"), *flags, total.alias("list_bytes"))


def write_lists(configured: DataFrame, manifests: DataFrame, found: Row, jobs: Jobs) -> WriteLists | None:
    """Return the write lists of logs, or None if everyone may write all of them.

    The bytes of the lists are counted only if they are too many with a copy for each log.

    Reads:  configured: list_id, store, write, as a checkpoint; manifests: rows of `ipfs_log_manifest`; found: `sizes`
            of `configured`.
    """
    parts, of_manifests = [], None
    named = configured.where("list_id IS NOT NULL")
    if found["has_own"]:
        own = named.where("write IS NOT NULL").groupBy("list_id")
        parts.append(own.agg(F.first("write").alias("write")))
    if found["has_named"]:
        pairs = named.where("write IS NULL").select("list_id", "store").distinct()
        stored = manifests.select(F.col("record_id").alias("list_id"), "write")
        parts.append(stored.join(pairs, "list_id", "left_semi"))
        of_manifests = pairs.join(stored, "list_id")
    if not parts:
        return None
    lists, size = union(parts), found["list_bytes"]
    if not is_small(size):
        size = jobs.row(lists.agg(F.sum(list_bytes()).alias("bytes")))["bytes"]
    return WriteLists(lists, of_manifests, hint_of(size))
