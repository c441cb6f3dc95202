"""Clock forks: one key that appended two entries with one time."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.reduce import FORK_KIND
from strandline.dialects.ipfslog.types import DIALECT
from strandline.frames.crowds import crowds
from strandline.frames.lift import map_batches, series_udf
from strandline.frames.states import as_equivocation

CLOCK = ("namespace", "key", "clock_time")
"""The columns of a clock: an honest writer uses each value once."""
_MARK = ("namespace", "clock_time", "key_hash")


def clock_marks(entries: DataFrame) -> DataFrame:
    """Give the clocks of entries in rows of limited size: in the profile `compat` a key may be as long as an entry.

    Reads:  CLOCK, variant.  Gives: namespace, clock_time, key_hash.  Rows: one per clock, seldom one for several.
    """
    return _marked(entries.where("variant <> 'v0'")).select(*_MARK).distinct()


def at_marks(entries: DataFrame, marks: DataFrame) -> DataFrame:
    """Keep the entries at these clocks, and those with a key of the same hash.

    Reads:  entries: CLOCK, ..; marks: `clock_marks`.  Gives: the columns of `entries`.  Rows: at most one per row.
    """
    return _marked(entries).join(marks, list(_MARK), "left_semi").select(*entries.columns)


def _marked(entries: DataFrame) -> DataFrame:
    return entries.withColumn("key_hash", F.xxhash64("key"))


def repeated_clocks(entries: DataFrame) -> DataFrame:
    """Give the clocks that several entries carry.

    Reads:  CLOCK, variant.  Gives: CLOCK.  Rows: one per clock with two entries or more; v0 never counts.
    """
    counted = entries.where("variant <> 'v0'").groupBy(*CLOCK).agg(F.count(F.lit(1)).alias("entries"))
    return counted.where("entries > 1").select(*CLOCK)


def without_twins(entries: DataFrame, clocks: DataFrame) -> DataFrame:
    """Keep the entries at these clocks; of twins (equal signed bytes) only the one with the least id.

    Reads:  entries: CLOCK, bucket, variant, record_id, block (null: it has no twin); clocks: CLOCK.
    Gives:  CLOCK, bucket, record_id.
    Rows:   one per clock and signed bytes.
    """
    each = entries.where("variant <> 'v0'").join(clocks, list(CLOCK), "left_semi")
    digest = series_udf(kernels.signed_digests, pa.binary())
    signed = each.withColumn("signed", F.coalesce(digest("block"), "record_id"))
    return (
        signed.groupBy(*CLOCK, "bucket", "signed").agg(F.min("record_id").alias("record_id")).drop("signed")
    )


def forks(members: DataFrame, entries: DataFrame) -> DataFrame:
    """Shape clocks with several different entries to the contract of `equivocation`.

    Reads:  members: `without_twins`; entries: namespace, record_id, block.
    Gives:  the columns of `equivocation`.
    Rows:   one per such clock.
    """
    with_ids = crowds(members, (*CLOCK, "bucket")).select(
        "namespace", "bucket", "key", F.col("clock_time").cast("string").alias("position"), "members", "member_count",
        F.col("shown_a").alias("id_a"), F.col("shown_b").alias("id_b"),
    )  # fmt: skip
    for side in "ab":
        block = entries.select(
            "namespace", F.col("record_id").alias(f"id_{side}"), F.col("block").alias(f"bytes_{side}")
        )
        with_ids = with_ids.join(block, ["namespace", f"id_{side}"])
    place = ["namespace", "key", "position"]
    proven = map_batches(with_ids.select(*kernels.PROOF_COLUMNS), kernels.proofs, kernels.PROOF_SCHEMA)
    return as_equivocation(with_ids.join(proven, place), dialect=DIALECT, kind=FORK_KIND, attributable=True)
