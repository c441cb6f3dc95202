"""Digests of runs of rows, so that no task holds the rows of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from strandline.kernels.digests import run_digests

_KEYS = ("namespace", "place")


def digests_of_runs(values: DataFrame, *, order: str) -> DataFrame:
    """Hash the joined values of each run.

    Reads:  namespace, place (INT), value (BINARY) and `order`, the column that orders the values of a run.
    Gives:  namespace, place, digest (SHA-256).
    Rows:   one per (namespace, place).
    """

    def digests(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_digests(batches, _KEYS)

    runs = values.repartition(*_KEYS).sortWithinPartitions(*_KEYS, order).select(*_KEYS, "value")
    hashed = runs.mapInArrow(digests, "namespace STRING, place INT, digest BINARY, size BIGINT")
    return hashed.drop("size")
