"""What is to be written on own journals, in which order, and the lines that it becomes."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import journal_rows, records
from strandline.dialects.sdmp.spark.resources import PAIR
from strandline.frames.lift import map_groups

ORDER = ("is_new", "peer", "ingest_no", "unordered", "seq", "line", "digest", "pos")
"""Order of writing: what is held before what peers name; of the first run, seq (null last), frame, place in it; of the
second peer, n, record id."""


def pending(held: DataFrame, lines: DataFrame) -> DataFrame:
    """Keep the resources that no line of their node names.

    Reads:  the columns of `node_resource`; of lines the pair columns.
    Gives:  PAIR and ORDER.
    Rows:   at most one per row.
    """
    unwritten = held.join(_pairs(lines), list(PAIR), "left_anti")
    return unwritten.select(
        *PAIR,
        F.lit(False).alias("is_new"),
        F.lit("").alias("peer"),
        "ingest_no",
        F.col("seq").isNull().alias("unordered"),
        "seq",
        F.col("frame_no").alias("line"),
        F.col("frame_hash").alias("digest"),
        "pos",
    )


def new_pairs(named: DataFrame, lines: DataFrame, held: DataFrame) -> DataFrame:
    """Keep the pairs that peers name and that are neither on a line of the own node nor held by it.

    Reads:  named: PAIR, peer, n, record_id; of lines and held the pair columns.
    Gives:  PAIR and ORDER.
    Rows:   one per (namespace, pair): that of the least peer, n, record id.
    """
    unknown = named.join(_pairs(lines), list(PAIR), "left_anti").join(_pairs(held), list(PAIR), "left_anti")
    first = unknown.groupBy(*PAIR).agg(F.min(F.struct("peer", "n", "record_id")).alias("first"))
    return first.select(
        *PAIR,
        F.lit(True).alias("is_new"),
        "first.peer",
        F.lit(0).cast("bigint").alias("ingest_no"),
        F.lit(False).alias("unordered"),
        F.lit(None).cast("decimal(20,0)").alias("seq"),
        F.col("first.n").alias("line"),
        F.col("first.record_id").alias("digest"),
        F.lit(0).alias("pos"),
    )


def _pairs(rows: DataFrame) -> DataFrame:
    return rows.where("author_fp IS NOT NULL").select(*PAIR)


def placed(pairs: DataFrame) -> DataFrame:
    """Add place, from 1 in each namespace, in the order of writing.  Gives: PAIR, is_new, place.  Rows: one per row."""
    place = F.row_number().over(Window.partitionBy("namespace").orderBy(*ORDER))
    return pairs.select(*PAIR, "is_new", place.cast("bigint").alias("place"))


def ends(nodes: DataFrame, lines: DataFrame) -> DataFrame:
    """Give the end of each own journal: the tip of its trunk, or the fingerprint where no line is held.

    Reads:  node, namespace, bucket; the lines of these nodes.
    Gives:  node, namespace, bucket, tip_n, tip_line, next_n (1 where no line is held, else tip_n + 1).
    Rows:   one per node.
    """
    tops = lines.groupBy("namespace").agg(F.max("n").alias("n"))
    tips = journal_rows.tips(
        journal_rows.as_tip(lines.join(F.broadcast(tops), ["namespace", "n"], "left_semi"))
    )
    return nodes.join(tips.select("namespace", "tip_n", "tip_line"), "namespace", "left").select(
        "node",
        "namespace",
        "bucket",
        F.coalesce("tip_n", F.lit(1)).alias("tip_n"),
        F.coalesce("tip_line", "node").alias("tip_line"),
        (F.coalesce("tip_n", F.lit(0)) + 1).cast("bigint").alias("next_n"),
    )


def forked(lines: DataFrame) -> DataFrame:
    """Tell of journals with several leaves where their trunk ends, from their lines alone.

    Gives:  namespace, tip_hash, fork_count (1: it is forked), common_n (0: any line may be off the trunk).
    Rows:   one per journal that has more lines than positions.
    """
    counted = lines.groupBy("namespace").agg(F.count(F.lit(1)).alias("lines"), F.max("n").alias("n"))
    torn = counted.where("lines > n").select("namespace", "n")
    tips = journal_rows.tips(
        journal_rows.as_tip(lines.join(F.broadcast(torn), ["namespace", "n"], "left_semi"))
    )
    return tips.select("namespace", "tip_hash", F.lit(1).alias("fork_count"), F.lit(0).alias("common_n"))


def written(pairs: DataFrame, journal_ends: DataFrame, run_id: str) -> DataFrame:
    """Make the lines that continue each journal.

    Reads:  `placed`; `ends`.
    Gives:  the columns of `node_journal_line` and next_n.
    Rows:   one per pair, and line 1 of a journal of which no line is held.
    """
    known = F.broadcast(journal_ends)
    group = pairs.join(known, "namespace").select(
        "namespace", "tip_n", "tip_line", "place", "author_fp", "resource_id"
    )
    held = pairs.groupBy("namespace").agg(F.count(F.when(~F.col("is_new"), 1)).alias("held"))
    lines = map_groups(group, "namespace", kernels.write_lines, kernels.WRITTEN_SCHEMA)
    shaped = (
        lines.join(known, "namespace")
        .join(F.broadcast(held), "namespace")
        .select(
            "namespace", "bucket", "record_id", "profile", "n", "line_number", "line_hash", "author_fp", "resource_id",
            _origin().alias("origin"), F.lit(run_id).alias("run_id"), "next_n",
        )
    )  # fmt: skip
    bare = journal_ends.where("next_n = 1").join(held, "namespace", "left_semi")
    first = records.as_node_journal_line(records.implied(bare), origin="implied", run_id=run_id)
    return shaped.unionByName(first.withColumn("next_n", F.lit(1).cast("bigint")))


def _origin() -> Column:
    return F.when(F.col("n") <= F.col("tip_n") + F.col("held"), F.lit("announced")).otherwise(F.lit("synced"))
