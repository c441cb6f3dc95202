"""Stored blocks as documents, so that another lake judges them like any that come."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from strandline.dialects.ipfslog import kernels


def documents_of(tables: Iterable[DataFrame]) -> DataFrame:
    """Write blocks as lines of JSON.

    Reads:  block, of each frame.
    Gives:  format, content (BINARY).
    Rows:   as few as hold all blocks; each block is in one.
    """
    blocks = reduce(DataFrame.unionByName, (rows.select("block") for rows in tables))
    packed = blocks.mapInArrow(kernels.packed, from_arrow_schema(kernels.FILE_SCHEMA))
    return packed.select(F.lit("lines").alias("format"), "content")
