"""Checkpoints and their leaves: which ones are newest, which leaves count, what is new and what is gone."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.frames.known import KEY

STATED: Final = ("seq", "size", "root", "origin", "public_key", "note")
"""The columns of a checkpoint that the next one builds on."""


def newest(checkpoints: DataFrame) -> DataFrame:
    """Keep the newest checkpoint of each namespace.  Gives: namespace, dialect, STATED.  Rows: one per namespace."""
    last = F.max_by(F.struct("dialect", *STATED), "seq").alias("last")
    return checkpoints.groupBy("namespace").agg(last).select("namespace", "last.*")


def published(leaves: DataFrame, checkpoints: DataFrame) -> DataFrame:
    """Keep the leaves of checkpoints; others are from killed or overtaken runs.

    Reads:  rows of `checkpoint_leaf`; of `checkpoint`.
    Gives:  namespace, position, record_id.
    Rows:   at most one per row.
    """
    of = ("namespace", "attempt")
    stated = checkpoints.where("size > prev_size").select(*of)
    # Without the id a leaf is missing; NOT NULL keeps out only writers that respect it.
    whole = leaves.where("position IS NOT NULL AND record_id IS NOT NULL")
    return whole.join(stated, list(of), "left_semi").select("namespace", "position", "record_id")


def ids_of(records: DataFrame, dialect: str) -> DataFrame:
    """Return the ids of records of a dialect.  Gives: KEY, bucket, dialect.  Rows: one per row."""
    return records.select(*KEY, "bucket", F.lit(dialect).alias("dialect"))


def counted(records: DataFrame) -> DataFrame:
    """Return how many records each namespace has; one that is held and pruned counts twice.

    Reads:  namespace, dialect.  Gives: namespace, dialect, records.  Rows: one per namespace.
    """
    return records.groupBy("namespace").agg(
        F.max("dialect").alias("dialect"), F.count(F.lit(1)).alias("records")
    )


def with_counts(newest: DataFrame, counts: DataFrame) -> DataFrame:
    """Return the newest checkpoint of each namespace beside the number of its records.

    Reads:  `newest`; `counted`.
    Gives:  namespace, dialect, STATED (null without a checkpoint), old_size, records (both 0 if there are none).
    Rows:   one per namespace that has a record or a checkpoint.
    """
    stated = newest.withColumnRenamed("dialect", "stated_dialect")
    joined = counts.join(stated, "namespace", "full_outer")
    zero = F.lit(0).cast("bigint")
    return joined.withColumns(
        {
            "dialect": F.coalesce("dialect", "stated_dialect"),
            "old_size": F.coalesce("size", zero),
            "records": F.coalesce("records", zero),
        }
    ).drop("stated_dialect")


def compared(ids: DataFrame, leaves: DataFrame) -> DataFrame:
    """Compare the records of namespaces with the leaves of their trees.

    Reads:  ids: KEY, distinct; leaves: `published`.
    Gives:  KEY, position (null for a record without a leaf), is_held (false for a leaf without a record).
    Rows:   one per record or leaf.
    """
    held = ids.withColumn("is_held", F.lit(True))
    return held.join(leaves, list(KEY), "full_outer").fillna(False, ["is_held"])


def is_signed_by(origin: str, key: bytes) -> Column:
    """Return whether a checkpoint is signed with this origin and this public key; false without a checkpoint."""
    return F.col("origin").eqNullSafe(F.lit(origin)) & F.col("public_key").eqNullSafe(F.lit(key))
