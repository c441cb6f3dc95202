"""Pins against what the lake accepted."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import functions as F

from strandline.core.ids import bucket_of
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.aura.spark.tables import FACTS
from strandline.dialects.aura.verify.pins import contradiction


def check_pins(tables: Tables, jobs: Jobs, pins: Mapping[str, bytes]) -> None:
    """Check that no pin names another genesis than one that the lake accepted.

    Raises: UsageError AURA_PIN_CONTRADICTED, naming the least such namespace.
    """
    facts = tables.read(FACTS)
    rows = [(name, bucket_of(name, tables.buckets), pin) for name, pin in pins.items()]
    pinned = facts.sparkSession.createDataFrame(rows, "namespace STRING, bucket INT, pin BINARY")
    geneses = facts.where(F.col("variant").isin("Genesis", "ContextGenesis"))
    named = F.coalesce("op_id", "order_token")
    wrong = geneses.join(F.broadcast(pinned), ["namespace", "bucket"]).where(named != F.col("pin"))
    found = jobs.row(wrong.agg(F.min("namespace").alias("namespace")))["namespace"]
    if found is not None:
        raise contradiction(found)
