"""Rows in the order of a file, in partitions that a task and the driver can hold one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame

PARTITION_BYTES: Final = 32 * 1024 * 1024
"""Bytes of the file that a partition has, about: the driver holds one whole when it writes the file."""


def in_file_order(rows: DataFrame, order: Sequence[str], size: int) -> DataFrame:
    """Sort rows by columns that are unique together, in partitions of about PARTITION_BYTES.

    Reads:  `order`; `size` is about the bytes of all rows in the file.
    Gives:  the columns of `rows`.
    Rows:   one per row. Spark joins small partitions where their number is not given, but divides no large one.
    """
    partitions = 1 + size // PARTITION_BYTES
    placed = (
        rows.repartitionByRange(partitions, *order) if partitions > 1 else rows.repartitionByRange(*order)
    )
    return placed.sortWithinPartitions(*order)
