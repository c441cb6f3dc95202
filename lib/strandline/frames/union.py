"""The rows of several frames as one."""

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import DataFrame


def union(frames: Iterable[DataFrame]) -> DataFrame:
    """Return the rows of one or more frames, whose columns have the same names; a row of two frames stays twice."""
    return reduce(DataFrame.unionByName, frames)
