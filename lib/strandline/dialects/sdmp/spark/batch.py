"""One batch: the delivered and the waiting elements with their facts, and the positions of their heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialect_api.quarantined import WAITING, statuses
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.info import INFO
from strandline.dialects.sdmp.spark import (
    chunks,
    elements,
    few_segments,
    few_totals,
    heads,
)
from strandline.dialects.sdmp.spark.chunks import Chunks
from strandline.dialects.sdmp.spark.few_segments import FewSegments
from strandline.dialects.sdmp.spark.judged_elements import judged_elements
from strandline.dialects.sdmp.spark.known_segments import with_known
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_rows
from strandline.dialects.sdmp.spark.positions import resolved
from strandline.dialects.sdmp.spark.replay import replayed_elements, waiting_elements, with_waiting_source
from strandline.dialects.sdmp.spark.stored_lines import FEW_SEGMENTS
from strandline.dialects.sdmp.spark.tables import as_rows
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.listed import is_listed
from strandline.frames.provenance import batch_sources, record_source, with_record_source
from strandline.frames.quarantine import deferred
from strandline.frames.union import union


@dataclass(frozen=True, slots=True)
class Batch:
    """The elements of a run with their facts, waiting ones too, and their heads with n (null: no known predecessor).

    `facts` are those of elements that were judged one by one; `chunks` has the other lines. `tallied` counts the
    delivered elements (`elements.tally`), `totals` are its sums. `measured` are the parts of text journals, or None;
    `waiting` are the rows of `quarantine` that are judged again, or None. `sources` is the result of
    `provenance.batch_sources`. `heads` say with is_known that all lines of a segment are stored. `few` has the same
    elements, counted and placed in the driver, if they are few.
    """

    facts: DataFrame
    chunks: Chunks | None
    tallied: DataFrame
    totals: Mapping[str, int]
    heads: DataFrame
    measured: DataFrame | None
    waiting: DataFrame | None
    sources: DataFrame
    few: FewSegments | None = None

    def lines(self, segments: DataFrame | None = None) -> DataFrame:
        """Return the facts of all elements; of those in chunks, only of these segments if some are given."""
        return self.facts if self.chunks is None else self.facts.unionByName(self.chunks.lines(segments))


def read_batch(scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Batch:
    """Read all delivered elements, add waiting ones of the same namespaces, and find the positions of the heads."""
    is_small = scan.is_small
    has_journals = not request.is_unlike_reduced()
    facts = elements.with_line_facts(_elements(scan, request), strict=kernels.is_strict(scan.options))
    kept = jobs.persist(facts, "lines")
    if is_small and request.replay is None and not local_nodes(request.options).nodes:
        # In one part: no aggregate and no join of them needs a shuffle.
        in_one = kept.coalesce(1)
        few = few_segments.place(in_one, tables, jobs, has_journals=has_journals)
        if few is not None:
            return _few_batch(in_one, few, scan, tables, jobs)
    judged = judged_elements(kept, scan, tables, jobs, request)
    facts, in_chunks = judged.facts, judged.chunks
    sources = batch_sources(scan.sources(), request.replay)
    segments = heads.segments(facts, judged.tallied, tables.buckets)
    if in_chunks is not None:
        segments = segments.unionByName(chunks.heads(in_chunks.judged, tables.buckets))
    delivered = jobs.checkpoint(with_record_source(segments, sources), "segments")
    waiting = _waiting(delivered, tables, jobs, request)
    every = delivered
    if waiting is not None:
        recalled = elements.with_line_facts(waiting_elements(waiting), strict=kernels.is_strict(scan.options))
        recalled = jobs.persist(recalled, "waiting records")
        facts = facts.unionByName(recalled)
        segments = heads.segments(recalled, elements.tally(recalled), tables.buckets)
        every = delivered.unionByName(with_waiting_source(segments, waiting))
    lines = heads.candidates(facts)
    if in_chunks is not None:
        lines = lines.unionByName(chunks.last_lines(in_chunks.judged).drop("raw"))
    placed = resolved(every, lines, in_chunks, tables, jobs, has_journals=has_journals)
    # A MERGE of little is cheaper than these looks.
    looks = has_journals and not is_small
    marked = with_known(placed, lines, tables, jobs) if looks else placed.withColumn("is_known", F.lit(False))
    return Batch(facts, in_chunks, judged.tallied, judged.totals, marked, judged.measured, waiting, sources)


def _few_batch(facts: DataFrame, few: FewSegments, scan: InputScan, tables: Tables, jobs: Jobs) -> Batch:
    sources = batch_sources(scan.sources(), None)
    source_of = scan.source_of()
    if source_of is None:
        files = sorted({head.segment.file_no for head in few.heads})
        named = sources.where(is_listed("file_no", files)).select(
            "file_no", record_source(F.col("source")).alias("source")
        )
        source_of = {row["file_no"]: row["source"] for row in jobs.few(named, FEW_SEGMENTS) or ()}
    rows = [head.row(source_of[head.segment.file_no], tables.buckets) for head in few.heads]
    spans = [{name: row[name] for name in _SPAN_SCHEMA.names} for row in few.spans]
    return Batch(
        facts,
        None,
        as_rows(tables, pa.Table.from_pylist(spans, schema=_SPAN_SCHEMA)),
        few_totals.totals(few),
        as_rows(tables, pa.Table.from_pylist(rows, schema=kernels.HEAD_SCHEMA)),
        None,
        None,
        sources,
        few,
    )


_SPAN_SCHEMA: Final = pa.schema(
    {
        "file_no": pa.int64(), "part": pa.int64(), "frame": pa.int64(), "head": pa.int64(), "border": pa.bool_(),
        "verdict": pa.int8(), "lines": pa.int64(), "last_idx": pa.int64(),
    }
)  # fmt: skip
"""The columns of `elements.tally`."""


def _elements(scan: InputScan, request: AdmitRequest) -> DataFrame:
    found: list[DataFrame] = []
    names = frozenset(local_nodes(request.options).nodes)
    announcing = frozenset(()) if request.only_records else names
    in_chunks = kernels.NO_CHUNKS if scan.is_small else kernels.ChunkRules(chunks.CHUNK_LINES, names)
    read = partial(kernels.read_content, local_nodes=announcing, chunks=in_chunks)
    pieces = scan.pieces(read, kernels.ELEMENT_FIELDS)
    if pieces is not None:
        found.append(pieces.select(*elements.ELEMENT_COLUMNS))
    if request.replay is not None:
        found.append(replayed_elements(request.replay, scan.options, announcing))
    return union(found)


def _waiting(delivered: DataFrame, tables: Tables, jobs: Jobs, request: AdmitRequest) -> DataFrame | None:
    """Return the waiting rows of the namespaces in this batch, or None if there are none.

    After a run that was killed or raced by another one, those of all namespaces: it may have let in what they wait for.
    Rows of local nodes stay deferred unless the node is restored: they would fail check 9.
    """
    rows = deferred(tables.read(QUARANTINE), DIALECT).where(F.col("namespace").isNotNull())
    if not (WAITING in statuses(DIALECT, tables) and jobs.has_rows(rows)):
        return None
    names = local_nodes(request.options).not_restored
    if names:
        rows = rows.join(F.broadcast(node_rows(tables, names)), "namespace", "left_anti")
    if not tables.begin_repair(INFO.ingest_tables):
        rows = rows.join(delivered.select("namespace").distinct(), "namespace", "left_semi")
    columns = ("quarantine_id", "bucket", "namespace", "record_id", "raw", "raw_bytes", "evidence", "source")
    waiting = jobs.checkpoint(rows.select(*columns), "waiting")
    return waiting if jobs.has_rows(waiting) else None
