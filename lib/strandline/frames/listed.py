"""Conditions on a list of values, in one expression: `Column.isin` makes a literal of each, by calls of the JVM.

Spark folds the values to literals, so that files and row groups are skipped as by `isin`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from strandline.contracts.quoting import in_list

MOST_PUSHED: Final = 200
"""Values of a list that Spark pushes to Parquet; of a longer one only minimum and maximum, which skip nothing.

`tables.work_settings` sets it.
"""


def is_listed(column: str, values: Iterable[str | bytes | int]) -> Column:
    """Return whether a column, of STRING, BINARY or numbers, is one of the values; false for no values.

    Raises: UnicodeEncodeError (a text is no UTF-8).
    """
    listed = list(values)
    if not listed:
        return F.lit(False)
    condition = in_list(column, listed)
    return F.expr(condition)
