"""Expressions over the columns of an entry, in `device_log_entry` and in judged blocks."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def follows() -> Column:
    """Return the ids of prev and deps."""
    return F.concat(F.array_compact(F.array("prev")), "deps")


def is_erased() -> Column:
    """Return whether the body of a stored entry was erased."""
    return F.col("body").isNull() & F.col("raw").isNull()
