"""Entries as lines of JSON, which other lakes and devices read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.devicelog import kernels
from strandline.dialects.devicelog.spark.entries import follows, is_erased
from strandline.dialects.devicelog.spark.tables import ENTRIES
from strandline.frames.file_order import in_file_order
from strandline.frames.lift import map_batches
from strandline.frames.namespaces import only_namespaces
from strandline.kernels.packing import FILE_SCHEMA

LINE_BYTES: Final = 512
"""Of a line, without its links and its body."""
LINK_BYTES: Final = 68
"""Of a digest in hex, between quotes."""


def export(lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str]) -> ExportFile:
    """Return the entries of groups by (lamport, id); those whose body was erased are left out and counted."""
    every = only_namespaces(lake.read(ENTRIES), namespaces, lake.buckets)
    found = jobs.row(
        every.agg(
            F.count_if(is_erased()).alias("erased"), F.coalesce(F.sum(_line_bytes()), F.lit(0)).alias("bytes")
        )
    )
    entries = every.where(~is_erased())
    placed = in_file_order(entries, ("namespace", "lamport", "record_id"), found["bytes"])
    ids = entries.select("namespace", "record_id")
    return ExportFile("lines", b"", _lines(placed), ids, _heads(entries), {"erased": found["erased"]})


def to_files(rows: Mapping[str, DataFrame]) -> DataFrame:
    """Write entries as files of lines of about a MiB; one whose body was erased is a line that is rejected.

    Gives:  format, content.  Rows: one per file.
    """
    return _lines(rows[ENTRIES]).select(F.lit("lines").alias("format"), "content")


def _line_bytes() -> Column:
    """Return about how many bytes the line of an entry has."""
    texts = (F.coalesce(F.octet_length(name), F.lit(0)) for name in ("body", "raw"))
    return sum(texts, LINE_BYTES + LINK_BYTES * F.coalesce(F.array_size("deps"), F.lit(0)))


def _heads(entries: DataFrame) -> DataFrame:
    """Keep the entries that no other one names in prev or deps.  Gives: namespace, record_id."""
    named = entries.select("namespace", F.explode(follows()).alias("record_id"))
    return entries.select("namespace", "record_id").join(named, ["namespace", "record_id"], "left_anti")


def _lines(entries: DataFrame) -> DataFrame:
    return map_batches(entries.select(*kernels.STORED_COLUMNS), kernels.packed, FILE_SCHEMA)
