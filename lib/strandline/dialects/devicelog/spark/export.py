"""Entries as lines of JSON, which other lakes and devices read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.devicelog import kernels
from strandline.dialects.devicelog.spark.entries import follows, is_erased
from strandline.dialects.devicelog.spark.tables import ENTRIES
from strandline.frames.lift import map_batches
from strandline.frames.namespaces import only_namespaces
from strandline.kernels.packing import FILE_SCHEMA


def export(lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
    """Return the entries of groups by (lamport, id); those whose body was erased are left out and counted."""
    every = only_namespaces(lake.read(ENTRIES), namespaces, lake.buckets)
    erased = jobs.row(every.agg(F.count_if(is_erased()).alias("erased")))["erased"]
    entries = every.where(~is_erased())
    order = ("namespace", "lamport", "record_id")
    placed = entries.repartitionByRange(*order).sortWithinPartitions(*order)
    ids = entries.select("namespace", "record_id")
    return ExportFile("lines", b"", _lines(placed), ids, _heads(entries), {"erased": erased})


def to_files(rows: Mapping[str, DataFrame]) -> DataFrame:
    """Write entries as files of lines of about a MiB; one whose body was erased is a line that is rejected.

    Gives:  format, content.  Rows: one per file.
    """
    return _lines(rows[ENTRIES]).select(F.lit("lines").alias("format"), "content")


def _heads(entries: DataFrame) -> DataFrame:
    """Keep the entries that no other one names in prev or deps.  Gives: namespace, record_id."""
    named = entries.select("namespace", F.explode(follows()).alias("record_id"))
    return entries.select("namespace", "record_id").join(named, ["namespace", "record_id"], "left_anti")


def _lines(entries: DataFrame) -> DataFrame:
    return map_batches(entries.select(*kernels.STORED_COLUMNS), kernels.packed, FILE_SCHEMA)
