"""Rows in the write order of their table."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from strandline.contracts.model import Contract


def laid_out(rows: DataFrame, described: Contract) -> DataFrame:
    """Sort rows by bucket, then by the write order of the contract."""
    if not described.is_bucketed:
        return rows
    return in_order(rows, ("bucket", *(name for name in described.write_order if name != "bucket")))


def in_order(rows: DataFrame, order: Sequence[str]) -> DataFrame:
    """Sort rows by bucket and what follows it in the order.

    Several tasks share a large bucket; small buckets share a task.
    """
    return rows.hint("rebalance", "bucket").sortWithinPartitions(*order)
