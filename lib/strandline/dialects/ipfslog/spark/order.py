"""The order of logs: ranks by k, positions of a walk, hashes of the order."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.reduce import ORDER_BLOCK
from strandline.dialects.ipfslog.spark.logs import order_of
from strandline.frames.digests import digests_of_runs
from strandline.frames.lift import map_batches
from strandline.frames.links import distinct


def ranked(nodes: DataFrame) -> DataFrame:
    """Add the rank of each entry by k.

    Reads:  namespace, record_id, clock_time, clock_id, cid, ..
    Gives:  the columns of `nodes`, rank (INT from 1) and tied: another entry has the same time and clock id.
    Rows:   one per row.
    """
    by_key = Window.partitionBy("namespace").orderBy(*order_of())
    clock = F.struct("clock_time", "clock_id")
    neighbours = [F.lag(clock).over(by_key), F.lead(clock).over(by_key)]
    tied = [F.coalesce(neighbour == clock, F.lit(False)) for neighbour in neighbours]
    return nodes.withColumns({"rank": F.row_number().over(by_key), "tied": tied[0] | tied[1]})


def walk_positions(nodes: DataFrame, places: DataFrame) -> DataFrame:
    """Compute the positions of a walk from the heads.

    Reads:  nodes: namespace, record_id, variant, next; places: namespace, record_id, rank, of the same entries.
    Gives:  namespace, rank, position.
    Rows:   one per entry. Two joins turn links into integers; one task walks a log over these.
    """
    child = nodes.join(places.select("namespace", "record_id", "rank"), ["namespace", "record_id"])
    named = child.select("namespace", "rank", F.explode(distinct("next")).alias("record_id"))
    parent = places.select("namespace", "record_id", F.col("rank").alias("parent"))
    parents = (
        named.join(parent, ["namespace", "record_id"])
        .groupBy("namespace", "rank")
        .agg(F.transform(F.collect_list("parent"), lambda rank: rank - 1).alias("parents"))
    )
    core = nodes.groupBy("namespace").agg(F.bool_and(F.col("variant") == "core2").alias("is_core"))
    none = F.array().cast("array<int>")
    grouped = (
        child.select("namespace", "rank").join(parents, ["namespace", "rank"], "left").join(core, "namespace")
        .select("namespace", (F.col("rank") - 1).alias("rank"), "is_core",
                F.coalesce("parents", none).alias("parents"))
        .repartition("namespace").sortWithinPartitions("namespace", "rank")
    )  # fmt: skip
    walked = map_batches(grouped.select(*kernels.WALK_COLUMNS), kernels.walk_positions, kernels.WALK_SCHEMA)
    return walked.select("namespace", (F.col("rank") + 1).alias("rank"), "position")


def as_view(places: DataFrame) -> DataFrame:
    """Shape entries with positions to the contract of `ipfs_log_view`.

    Reads:  namespace, bucket, record_id, clock_time, clock_id, tied, position, mode, clock_ok.
    Rows:   one per row.
    """
    return places.select(
        "namespace", "bucket", "record_id", F.col("position").cast("bigint").alias("position"), "clock_time",
        "clock_id", "mode", "tied", "clock_ok",
    )  # fmt: skip


def block_digests(places: DataFrame) -> DataFrame:
    """Hash the order, ORDER_BLOCK positions per hash.

    Reads:  namespace, position, record_id: all positions of each block that has a row.
    Gives:  namespace, blocks (ARRAY<STRUCT<place INT from 0, digest>>).
    Rows:   one per log. A task keeps only one hash in memory.
    """
    block = F.floor((F.col("position") - 1) / ORDER_BLOCK).cast("int")
    runs = places.select("namespace", block.alias("place"), "position", F.col("record_id").alias("value"))
    digests = digests_of_runs(runs, order="position")
    return digests.groupBy("namespace").agg(F.collect_list(F.struct("place", "digest")).alias("blocks"))
