"""Facts as lines of JSON, which other lakes and implementations read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import LakeSnapshot
from strandline.dialects.aura import kernels
from strandline.dialects.aura.spark.tables import FACTS
from strandline.frames.lift import map_batches
from strandline.frames.namespaces import only_namespaces


def export(lake: LakeSnapshot, namespaces: Sequence[str]) -> ExportFile:
    """Return the facts of namespaces by (order, fact id). No fact names another one, so each is a head."""
    facts = only_namespaces(lake.read(FACTS), namespaces, lake.buckets)
    order = ("namespace", "order_token", "record_id")
    placed = facts.select(*order, "fact_cbor").repartitionByRange(*order).sortWithinPartitions(*order)
    ids = facts.select("namespace", "record_id")
    return ExportFile("lines", b"", _lines(placed), ids, ids)


def to_files(rows: Mapping[str, DataFrame]) -> DataFrame:
    """Write facts as files of lines of about a MiB.  Gives: format, content.  Rows: one per file."""
    return _lines(rows[FACTS]).select(F.lit("lines").alias("format"), "content")


def _lines(facts: DataFrame) -> DataFrame:
    return map_batches(facts.select("fact_cbor"), kernels.packed, kernels.FILE_SCHEMA)
