"""Lines and resources of local nodes: check 9 of lines, and rows of `node_resource`."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark.line_columns import namespace
from strandline.frames.buckets import bucket_of

_PLACE_DDL = "author_fp STRING, resource_id STRING, seq STRING, frame_no BIGINT, frame_hash STRING, pos INT"
"""The form of the evidence that `kernels.elements` writes for an announced element."""

PAIR = ("namespace", "author_fp", "resource_id")


def with_stored_check(elements: DataFrame, stored: DataFrame) -> DataFrame:
    """Mark the lines of local nodes that are not stored (check 9); line 1 counts as stored.

    Reads:  elements of local nodes with their facts; stored: node, line_hash of the stored lines of these nodes.
    Gives:  the columns of `elements`; `code` with NOT_STORED if a line is not stored.
    Rows:   one per row. A stored line follows stored lines, so the unmarked lines of a segment are its beginning.
    """
    known = stored.select("node", F.col("line_hash").alias("hash"), F.lit(True).alias("is_stored"))
    is_link = F.col("hash").isNotNull() & (F.length("raw") > F.length("node"))
    marked = F.col("code").bitwiseOR(F.lit(kernels.NOT_STORED).cast("tinyint"))
    code = F.when(is_link & F.col("is_stored").isNull(), marked).otherwise(F.col("code")).cast("tinyint")
    joined = elements.join(known, ["node", "hash"], "left")
    return joined.select(*(code.alias(name) if name == "code" else name for name in elements.columns))


def announced(elements: DataFrame) -> DataFrame:
    """Shape announced elements to resources.

    Reads:  node, evidence, source.
    Gives:  namespace, author_fp, resource_id, seq, frame_no, frame_hash, pos, origin, source.
    Rows:   one per row.
    """
    place = F.from_json("evidence", _PLACE_DDL)
    announcements = elements.select(namespace().alias("namespace"), place.alias("place"), "source")
    return announcements.select(
        "namespace",
        "place.author_fp",
        "place.resource_id",
        F.col("place.seq").cast("decimal(20,0)").alias("seq"),
        "place.frame_no",
        F.unhex("place.frame_hash").alias("frame_hash"),
        "place.pos",
        F.lit("announced").alias("origin"),
        "source",
    )


def restored(lines: DataFrame) -> DataFrame:
    """Shape restored lines to the resources on them: a node held the resources that its journal records.

    Reads:  the columns of `node_journal_line`, source among them.
    Gives:  as `announced`; frame_no is the line's place in a text of the whole journal.
    Rows:   one per line except line 1.
    """
    return lines.where("n > 1").select(
        *PAIR,
        F.lit(None).cast("decimal(20,0)").alias("seq"),
        (F.col("n") - 1).alias("frame_no"),
        F.col("record_id").alias("frame_hash"),
        F.lit(0).alias("pos"),
        F.lit("restored").alias("origin"),
        "source",
    )


def as_node_resource(rows: DataFrame, ingest_no: int, buckets: int) -> DataFrame:
    """Shape resources to the contract of `node_resource`.

    Reads:  `announced` or `restored`.
    Gives:  the columns of `node_resource` without those that the writing run adds.
    Rows:   one per (namespace, author_fp, resource_id): the first in the writing order of `writer.ORDER`.
    """
    order = F.struct(
        F.col("seq").isNull().alias("unordered"),
        "seq",
        "frame_no",
        "frame_hash",
        "pos",
        "origin",
        "source",
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
        "first.source",
    )
