"""Text journals that were read in several parts: the size of each part, and check 8 across their borders."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark.line_columns import number_of


def parts(tallied: DataFrame) -> DataFrame:
    """Measure the parts of text journals.

    Reads:  `elements.tally`.
    Gives:  file_no, part, lines (BIGINT), last_idx; base_lines: the sum of the earlier parts of the file; part_before,
            last_idx_before (null for the first part).
    Rows:   one per part.
    """
    measured = (
        tallied.where(F.col("frame") == kernels.TEXT_FRAME)
        .groupBy("file_no", "part")
        .agg(F.sum("lines").alias("lines"), F.max("last_idx").alias("last_idx"))
    )
    before = Window.partitionBy("file_no").orderBy("part")
    sums = before.rowsBetween(Window.unboundedPreceding, -1)
    return measured.select(
        "*",
        F.coalesce(F.sum("lines").over(sums), F.lit(0)).alias("base_lines"),
        F.lag("part").over(before).alias("part_before"),
        F.lag("last_idx").over(before).alias("last_idx_before"),
    )


def claims(lines: DataFrame, measured: DataFrame) -> DataFrame:
    """Return what the first line of each later part must follow.

    Reads:  lines: file_no, part, idx, hash, raw of elements, of the last one of each part at least; measured: `parts`.
    Gives:  file_no, part, claimed (the hash of the last line of the part before), line_before.
    Rows:   one per part after one whose last element has the form of a line.
    """
    lasts = measured.where("part_before IS NOT NULL").select(
        "file_no",
        F.col("part").alias("later"),
        F.col("part_before").alias("part"),
        F.col("last_idx_before").alias("idx"),
    )
    named = lines.where(F.col("hash").isNotNull()).select("file_no", "part", "idx", "hash", "raw")
    return named.join(lasts, ["file_no", "part", "idx"]).select(
        "file_no",
        F.col("later").alias("part"),
        F.col("hash").alias("claimed"),
        F.col("raw").alias("line_before"),
    )


def checked(facts: DataFrame, claimed: DataFrame) -> DataFrame:
    """Run check 8 across parts: the first line of a part must follow the last line of the part before it.

    Reads:  facts: the elements with their facts; claimed: `claims`.
    Gives:  the columns of `facts`; code, expected and before are changed on lines that do not follow.
    Rows:   one per element with `border`.
    """
    joined = facts.where("border").join(claimed, ["file_no", "part"], "left")
    number = number_of(F.col("raw"), F.col("node"))
    wrong = (F.col("code").bitwiseAND(_FORM_BITS) == 0) & (F.col("claimed") != number)
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
