"""Rows of few journals, asked by their names: in memory, or of files of which Spark opens none without them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from strandline.core.ids import bucket_of
from strandline.dialect_api.ports import Tables
from strandline.frames.buckets import in_buckets
from strandline.frames.listed import is_listed


def of_journals(rows: DataFrame, names: Sequence[str], tables: Tables) -> DataFrame:
    """Keep the rows of these namespaces.  Reads: namespace, bucket.  Gives: the columns of `rows`."""
    buckets = sorted({bucket_of(name, tables.buckets) for name in names})
    return rows.where(in_buckets(buckets) & is_listed("namespace", names))


def of_few(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Keep the rows of these namespaces, of a table in memory."""
    return rows.filter(pc.is_in(rows["namespace"], pa.array(names, pa.string())))
