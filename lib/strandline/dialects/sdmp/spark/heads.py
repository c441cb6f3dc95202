"""Segments and their heads: the predecessor of each segment, at a cost that depends on the number of heads."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark.elements import CANDIDATE, SEGMENT, is_candidate
from strandline.dialects.sdmp.spark.line_columns import line_hash, namespace, number_or_null
from strandline.frames.buckets import bucket_of
from strandline.frames.lift import map_batches


def segments(facts: DataFrame, tallied: DataFrame, buckets: int) -> DataFrame:
    """Keep the head of each segment, with the length of the segment.

    Reads:  the elements with their facts; `elements.tally` of them.
    Gives:  SEGMENT, head_id (STRING, the segment's id), namespace, bucket, node, number (null: line 1), since, lines
            (BIGINT), is_chunk (BOOLEAN).
    Rows:   one per segment.
    """
    lengths = tallied.where(F.col("verdict") == CANDIDATE).select(*SEGMENT, "lines")
    heads = facts.where(is_candidate() & (F.col("idx") == F.col("head"))).select(
        *SEGMENT,
        F.concat_ws(":", *SEGMENT).alias("head_id"),
        namespace().alias("namespace"),
        "node",
        number_or_null().alias("number"),
        "since",
    )
    return (
        heads.join(lengths, list(SEGMENT))
        .withColumn("bucket", bucket_of(F.col("namespace"), buckets))
        .withColumn("is_chunk", F.lit(False))
    )


TEXT_LINE = ("file_no", "part", "idx", "hash", "raw")


def text_lines(facts: DataFrame) -> DataFrame:
    """Return the elements of text journals: TEXT_LINE."""
    return facts.where(F.col("frame") == kernels.TEXT_FRAME).select(*TEXT_LINE)


def candidates(facts: DataFrame) -> DataFrame:
    """Return the elements that passed every check of their file or frame: SEGMENT, node, idx, hash."""
    return facts.where(is_candidate()).select(*SEGMENT, "node", "idx", "hash")


def attached_to_first_lines(heads: DataFrame) -> DataFrame:
    """Add attached_n, the n of the predecessor, to heads that are line 1 (0) or follow it (1).

    Line 1 is a constant of the namespace, so no table is read.

    Reads:  number, node.  Gives: the columns of `heads` and attached_n (else null).  Rows: one per row.
    """
    first_hash = line_hash(F.col("node").cast("binary"), F.col("node"))
    attached = F.when(F.col("number").isNull(), F.lit(0)).when(F.col("number") == first_hash, F.lit(1))
    return heads.withColumn("attached_n", attached.cast("bigint"))


def attached_to_leaves(heads: DataFrame, journals: DataFrame) -> DataFrame:
    """Fill attached_n of heads that follow a leaf of their stored journal, and mark namespaces with stored lines.

    Reads:  heads with attached_n; journals: namespace, bucket, tip_hash, tip_n, leaves of `node_journal`.
    Gives:  the columns of `heads`, attached_n filled, has_stored (BOOLEAN: lines of the namespace are in the table).
    Rows:   one per row: a hash names one line of a namespace. In profile 0.12 only the tip is found, since the record
            id of another leaf does not contain its hash.
    """
    tips = journals.select("namespace", F.col("tip_hash").alias("number"), F.col("tip_n").alias("leaf_n"))
    others = (
        journals.where(F.size("leaves") > 1)
        .select("namespace", "tip_hash", F.explode("leaves").alias("leaf"))
        .select(
            "namespace",
            "tip_hash",
            F.lower(F.hex("leaf.record_id")).alias("number"),
            F.col("leaf.n").alias("leaf_n"),
        )
        .where(F.col("number") != F.col("tip_hash"))
        .drop("tip_hash")
    )
    known = journals.select("namespace", F.lit(True).alias("is_known"))
    return (
        heads.join(tips.unionByName(others), ["namespace", "number"], "left")
        .join(known, ["namespace"], "left")
        .withColumn("attached_n", F.coalesce("attached_n", "leaf_n"))
        .withColumn("has_stored", F.coalesce("is_known", F.lit(False)))
        .drop("leaf_n", "is_known")
    )


def parents_in_run(heads: DataFrame, candidates: DataFrame) -> DataFrame:
    """Find, for heads without a known predecessor, the element of this run that they follow.

    Reads:  heads with attached_n; candidates: SEGMENT, node, idx, hash.
    Gives:  head_id, parent_id (head_id of the segment of that element), parent_offset (its distance from the head).
    Rows:   at most one per head: the first of several deliveries of the predecessor.
    """
    place = ["node", "hash"]
    open_heads = heads.where("attached_n IS NULL").select("head_id", "node", F.col("number").alias("hash"))
    first = F.min(F.struct("file_no", "part", "frame", "idx", "head")).alias("parent")
    # Many deliveries of one line that many heads follow are one row before they meet.
    asked = candidates.select(*place, "idx", *SEGMENT).join(open_heads.select(*place), place, "left_semi")
    return open_heads.join(asked.groupBy(*place).agg(first), place).select(
        "head_id",
        F.concat_ws(":", "parent.file_no", "parent.part", "parent.frame", "parent.head").alias("parent_id"),
        (F.col("parent.idx") - F.col("parent.head")).alias("parent_offset"),
    )


def attached_to_lines(roots: DataFrame, lines: DataFrame) -> DataFrame:
    """Find the stored lines that heads follow.

    Reads:  roots: head_id, namespace, number; lines: namespace, line_hash, n, in the buckets of the roots.
    Gives:  head_id, line_n.
    Rows:   at most one per head.
    """
    stored = lines.select("namespace", F.col("line_hash").alias("number"), F.col("n").alias("line_n"))
    return roots.join(stored, ["namespace", "number"]).select("head_id", "line_n")


def positions(heads: DataFrame) -> DataFrame:
    """Resolve n of every head that is connected, directly or through other heads, to a known line.

    Reads:  heads with attached_n, parent_id, parent_offset.
    Gives:  head_id, n.
    Rows:   one per connected head. One task walks the heads of a namespace.
    """
    grouped = (
        heads.select(*kernels.RESOLVE_COLUMNS).repartition("namespace").sortWithinPartitions("namespace")
    )
    return map_batches(grouped, kernels.resolve_heads, kernels.POSITION_SCHEMA)


def with_overlaps(heads: DataFrame) -> DataFrame:
    """Add overlaps: whether another accepted segment of the namespace has a line with the same n.

    Reads:  heads with n (or null), lines, namespace.
    Gives:  the columns of `heads` and overlaps.
    Rows:   one per row. Only rows of overlapping segments can be deliveries of one line, since a line has one n.
    """
    last_n = F.col("n") + F.col("lines") - 1
    order = Window.partitionBy("namespace", F.col("n").isNull()).orderBy("n", "head_id")
    end_before = F.max(last_n).over(order.rowsBetween(Window.unboundedPreceding, -1))
    overlaps = (end_before >= F.col("n")) | (F.lead("n").over(order) <= last_n)
    return heads.withColumn("overlaps", F.coalesce(overlaps, F.lit(False)) & F.col("n").isNotNull())
