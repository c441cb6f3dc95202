"""Selects rows by namespace."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.ids import ENOUGH_NAMESPACES, bucket_of


def only_namespaces(rows: DataFrame, namespaces: Sequence[str], buckets: int) -> DataFrame:
    """Keep the rows of these namespaces; files of other buckets are not opened.

    Reads:  namespace, bucket; `buckets` is the lake's number of buckets.
    Gives:  the columns of `rows`.
    Rows:   at most one per row.
    """
    theirs = sorted({bucket_of(namespace, buckets) for namespace in namespaces})
    return rows.where(F.col("bucket").isin(*theirs) & F.col("namespace").isin(*namespaces))


def begins_with(rows: DataFrame, prefixes: Sequence[str]) -> DataFrame:
    """Keep the rows whose namespace starts with one of the prefixes.

    Reads:  namespace.
    Gives:  the columns of `rows`.
    Rows:   at most one per row.
    """
    return rows.where(reduce(or_, (F.startswith(F.col("namespace"), F.lit(each)) for each in prefixes)))


def first_namespaces(rows: DataFrame) -> DataFrame:
    """Keep the first distinct rows by namespace.

    Reads:  namespace.
    Gives:  the columns of `rows`.
    Rows:   at most ENOUGH_NAMESPACES.
    """
    return rows.distinct().orderBy("namespace").limit(ENOUGH_NAMESPACES)
