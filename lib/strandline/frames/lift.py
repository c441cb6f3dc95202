"""The one maker of UDFs: what kernels do to batches, done to frames. The Arrow schema of a kernel is said once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type


def map_batches(
    rows: DataFrame, kernel: Callable[..., Iterator[pa.RecordBatch]], schema: pa.Schema, **settings: Any
) -> DataFrame:
    """Run a kernel over the batches of each partition, in its order.

    Reads:  what the kernel reads; `settings` are its keywords, the same for every task.
    Gives:  the columns of `schema`.
    Rows:   as the kernel says.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return kernel(batches, **settings)

    return rows.mapInArrow(run, from_arrow_schema(schema))


def map_groups(
    rows: DataFrame, by: str, kernel: Callable[[pd.DataFrame], pd.DataFrame], schema: pa.Schema
) -> DataFrame:
    """Run a kernel over all rows of each group at once: for groups that a task can hold.

    Reads:  what the kernel reads, and `by`.  Gives: the columns of `schema`.  Rows: as the kernel says.
    """

    def run(group: pd.DataFrame) -> pd.DataFrame:
        return kernel(group)

    typed = _with_types(run, group=pd.DataFrame, returns=pd.DataFrame)
    return rows.groupBy(by).applyInPandas(typed, from_arrow_schema(schema))


def series_udf(kernel: Callable[[pd.Series], pd.Series], kind: pa.DataType) -> Callable[..., Column]:
    """Return a kernel from a column to a column of this type as a function of columns."""

    def run(values: pd.Series) -> pd.Series:
        return kernel(values)

    typed = _with_types(run, values=pd.Series, returns=pd.Series)
    udf: Callable[..., Column] = pandas_udf(typed, from_arrow_type(kind))  # type: ignore[call-overload]
    return udf


def struct_udf(
    kernel: Callable[..., Iterator[pd.DataFrame]], schema: pa.Schema, **settings: Any
) -> Callable[..., Column]:
    """Return a kernel from several columns to a struct as a function of columns; it may carry state along a partition.

    A later filter must not move below what carries a row from batch to batch: it would see other neighbours. So the
    function counts as nondeterministic.
    """

    def run(batches: Iterator[tuple[pd.Series, ...]]) -> Iterator[pd.DataFrame]:
        return kernel(batches, **settings)

    typed = _with_types(run, batches=Iterator[tuple[pd.Series, ...]], returns=Iterator[pd.DataFrame])
    made: Any = pandas_udf(typed, from_arrow_schema(schema))  # type: ignore[call-overload]
    udf: Callable[..., Column] = made.asNondeterministic()
    return udf


def _with_types(run: Callable[..., Any], *, returns: Any, **parameters: Any) -> Callable[..., Any]:
    """PySpark reads the kind of UDF from annotations, which have to be types and not texts."""
    run.__annotations__ = {**parameters, "return": returns}
    return run
