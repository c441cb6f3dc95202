"""Finds the rows of a lake that break its invariants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

from pyspark.sql import DataFrame, SparkSession

from strandline.contracts.checks import Check, broken_rows_sql
from strandline.frames.one_task import ONE_TASK
from strandline.tables.commits import session_settings


def find_broken(
    spark: SparkSession, checks: Sequence[Check], frame_of: Callable[[str], DataFrame], *, most: int, is_small: bool
) -> list[tuple[Check, str]]:  # fmt: skip
    """Return the rows that break the checks as JSON texts, at most `most` of each check, in the order of the checks.

    `frame_of` returns the rows of a table, which the query reads as a temporary view of the table's name. With
    `is_small` the query is one job with one task a stage.
    """
    tables = sorted({table for check in checks for table in check.tables})
    try:
        for table in tables:
            frame_of(table).createOrReplaceTempView(table)
        with session_settings(spark, ONE_TASK) if is_small else nullcontext():
            rows = spark.sql(broken_rows_sql(checks, most=most)).collect() if checks else []
    finally:
        for table in tables:
            spark.catalog.dropTempView(table)
    return [(checks[row["number"]], row["broken"]) for row in sorted(rows)]
