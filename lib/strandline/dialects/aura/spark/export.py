"""Facts as files that other lakes and implementations read: lines of JSON, a journal document, a CBOR sequence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.core.errors import UsageError
from strandline.dialect_api.export import ExportFile
from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.aura import kernels
from strandline.dialects.aura.codec import MAX_FILE_BYTES, DocumentFormat
from strandline.dialects.aura.spark.tables import FACTS
from strandline.frames.file_order import in_file_order
from strandline.frames.lift import map_batches
from strandline.frames.namespaces import only_namespaces
from strandline.kernels.packing import FILE_SCHEMA

_TAIL = b"\n]}\n"
FEW_STORED_BYTES: Final = 16 * 1024 * 1024
"""Stored bytes of all facts up to which no job counts those of the file: Spark's usual partitions are small enough."""


def export(lake: LakeSnapshot, jobs: Jobs, namespaces: Sequence[str], form: DocumentFormat) -> ExportFile:
    """Return the facts of namespaces by (order, fact id). No fact names another one, so each is a head.

    Raises: UsageError EXPORT_ONE_NAMESPACE, EXPORT_TOO_LARGE: a journal document has one namespace and at most 64 MiB.
    """
    facts = only_namespaces(lake.read(FACTS), namespaces, lake.buckets)
    order = ("namespace", "order_token", "record_id")
    size = 0
    # A document has at most 64 MiB, whatever its namespace has.
    if form != "json" and lake.stored_bytes(FACTS) > FEW_STORED_BYTES:
        size = jobs.row(facts.agg(_file_bytes(form).alias("bytes")))["bytes"] or 0
    placed = in_file_order(facts.select(*order, "fact_cbor"), order, size)
    ids = facts.select("namespace", "record_id")
    rows, separator = _packed(placed, form), kernels.SEPARATORS[form]
    if form != "json":
        return ExportFile(form, b"", rows, ids, ids)
    if len(namespaces) != 1:
        raise UsageError(
            "EXPORT_ONE_NAMESPACE",
            f"a journal document has the facts of one namespace, not of {len(namespaces)}",
            "export one namespace, or name a file that ends in .jsonl",
        )
    head = f'{{"namespace":{json.dumps(namespaces[0])},"facts":[\n'.encode()
    found = jobs.row(rows.agg(F.sum(F.length("content") + len(separator)).alias("bytes")))
    if len(head) + (found["bytes"] or 0) + len(_TAIL) > MAX_FILE_BYTES:
        raise UsageError(
            "EXPORT_TOO_LARGE",
            f"the facts of {namespaces[0]} take more than {MAX_FILE_BYTES >> 20} MiB, the most of a journal document",
            "name a file that ends in .jsonl or .cbor",
        )
    return ExportFile(form, head, rows, ids, ids, separator=separator, tail=_TAIL)


def to_files(rows: Mapping[str, DataFrame]) -> DataFrame:
    """Write facts as files of lines of about a MiB.  Gives: format, content.  Rows: one per file."""
    return _packed(rows[FACTS], "lines").select(F.lit("lines").alias("format"), "content")


def _file_bytes(form: DocumentFormat) -> Column:
    """Return about how many bytes facts have in a file: a text has twice as many."""
    size = F.sum(F.octet_length("fact_cbor"))
    return size if form == "cbor" else 2 * size


def _packed(facts: DataFrame, form: DocumentFormat) -> DataFrame:
    return map_batches(facts.select("fact_cbor"), kernels.packed, FILE_SCHEMA, form=form)
