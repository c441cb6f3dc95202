"""Rows of `quarantine` that are judged again, as elements: waiting rows, and rejected ones on request."""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark.elements import ELEMENT_COLUMNS
from strandline.dialects.sdmp.spark.line_columns import node
from strandline.frames.blocks import id_bits, replay_numbered
from strandline.frames.lift import map_batches
from strandline.frames.provenance import record_source
from strandline.kernels.pieces import piece_schema
from strandline.kernels.reading import ReadOptions

_RECALL_FILE_NO = 2**62
"""`file_no` of waiting records that are judged again: above that of every file of the run."""


def is_delivered() -> Column:
    """True for records of this run's input, false for waiting records that are judged again."""
    return F.col("file_no") < _RECALL_FILE_NO


def waiting_elements(waiting: DataFrame) -> DataFrame:
    """Shape waiting rows of `quarantine` to elements without a claim, each in a frame of its own.

    Reads:  quarantine_id, namespace, raw, raw_bytes, evidence.
    Gives:  ELEMENT_COLUMNS; part and frame are 120 bits of the quarantine id.
    Rows:   one per row.
    """
    text = F.lit(None).cast("string")
    return with_waiting_key(waiting).select(
        F.lit(_RECALL_FILE_NO).cast("bigint").alias("file_no"),
        "part",
        "frame",
        F.lit(0).cast("bigint").alias("offset"),
        F.lit(0).cast("bigint").alias("size"),
        "raw",
        "raw_bytes",
        F.lit(None).cast("binary").alias("raw_sha256"),
        text.alias("damage"),
        text.alias("evidence"),
        node().alias("node"),
        F.get_json_object("evidence", "$.PREDECESSOR_UNKNOWN.since").alias("since"),
        text.alias("claim"),
    )


def with_waiting_key(waiting: DataFrame) -> DataFrame:
    """Add part and frame, the key of the element of a waiting row: 120 bits of its quarantine id."""
    return waiting.withColumns({"part": id_bits(1), "frame": id_bits(16)})


def with_waiting_source(segments: DataFrame, waiting: DataFrame) -> DataFrame:
    """Add the source of the waiting row to each of its segments.

    Reads:  part, frame; waiting: quarantine_id, source.
    Gives:  the columns of `segments` and source.
    Rows:   one per row.
    """
    named = with_waiting_key(waiting).groupBy("part", "frame")
    return segments.join(
        named.agg(F.min(record_source(F.col("source"))).alias("source")), ["part", "frame"], "left"
    )


_LINE_REASONS = (
    "DEFERRED_LIMIT",
    "FIRST_LINE_MISPLACED",
    "LINE_NUMBER_MISMATCH",
    "MALFORMED_LINE",
    "NON_CANONICAL_ID",
    "OWN_LINE_NOT_HELD",
)
"""Reasons of single lines; rows with other reasons are frames or whole files."""


def replayed_elements(rows: DataFrame, options: ReadOptions, local_nodes: Collection[str]) -> DataFrame:
    """Shape rejected rows of `quarantine` to elements; each line keeps its position and its claim.

    Reads:  quarantine_id, namespace, reasons, raw, raw_bytes, evidence.
    Gives:  ELEMENT_COLUMNS.
    Rows:   one per row of a line; for a frame or a file, one per element. Of rows that share a file_no only the one
            with the least id is judged, since the parts of a file follow one another; others keep their verdict.
    """
    text = F.lit(None).cast("string")
    numbered = replay_numbered(rows)
    alike = numbered.groupBy("file_no").agg(
        F.min("quarantine_id").alias("least_id"), F.count(F.lit(1)).alias("rows")
    )
    several = alike.where("rows > 1").select("file_no", "least_id")
    keyed = numbered.join(F.broadcast(several), "file_no", "left").withColumn(
        "stays", F.coalesce(F.col("quarantine_id") != F.col("least_id"), F.lit(False))
    )
    is_line = (
        F.arrays_overlap("reasons", F.array(*(F.lit(code) for code in _LINE_REASONS)))
        & F.col("namespace").isNotNull()
        & ~(F.array_contains("reasons", "NON_CANONICAL_ID") & (F.substring("raw", 1, 1) == F.lit(b"{")))
    )
    position = F.coalesce(
        *(
            F.get_json_object("evidence", f"$.{code}.position")
            for code in (*_LINE_REASONS, "PREDECESSOR_UNKNOWN")
        )
    )
    lines = keyed.where(is_line & ~F.col("stays")).select(
        "file_no",
        F.when(position.cast("bigint") > 1, F.lit(1)).otherwise(F.lit(0)).cast("bigint").alias("part"),
        F.lit(kernels.TEXT_FRAME).cast("bigint").alias("frame"),
        F.lit(0).cast("bigint").alias("offset"),
        "raw_bytes",
        "raw",
        node().alias("node"),
        F.get_json_object("evidence", "$.LINE_NUMBER_MISMATCH.expected").alias("claim"),
        "evidence",
    )
    shaped = lines.select(
        "file_no", "part", "frame", "offset", F.col("raw_bytes").alias("size"), "raw", "raw_bytes",
        F.lit(None).cast("binary").alias("raw_sha256"), text.alias("damage"), "evidence", "node",
        text.alias("since"), "claim",
    )  # fmt: skip
    others = keyed.where(~is_line | F.col("stays")).select(
        "file_no", F.when(F.col("stays"), id_bits(16)).alias("stays_as"), "raw",
        F.array_join("reasons", ",").alias("reasons"), node().alias("node"),
        "evidence",
    )  # fmt: skip
    fields = piece_schema(kernels.ELEMENT_FIELDS)
    replayed = map_batches(others, kernels.replayed, fields, options=options, local_nodes=local_nodes)
    return shaped.unionByName(replayed.select(*ELEMENT_COLUMNS))
