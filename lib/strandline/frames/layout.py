"""Rows in the write order of their table."""

from __future__ import annotations

from pyspark.sql import DataFrame

from strandline.contracts.model import Contract


def laid_out(rows: DataFrame, described: Contract) -> DataFrame:
    """Sort rows by bucket, then by the write order of the contract.

    Several tasks share a large bucket; small buckets share a task.
    """
    if not described.is_bucketed:
        return rows
    order = ("bucket", *(name for name in described.write_order if name != "bucket"))
    return rows.hint("rebalance", "bucket").sortWithinPartitions(*order)
