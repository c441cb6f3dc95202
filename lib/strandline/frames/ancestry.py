"""Finds the records of a batch whose parents are accepted, or accepted in the same batch."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.frames.known import KEY
from strandline.frames.lift import map_batches
from strandline.frames.links import distinct
from strandline.kernels import ancestry as kernel


def missing_parents(candidates: DataFrame, accepted: DataFrame, links: str) -> DataFrame:
    """Find the parents that candidates wait for.

    Reads:  candidates: KEY and `links` (ARRAY<BINARY>), of records that are valid otherwise; accepted: KEY.
    Gives:  KEY, missing (ascending; empty if no parent is missing).
    Rows:   one per distinct candidate. One pass per namespace, only over the candidates.
    """
    every = candidates.select(*KEY, distinct(links).alias("parents")).dropDuplicates(list(KEY))
    named = every.select(*KEY, F.explode("parents").alias("parent"))
    known = accepted.select("namespace", F.col("record_id").alias("parent"))
    lacking = (
        named.join(known, ["namespace", "parent"], "left_anti")
        .groupBy(*KEY).agg(F.collect_list("parent").alias("lacking"))
    )  # fmt: skip
    none = F.array().cast("array<binary>")
    in_order = (
        every.join(lacking, list(KEY), "left").withColumn("lacking", F.coalesce("lacking", none))
        .select(*kernel.CANDIDATE_COLUMNS).repartition("namespace").sortWithinPartitions("namespace")
    )  # fmt: skip
    return map_batches(in_order, kernel.missing_parents, kernel.MISSING_SCHEMA)
