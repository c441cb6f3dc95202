"""From lines and pieces to elements with their facts: one pass without a shuffle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.window import Window

from strandline.dialects.sdmp import kernels
from strandline.kernels.pieces import PIECE_FIELDS
from strandline.kernels.reading import ReadOptions

RECALL_FILE_NO = 2**62
"""`file_no` of waiting records that are judged again: behind every file of the run."""

ELEMENT_COLUMNS = (
    "file_no", "part", "frame", "offset", "size", "raw", "raw_bytes", "raw_sha256", "damage", "evidence", "node",
    "since", "claim",
)  # fmt: skip


def text_elements(lines: DataFrame, *, strict: bool) -> DataFrame:
    """Shape lines of text journals to elements.

    Reads:  file_no, part, label (the node), mark (bytes of the byte order mark), size, raw.
    Gives:  ELEMENT_COLUMNS. Unless `strict`, one CR at the end of a line is removed: no newline is hashed.
    Rows:   one per row, in the same order.
    """
    raw = F.col("raw")
    if not strict:
        ends_with_cr = F.substring(raw, -1, 1) == F.lit(b"\r")
        raw = F.when(ends_with_cr, F.substring(raw, F.lit(1), F.length(raw) - 1)).otherwise(raw)
    text = F.lit(None).cast("string")
    return lines.select(
        "file_no",
        "part",
        F.lit(kernels.TEXT_FRAME).cast("bigint").alias("frame"),
        F.col("mark").cast("bigint").alias("offset"),
        "size",
        raw.alias("raw"),
        F.length(raw).cast("bigint").alias("raw_bytes"),
        F.lit(None).cast("binary").alias("raw_sha256"),
        text.alias("damage"),
        text.alias("evidence"),
        F.col("label").alias("node"),
        text.alias("since"),
        text.alias("claim"),
    )


def with_line_facts(elements: DataFrame, *, strict: bool) -> DataFrame:
    """Add what the lines themselves and their neighbours tell: see `kernels.LINE_FACTS_DDL`.

    Reads:  ELEMENT_COLUMNS, in the order of each frame.
    Gives:  ELEMENT_COLUMNS and the facts.
    Rows:   one per row. The order of rows is what makes neighbours: nothing may shuffle them before.
    """
    facts = _line_facts_udf(strict)("file_no", "part", "frame", "node", "raw", "damage", "claim", "size")
    return elements.select(*ELEMENT_COLUMNS, facts.alias("facts")).select(*ELEMENT_COLUMNS, "facts.*")


def _line_facts_udf(strict: bool) -> Callable[..., Column]:
    def line_facts(batches: Iterator[kernels.Columns]) -> Iterator[pd.DataFrame]:
        return kernels.line_facts(batches, strict=strict)

    # PySpark reads the kind of UDF from the annotations, which have to be types here, not texts.
    line_facts.__annotations__ = {"batches": Iterator[kernels.Columns], "return": Iterator[pd.DataFrame]}
    made: Any = pandas_udf(line_facts, kernels.LINE_FACTS_DDL)  # type: ignore[call-overload]
    # A later filter must not move below what carries a row from batch to batch: it would see other neighbours.
    udf: Callable[..., Column] = made.asNondeterministic()
    return udf


def waiting_elements(waiting: DataFrame) -> DataFrame:
    """Shape waiting rows of `quarantine` to elements with open claims, each a frame of its own.

    Reads:  quarantine_id, namespace, raw, raw_bytes, evidence.
    Gives:  ELEMENT_COLUMNS; part and frame are 120 bits of the quarantine id.
    Rows:   one per row.
    """
    text = F.lit(None).cast("string")
    return with_waiting_key(waiting).select(
        F.lit(RECALL_FILE_NO).cast("bigint").alias("file_no"),
        "part",
        "frame",
        F.lit(0).cast("bigint").alias("offset"),
        F.lit(0).cast("bigint").alias("size"),
        "raw",
        "raw_bytes",
        F.lit(None).cast("binary").alias("raw_sha256"),
        text.alias("damage"),
        text.alias("evidence"),
        F.substring_index("namespace", ":", -1).alias("node"),
        F.get_json_object("evidence", "$.PREDECESSOR_UNKNOWN.since").alias("since"),
        text.alias("claim"),
    )


def with_waiting_key(waiting: DataFrame) -> DataFrame:
    """Add part and frame, which name the element of a waiting row: 120 bits of its quarantine id."""
    digits = F.hex("quarantine_id")
    return waiting.withColumns(
        {
            "part": F.conv(F.substring(digits, 1, 15), 16, 10).cast("bigint"),
            "frame": F.conv(F.substring(digits, 16, 15), 16, 10).cast("bigint"),
        }
    )


REPLAY_FILE_NO = 2**61
"""`file_no` of rejected rows that are judged again: this and 60 bits of their quarantine id."""

OF_A_LINE = (
    "DEFERRED_LIMIT",
    "FIRST_LINE_MISPLACED",
    "LINE_NUMBER_MISMATCH",
    "MALFORMED_LINE",
    "NON_CANONICAL_ID",
)
"""Reasons that one line of a known journal was given; other rows are frames or whole files."""


def replayed_elements(rows: DataFrame, options: ReadOptions) -> DataFrame:
    """Shape rejected rows of `quarantine` to elements, each where it stood: its place and its claim are kept.

    Reads:  quarantine_id, namespace, reasons, raw, raw_bytes, evidence.
    Gives:  ELEMENT_COLUMNS.
    Rows:   one per row of a line; of a frame or a file as many as it holds.
    """
    text = F.lit(None).cast("string")
    number = F.conv(F.substring(F.hex("quarantine_id"), 1, 15), 16, 10).cast("bigint")
    keyed = rows.withColumn("file_no", F.lit(REPLAY_FILE_NO).cast("bigint") + number)
    is_line = (
        F.arrays_overlap("reasons", F.array(*(F.lit(code) for code in OF_A_LINE)))
        & F.col("namespace").isNotNull()
    )
    position = F.coalesce(
        *(F.get_json_object("evidence", f"$.{code}.position") for code in (*OF_A_LINE, "PREDECESSOR_UNKNOWN"))
    )
    lines = keyed.where(is_line).select(
        "file_no",
        F.when(position.cast("bigint") > 1, F.lit(1)).otherwise(F.lit(0)).cast("bigint").alias("part"),
        F.lit(kernels.TEXT_FRAME).cast("bigint").alias("frame"),
        F.lit(0).cast("bigint").alias("offset"),
        "raw_bytes",
        "raw",
        F.substring_index("namespace", ":", -1).alias("node"),
        F.get_json_object("evidence", "$.LINE_NUMBER_MISMATCH.expected").alias("claim"),
        "evidence",
    )
    shaped = lines.select(
        "file_no", "part", "frame", "offset", F.col("raw_bytes").alias("size"), "raw", "raw_bytes",
        F.lit(None).cast("binary").alias("raw_sha256"), text.alias("damage"), "evidence", "node",
        text.alias("since"), "claim",
    )  # fmt: skip
    others = keyed.where(~is_line).select(
        "file_no", "raw", F.array_join("reasons", ",").alias("reasons"), F.substring_index("namespace", ":",
        -1).alias("node"),
        "evidence",
    )  # fmt: skip

    def replayed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return kernels.replayed(batches, options)

    again = others.mapInArrow(
        replayed, from_arrow_schema(pa.schema((*PIECE_FIELDS, *kernels.ELEMENT_FIELDS)))
    )
    return shaped.unionByName(again.select(*ELEMENT_COLUMNS))


def parts(facts: DataFrame) -> DataFrame:
    """Measure the parts of text journals.

    Reads:  file_no, part, frame, size, idx.
    Gives:  file_no, part, lines (BIGINT), bytes (BIGINT, with LFs), last_idx; base_lines, base_bytes: those of the
            parts of the same file before it; part_before (null for the first).
    Rows:   one per part.
    """
    measured = (
        facts.where(F.col("frame") == kernels.TEXT_FRAME)
        .groupBy("file_no", "part")
        .agg(F.count(F.lit(1)).alias("lines"), F.sum("size").alias("bytes"), F.max("idx").alias("last_idx"))
    )
    before = Window.partitionBy("file_no").orderBy("part")
    sums = before.rowsBetween(Window.unboundedPreceding, -1)
    return measured.select(
        "*",
        F.coalesce(F.sum("lines").over(sums), F.lit(0)).alias("base_lines"),
        F.coalesce(F.sum("bytes").over(sums), F.lit(0)).alias("base_bytes"),
        F.lag("part").over(before).alias("part_before"),
        F.lag("last_idx").over(before).alias("last_idx_before"),
    )


def with_borders_checked(facts: DataFrame, measured: DataFrame) -> DataFrame:
    """Judge the first line of each later part of a text journal by the last line of the part before it (check 8).

    Reads:  the elements with their facts; `parts` of them.
    Gives:  the same columns; code, expected and before changed on the first lines that do not follow.
    Rows:   one per row.
    """
    lasts = measured.where("part_before IS NOT NULL").select(
        "file_no",
        F.col("part").alias("later"),
        F.col("part_before").alias("part"),
        F.col("last_idx_before").alias("idx"),
    )
    claims = (
        facts.where(F.col("frame") == kernels.TEXT_FRAME)
        .join(F.broadcast(lasts), ["file_no", "part", "idx"])
        .where(F.col("hash").isNotNull())
        .select(
            "file_no",
            F.col("later").alias("part"),
            F.col("hash").alias("claimed"),
            F.col("raw").alias("line_before"),
        )
    )
    joined = facts.join(F.broadcast(claims), ["file_no", "part"], "left")
    number = F.substring(F.col("raw"), F.lit(1), F.length("node")).cast("string")
    wrong = F.col("border") & (F.col("code").bitwiseAND(_FORM_BITS) == 0) & (F.col("claimed") != number)
    wrong = F.coalesce(wrong, F.lit(False))
    code = F.when(wrong, F.col("code").bitwiseOR(F.lit(kernels.MISMATCH).cast("tinyint"))).otherwise(
        F.col("code")
    )
    changed = {
        "code": code.cast("tinyint"),
        "expected": F.when(wrong, F.col("claimed")).otherwise(F.col("expected")),
        "before": F.when(wrong, F.col("line_before")).otherwise(F.col("before")),
    }
    return joined.select(*(changed[name].alias(name) if name in changed else name for name in facts.columns))


_FORM_BITS = kernels.MALFORMED | kernels.MISPLACED
