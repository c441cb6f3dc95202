"""Runs kernels of batches over DataFrames. The only module that makes UDFs, from the Arrow schema of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type


def map_batches(
    rows: DataFrame, kernel: Callable[..., Iterator[pa.RecordBatch]], schema: pa.Schema, **settings: Any
) -> DataFrame:
    """Run a kernel over the batches of each partition, in its order.

    Reads:  as the kernel; `settings` are its keyword arguments, equal in all tasks.
    Gives:  the columns of `schema`.
    Rows:   as the kernel.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return kernel(batches, **settings)

    return rows.mapInArrow(run, from_arrow_schema(schema))


def nested_rows(reduced: DataFrame, column: str) -> DataFrame:
    """Take the rows of a table out of what a kernel gives of a namespace.

    Reads:  namespace, bucket, `column`: a list of structs, as of `batches.nested`.
    Gives:  namespace, bucket, the fields of the structs.
    Rows:   one per element.
    """
    each = reduced.select("namespace", "bucket", F.explode(column).alias("row"))
    return each.select("namespace", "bucket", "row.*")


def series_udf(kernel: Callable[[pd.Series], pd.Series], kind: pa.DataType) -> Callable[..., Column]:
    """Return a kernel from a column to a column of the type `kind` as a function of columns."""

    def run(values: pd.Series) -> pd.Series:
        return kernel(values)

    typed = _with_types(run, values=pd.Series, returns=pd.Series)
    udf: Callable[..., Column] = pandas_udf(typed, from_arrow_type(kind))  # type: ignore[call-overload]
    return udf


def struct_udf(
    kernel: Callable[..., Iterator[pd.DataFrame]], schema: pa.Schema, **settings: Any
) -> Callable[..., Column]:
    """Return a kernel from several columns to a struct as a function of columns; it can carry state along a partition.

    Spark must not push a later filter below a function with such state: it would see other rows. So the function is
    declared nondeterministic.
    """

    def run(batches: Iterator[tuple[pd.Series, ...]]) -> Iterator[pd.DataFrame]:
        return kernel(batches, **settings)

    typed = _with_types(run, batches=Iterator[tuple[pd.Series, ...]], returns=Iterator[pd.DataFrame])
    made: Any = pandas_udf(typed, from_arrow_schema(schema))  # type: ignore[call-overload]
    udf: Callable[..., Column] = made.asNondeterministic()
    return udf


def _with_types(run: Callable[..., Any], *, returns: Any, **parameters: Any) -> Callable[..., Any]:
    """Set annotations: PySpark derives the kind of a UDF from them, and they must be types, not texts."""
    run.__annotations__ = {**parameters, "return": returns}
    return run
