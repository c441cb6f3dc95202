"""The check of pins against accepted geneses."""

from __future__ import annotations

from pyspark.sql import functions as F

from strandline.core.ids import bucket_of
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.aura.spark.tables import FACTS
from strandline.dialects.aura.verify.pins import Pins, contradiction


def check_pins(tables: Tables, jobs: Jobs, pins: Pins) -> None:
    """Check that no pin names another genesis than one that the lake accepted.

    Raises: UsageError AURA_PIN_CONTRADICTED, naming the least such namespace.
    """
    if not pins.by_namespace:
        return
    facts = tables.read(FACTS)
    rows = [(name, bucket_of(name, tables.buckets), pin) for name, pin in pins.by_namespace.items()]
    pinned = facts.sparkSession.createDataFrame(rows, "namespace STRING, bucket INT, pin BINARY")
    geneses = facts.where(F.col("variant").isin("Genesis", "ContextGenesis"))
    named = F.coalesce("op_id", "order_token")
    wrong = geneses.join(F.broadcast(pinned), ["namespace", "bucket"]).where(named != F.col("pin"))
    found = jobs.row(wrong.agg(F.min("namespace").alias("namespace")))["namespace"]
    if found is not None:
        raise contradiction(pins.file, found)
