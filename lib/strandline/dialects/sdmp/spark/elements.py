"""Lines and pieces to elements with their facts: one pass without a shuffle."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.sdmp import kernels
from strandline.frames.lift import struct_udf
from strandline.kernels.guard import INTERNAL_ERROR

ELEMENT_COLUMNS = (
    "file_no", "part", "frame", "offset", "size", "raw", "raw_bytes", "raw_sha256", "damage", "evidence", "node",
    "since", "claim",
)  # fmt: skip


def with_line_facts(elements: DataFrame, *, strict: bool) -> DataFrame:
    """Add the facts that a line and its neighbours determine: see `kernels.LINE_FACTS`.

    Reads:  ELEMENT_COLUMNS, in the order of each frame.
    Gives:  ELEMENT_COLUMNS and the facts.
    Rows:   one per row. Neighbours are consecutive rows, so no shuffle may come before.
    """
    facts = struct_udf(kernels.line_facts, kernels.LINE_FACTS, strict=strict)(
        "file_no", "part", "frame", "node", "raw", "damage", "claim", "size"
    )
    return elements.select(*ELEMENT_COLUMNS, facts.alias("facts")).select(*ELEMENT_COLUMNS, "facts.*")


SEGMENT = ("file_no", "part", "frame", "head")
"""The key of a segment in a run."""

CANDIDATE, REFUSED, FAULT, ANNOUNCED, IRREGULAR = 0, 1, 2, 3, 4
"""`verdict` of an element: it passed every check of its file or frame; it failed one; an internal fault occurred; it is
an announced resource of a local node, not a line; it is a chunk whose lines must be judged one by one."""


def is_candidate() -> Column:
    """True for an element that passed every check of its file or frame."""
    return F.col("damage").isNull() & (F.col("code") == 0)


def is_announced() -> Column:
    """True for an element that is an announced resource of a local node."""
    return F.coalesce(F.col("damage") == kernels.ANNOUNCED, F.lit(False))


def is_refused() -> Column:
    """True for an element that failed a check of its file or frame, or at which an internal fault occurred."""
    return ~is_candidate() & ~is_announced()


def tally(facts: DataFrame, *more: Column) -> DataFrame:
    """Count the elements of each segment by verdict: all counts of a run in one pass.

    Reads:  the elements with their facts.
    Gives:  SEGMENT, border, verdict (TINYINT), lines, last_idx (BIGINT). Refused elements count
            under the head before them. `more` are further aggregates.
    Rows:   one per segment and verdict.
    """
    verdict = (
        F.when(is_candidate(), F.lit(CANDIDATE))
        .when(F.col("damage") == INTERNAL_ERROR, F.lit(FAULT))
        .when(is_announced(), F.lit(ANNOUNCED))
        .otherwise(F.lit(REFUSED))
    )
    return facts.groupBy(*SEGMENT, "border", verdict.cast("tinyint").alias("verdict")).agg(
        F.count(F.lit(1)).alias("lines"), F.max("idx").alias("last_idx"), *more
    )
