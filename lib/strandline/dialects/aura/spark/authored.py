"""Facts that a program made and verified, as rows of `aura_fact`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from strandline.dialects.aura import kernels
from strandline.dialects.aura.spark.dialect import AURA
from strandline.dialects.aura.types import Fact

_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("record_id", pa.binary()),
        pa.field("block", pa.binary()),
        pa.field("source", pa.string()),
        *kernels.FACT_FIELDS,
        *kernels.DERIVED_FIELDS,
    ]
)


def fact_rows(spark: SparkSession, facts: Sequence[Fact], buckets: int) -> DataFrame:
    """Return accepted facts, none of them an operation, in the contract of `aura_fact`.  Rows: one per fact."""
    rows = [
        {"namespace": fact.namespace.text, "record_id": fact.fact_id, "block": fact.cbor, **kernels.fact_columns(fact)}
        for fact in facts
    ]  # fmt: skip
    return AURA.as_records(spark.createDataFrame(pa.Table.from_pylist(rows, schema=_SCHEMA)), buckets)
