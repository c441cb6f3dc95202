"""Logs as a CAR: heads, and blocks in the order of the file."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.frames.logs import ORDER

PARTITION_BYTES: Final = 32 * 1024 * 1024
PLACE: Final = ("place", "namespace", *ORDER)


def heads(entries: DataFrame) -> DataFrame:
    """Keep the entries that no entry of their log names in `next`.

    Reads:  namespace, record_id, next.
    Gives:  the columns of `entries`.
    Rows:   at least one per log, since a DAG has no cycles.
    """
    named = entries.select("namespace", F.explode("next").alias("record_id"))
    return entries.join(named, ["namespace", "record_id"], "left_anti")


def only_named(identities: DataFrame, entries: DataFrame) -> DataFrame:
    """Keep the identities of entries.

    Reads:  identities: record_id; entries: identity_digest.  Gives: the columns of `identities`.  Rows: at most one per
    row.
    """
    named = entries.select(F.col("identity_digest").alias("record_id")).distinct()
    return identities.join(named, "record_id", "left_semi")


def only_followed(manifests: DataFrame, chains: DataFrame) -> DataFrame:
    """Keep the manifests that logs commit to.

    Reads:  manifests: record_id; chains: what `logs.chains` gives.
    Gives:  the columns of `manifests`.
    Rows:   at most one per row.
    """
    followed = chains.select(F.explode("manifests").alias("manifest"))
    named = followed.select(F.col("manifest.record_id").alias("record_id")).distinct()
    return manifests.join(named, "record_id", "left_semi")


def blocks(identities: DataFrame, manifests: DataFrame, entries: DataFrame) -> DataFrame:
    """Shape what goes into a CAR: identities first, so that no entry waits, then manifests, then entries by k.

    Reads:  namespace, cid, block of each; clock_time, clock_id of entries.
    Gives:  PLACE, block.
    Rows:   one per row of each.
    """
    others = [
        rows.select(
            F.lit(place).alias("place"), "namespace", F.lit(0).cast("bigint").alias("clock_time"),
            F.lit("").alias("clock_id"), "cid", "block",
        )
        for place, rows in enumerate((identities, manifests))
    ]  # fmt: skip
    of_logs = entries.select(F.lit(len(others)).alias("place"), *PLACE[1:], "block")
    return others[0].unionByName(others[1]).unionByName(of_logs)


def sections(placed: DataFrame, size: int) -> DataFrame:
    """Write blocks as sections of a CAR, in the order of the file, so many to a partition that one is little to hold.

    Reads:  PLACE, block; `size` is about how many bytes the blocks have.
    Gives:  content BINARY, records.
    Rows:   one per MiB or so.
    """
    in_order = placed.repartitionByRange(1 + size // PARTITION_BYTES, *PLACE).sortWithinPartitions(*PLACE)
    return in_order.mapInArrow(kernels.sections, from_arrow_schema(kernels.SECTION_SCHEMA))
