"""Digests of sorted runs of rows, in constant memory per task."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from strandline.frames.lift import map_batches
from strandline.kernels.digests import run_digests

_KEYS = ("namespace", "place")
_DIGESTS = pa.schema(
    {"namespace": pa.string(), "place": pa.int32(), "digest": pa.binary(), "size": pa.int64()}
)


def digests_of_runs(values: DataFrame, *, order: str) -> DataFrame:
    """Hash the concatenated values of each run.

    Reads:  namespace, place (INT), value (BINARY) and `order`, the column that orders the values of a run.
    Gives:  namespace, place, digest (SHA-256).
    Rows:   one per (namespace, place).
    """
    runs = values.repartition(*_KEYS).sortWithinPartitions(*_KEYS, order).select(*_KEYS, "value")
    hashed = map_batches(runs, run_digests, _DIGESTS, keys=_KEYS)
    return hashed.drop("size")
