"""Rows of some namespaces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.ids import bucket_of

ENOUGH: Final = 3
"""So many namespaces tell that a name is that of no single one."""


def only_namespaces(rows: DataFrame, namespaces: Sequence[str], buckets: int) -> DataFrame:
    """Keep the rows of these namespaces, which an operator named; no file of another bucket is opened.

    Reads:  namespace, bucket; `buckets` is N of the lake.
    Gives:  the columns of `rows`.
    Rows:   at most one per row.
    """
    theirs = sorted({bucket_of(namespace, buckets) for namespace in namespaces})
    return rows.where(F.col("bucket").isin(*theirs) & F.col("namespace").isin(*namespaces))


def begins_with(rows: DataFrame, prefixes: Sequence[str]) -> DataFrame:
    """Keep the rows whose namespace begins with one of the texts.

    Reads:  namespace.
    Gives:  the columns of `rows`.
    Rows:   at most one per row.
    """
    return rows.where(reduce(or_, (F.startswith(F.col("namespace"), F.lit(each)) for each in prefixes)))


def first_namespaces(rows: DataFrame) -> DataFrame:
    """Keep the first few distinct rows by their namespace.

    Reads:  namespace.
    Gives:  the columns of `rows`.
    Rows:   at most ENOUGH.
    """
    return rows.distinct().orderBy("namespace").limit(ENOUGH)
