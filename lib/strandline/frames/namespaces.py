"""Rows of some namespaces."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.ids import bucket_of


def only_namespaces(rows: DataFrame, namespaces: Sequence[str], buckets: int) -> DataFrame:
    """Keep the rows of these namespaces, which an operator named; no file of another bucket is opened.

    Reads:  namespace, bucket; `buckets` is N of the lake.
    Gives:  the columns of `rows`.
    Rows:   at most one per row.
    """
    theirs = sorted({bucket_of(namespace, buckets) for namespace in namespaces})
    return rows.where(F.col("bucket").isin(*theirs) & F.col("namespace").isin(*namespaces))
