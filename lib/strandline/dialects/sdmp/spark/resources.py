"""Lines and resources of own nodes: which lines are accepted, and which resources the nodes hold."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.sdmp import kernels
from strandline.frames.buckets import bucket_of

PLACE_DDL = "author_fp STRING, resource_id STRING, seq STRING, frame_no BIGINT, frame_hash STRING, pos INT"
"""The evidence that `kernels.elements` gives of an announced element."""

PAIR = ("namespace", "author_fp", "resource_id")


def checked(mine: DataFrame, stored: DataFrame) -> DataFrame:
    """Mark the lines of own nodes that are not held (check 9); line 1 counts as held.

    Reads:  elements of own nodes with their facts; node, line_hash of the stored lines of these nodes.
    Gives:  the columns of `mine`; `code` with NOT_HELD where a line is not held.
    Rows:   one per row. A held line follows held ones, so what stays of a segment is its beginning.
    """
    held = stored.select("node", F.col("line_hash").alias("hash"), F.lit(True).alias("held"))
    is_link = F.col("hash").isNotNull() & (F.length("raw") > F.length("node"))
    marked = F.col("code").bitwiseOR(F.lit(kernels.NOT_HELD).cast("tinyint"))
    code = F.when(is_link & F.col("held").isNull(), marked).otherwise(F.col("code")).cast("tinyint")
    joined = mine.join(held, ["node", "hash"], "left")
    return joined.select(*(code.alias(name) if name == "code" else name for name in mine.columns))


def announced(elements: DataFrame) -> DataFrame:
    """Shape announced elements to resources.

    Reads:  node, evidence.
    Gives:  namespace, author_fp, resource_id, seq, frame_no, frame_hash, pos, origin.
    Rows:   one per row.
    """
    place = F.from_json("evidence", PLACE_DDL)
    announcements = elements.select(F.concat(F.lit("node:"), "node").alias("namespace"), place.alias("place"))
    return announcements.select(
        "namespace",
        "place.author_fp",
        "place.resource_id",
        F.col("place.seq").cast("decimal(20,0)").alias("seq"),
        "place.frame_no",
        F.unhex("place.frame_hash").alias("frame_hash"),
        "place.pos",
        F.lit("announced").alias("origin"),
    )


def restored(lines: DataFrame) -> DataFrame:
    """Shape lines that were restored to the resources that they name: the node held what its journal says.

    Reads:  the columns of `node_journal_line`.
    Gives:  as `announced`; frame_no is the line's place in a text of the whole journal.
    Rows:   one per line but line 1.
    """
    return lines.where("n > 1").select(
        *PAIR,
        F.lit(None).cast("decimal(20,0)").alias("seq"),
        (F.col("n") - 1).alias("frame_no"),
        F.col("record_id").alias("frame_hash"),
        F.lit(0).alias("pos"),
        F.lit("restored").alias("origin"),
    )


def as_node_resource(rows: DataFrame, ingest_no: int, buckets: int) -> DataFrame:
    """Shape resources to the contract of `node_resource`.

    Reads:  what `announced` gives.
    Gives:  the columns of `node_resource`.
    Rows:   one per (namespace, author_fp, resource_id): the earliest in the order of next_lines.
    """
    order = F.struct(
        F.col("seq").isNull().alias("unordered"), "seq", "frame_no", "frame_hash", "pos", "origin"
    )
    earliest = rows.groupBy(*PAIR).agg(F.min(order).alias("first"))
    return earliest.select(
        "namespace",
        bucket_of(F.col("namespace"), buckets).alias("bucket"),
        "author_fp",
        "resource_id",
        F.lit(ingest_no).cast("bigint").alias("ingest_no"),
        "first.seq",
        "first.frame_no",
        "first.pos",
        "first.frame_hash",
        "first.origin",
    )
