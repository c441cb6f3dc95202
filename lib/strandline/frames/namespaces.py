"""Selects rows by namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from strandline.core.ids import ENOUGH_NAMESPACES, bucket_of
from strandline.frames.buckets import in_buckets
from strandline.frames.listed import is_listed


def only_namespaces(rows: DataFrame, namespaces: Sequence[str], buckets: int) -> DataFrame:
    """Keep the rows of these namespaces; files of other buckets are not opened.

    Reads:  namespace, bucket; `buckets` is the lake's number of buckets.
    Gives:  the columns of `rows`.
    Rows:   at most one per row.
    """
    theirs = sorted({bucket_of(namespace, buckets) for namespace in namespaces})
    return rows.where(in_buckets(theirs) & is_listed("namespace", namespaces))


def begins_with(rows: DataFrame, prefixes: Sequence[str]) -> DataFrame:
    """Keep the rows whose namespace starts with one of the prefixes.

    Reads:  namespace.
    Gives:  the columns of `rows`.
    Rows:   at most one per row.
    """
    return rows.where(_begins(prefixes))


def first_of_each(rows: DataFrame, prefixes: Mapping[str, Sequence[str]]) -> DataFrame:
    """Keep of each text the first distinct rows, by namespace, that start with one of its prefixes. One scan.

    Reads:  namespace; `prefixes` are those of each text.
    Gives:  the columns of `rows`, given (the text).
    Rows:   at most ENOUGH_NAMESPACES per text.
    """
    every = [prefix for theirs in prefixes.values() for prefix in theirs]
    texts = F.array(*(F.when(_begins(theirs), F.lit(text)) for text, theirs in prefixes.items()))
    found = begins_with(rows, every).distinct().withColumn("given", F.explode(F.array_compact(texts)))
    rank = F.row_number().over(Window.partitionBy("given").orderBy("namespace"))
    return found.withColumn("rank", rank).where(F.col("rank") <= ENOUGH_NAMESPACES).drop("rank")


def first_namespaces(rows: DataFrame) -> DataFrame:
    """Keep the first distinct rows by namespace.

    Reads:  namespace.
    Gives:  the columns of `rows`.
    Rows:   at most ENOUGH_NAMESPACES.
    """
    return rows.distinct().orderBy("namespace").limit(ENOUGH_NAMESPACES)


def _begins(prefixes: Sequence[str]) -> Column:
    return reduce(or_, (F.startswith(F.col("namespace"), F.lit(each)) for each in prefixes))
