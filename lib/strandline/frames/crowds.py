"""Places that several records claim: how many they are, the ones with the least ids, and what two of them show.

A file can bring any number of records for one place, so no task holds them: windows number them, and Spark sorts on
disk what its memory does not hold. An aggregate would hold what it collects of up to 128 places of a task together.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from strandline.core.equivocation import MAX_MEMBERS


def crowds(records: DataFrame, place: Sequence[str], shown: str = "record_id") -> DataFrame:
    """Name the records of each place that has several.

    Reads:  records: `place`, record_id, `shown`.
    Gives:  `place`, members (ids ascending, at most 65,536), member_count (of all), shown_a, shown_b (`shown` of the
            first two members).
    Rows:   one per place with two records or more.
    """
    in_order = Window.partitionBy(*place).orderBy("record_id")
    every = in_order.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    numbered = records.select(
        *place, "record_id", F.row_number().over(in_order).alias("number"),
        F.count(F.lit(1)).over(every).alias("member_count"), F.col(shown).alias("shown_a"),
        F.lead(shown).over(in_order).alias("shown_b"),
    )  # fmt: skip
    is_first = F.col("number") == 1
    turns = numbered.where((F.col("member_count") > 1) & (F.col("number") <= MAX_MEMBERS)).select(
        *place, "record_id", "number", "member_count",
        *(F.when(is_first, F.col(name)).alias(name) for name in ("shown_a", "shown_b")),
        _turn(),
    )  # fmt: skip
    named = turns.withColumn("members", _members(place))
    return named.where(is_first).select(*place, "members", "member_count", "shown_a", "shown_b")


def members(records: DataFrame, place: Sequence[str]) -> DataFrame:
    """Name the records of each place, as `crowds` does, also where there is one.

    Reads:  records: `place`, record_id.
    Gives:  `place`, members (ids ascending, at most 65,536).
    Rows:   one per place.
    """
    number = F.row_number().over(Window.partitionBy(*place).orderBy("record_id"))
    numbered = records.select(*place, "record_id", number.alias("number"))
    turns = numbered.where(F.col("number") <= MAX_MEMBERS).select(*place, "record_id", "number", _turn())
    named = turns.withColumn("members", _members(place))
    return named.where(F.col("number") == 1).select(*place, "members")


def _turn() -> Column:
    """Return when a member is looked at: the first one last, for its frame has all the others, and theirs are empty."""
    turn = F.when(F.col("number") == 1, F.lit(3 * MAX_MEMBERS)).otherwise(F.col("number"))
    return turn.cast("bigint").alias("turn")


def _members(place: Sequence[str]) -> Column:
    """Return the ids of a place, in the row of its first member.  Reads: record_id, turn."""
    others = Window.partitionBy(*place).orderBy("turn").rangeBetween(-3 * MAX_MEMBERS, -2 * MAX_MEMBERS)
    return F.concat(F.array("record_id"), F.collect_list("record_id").over(others))
