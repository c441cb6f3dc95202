"""Rows in the order in which their table wants them written."""

from __future__ import annotations

from pyspark.sql import DataFrame

from strandline.contracts.model import Contract


def laid_out(rows: DataFrame, described: Contract) -> DataFrame:
    """Sort rows by bucket, inside it by the contract's order.

    A bucket that is much larger than others is spread over several tasks; small ones share one.
    """
    if not described.is_bucketed:
        return rows
    order = ("bucket", *(name for name in described.write_order if name != "bucket"))
    return rows.hint("rebalance", "bucket").sortWithinPartitions(*order)
