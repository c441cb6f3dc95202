"""One batch: the delivered and the waiting elements with their facts, and the positions of their heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialect_api.quarantined import WAITING, statuses
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.info import INFO
from strandline.dialects.sdmp.spark import (
    borders,
    chunks,
    elements,
    few_segments,
    few_totals,
    heads,
    resources,
)
from strandline.dialects.sdmp.spark.chunks import Chunks
from strandline.dialects.sdmp.spark.few_segments import FewSegments
from strandline.dialects.sdmp.spark.known_segments import with_known
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_buckets, node_rows
from strandline.dialects.sdmp.spark.positions import resolved
from strandline.dialects.sdmp.spark.replay import replayed_elements, waiting_elements, with_waiting_source
from strandline.dialects.sdmp.spark.stored_lines import FEW_SEGMENTS
from strandline.dialects.sdmp.spark.tables import LINES, as_rows
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.buckets import in_buckets
from strandline.frames.listed import is_listed
from strandline.frames.provenance import batch_sources, record_source, with_record_source
from strandline.frames.quarantine import deferred


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
    judged = _judged(kept, scan, tables, jobs, request)
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


@dataclass(frozen=True, slots=True)
class _Judged:
    """The elements of the input before they are placed: see `Batch`."""

    facts: DataFrame
    chunks: Chunks | None
    tallied: DataFrame
    totals: Mapping[str, int]
    measured: DataFrame | None = None


def _judged(kept: DataFrame, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> _Judged:
    """Count the elements; judge chunks that are not regular line by line, and first lines by the part before."""
    if scan.is_small:
        facts = _with_stored_check(kept, tables, jobs, request)
        tallied = jobs.checkpoint(elements.tally(facts), "lines")
        return _Judged(facts, None, tallied, _totals(tallied, jobs))
    facts = _with_stored_check(kept.where(~chunks.is_chunk()), tables, jobs, request)
    of_chunks = jobs.checkpoint(chunks.judged(kept), "lines")
    regular = Chunks(kept, of_chunks.where("is_regular"), kernels.is_strict(scan.options))
    tallied = _tallied(facts, of_chunks, jobs)
    totals = _totals(tallied, jobs)
    if totals["irregular"]:
        found = regular.one_by_one(of_chunks.where("NOT is_regular"))
        facts = facts.unionByName(jobs.persist(found, "lines"))
        tallied = _tallied(facts, regular.judged, jobs)
        totals = _totals(tallied, jobs)
    if not totals["last_part"]:
        return _Judged(facts, regular, tallied, totals)
    measured = jobs.checkpoint(borders.parts(tallied), "parts")
    ends = heads.text_lines(facts).unionByName(chunks.last_lines(regular.judged).select(*heads.TEXT_LINE))
    claimed = jobs.checkpoint(borders.claims(ends, measured), "borders")
    broken = regular.judged.join(claimed, list(chunks.KEY)).where("claimed <> number").select(*chunks.KEY)
    broken = jobs.checkpoint(broken, "borders")
    is_broken = jobs.has_rows(broken)
    if is_broken:
        facts = facts.unionByName(jobs.persist(regular.one_by_one(broken), "lines"))
        regular = regular.without(broken)
    if is_broken or totals["borders"]:
        first_lines = jobs.checkpoint(borders.checked(facts, claimed), "borders")
        facts = facts.where("NOT border").unionByName(first_lines)
        tallied = _tallied(facts, regular.judged, jobs)
        totals = _totals(tallied, jobs)
    return _Judged(facts, regular, tallied, totals, measured)


def _tallied(facts: DataFrame, of_chunks: DataFrame, jobs: Jobs) -> DataFrame:
    return jobs.checkpoint(elements.tally(facts).unionByName(chunks.tally(of_chunks)), "lines")


def _totals(tallied: DataFrame, jobs: Jobs) -> dict[str, int]:
    """Return the counts of elements: all, refused ones with faults, announced ones, faults.

    And of what decides how they are judged: irregular chunks, first lines of later parts, the last part of text.
    """

    def lines(*verdicts: int) -> Column:
        return F.coalesce(F.sum(F.when(F.col("verdict").isin(*verdicts), F.col("lines"))), F.lit(0))

    is_text = F.col("frame") == kernels.TEXT_FRAME
    return jobs.row(
        tallied.agg(
            F.coalesce(F.sum("lines"), F.lit(0)).alias("read"),
            lines(elements.REFUSED, elements.FAULT).alias("refused"),
            lines(elements.ANNOUNCED).alias("announced"),
            lines(elements.FAULT).alias("faults"),
            lines(elements.IRREGULAR).alias("irregular"),
            F.count(F.when(F.col("border"), 1)).alias("borders"),
            F.coalesce(F.max(F.when(is_text, F.col("part"))), F.lit(0)).alias("last_part"),
        )
    ).asDict()


def _with_stored_check(facts: DataFrame, tables: Tables, jobs: Jobs, request: AdmitRequest) -> DataFrame:
    """Return the facts with check 9: only stored lines of local nodes pass, unless the node is restored."""
    names = local_nodes(request.options).not_restored
    if not names:
        return facts
    nodes = node_rows(tables, names)
    of_local = facts.join(F.broadcast(nodes), "node", "left_semi")
    if not jobs.has_rows(of_local):
        return facts
    stored = tables.read(LINES).where(in_buckets(node_buckets(tables, names)))
    checked = jobs.checkpoint(
        resources.with_stored_check(of_local, stored.join(F.broadcast(nodes), "namespace")), "local lines"
    )
    return facts.join(F.broadcast(nodes), "node", "left_anti").unionByName(checked)


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
    return reduce(DataFrame.unionByName, found)


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
    if not tables.has_partial_run(INFO.ingest_tables):
        rows = rows.join(delivered.select("namespace").distinct(), "namespace", "left_semi")
    columns = ("quarantine_id", "bucket", "namespace", "record_id", "raw", "raw_bytes", "evidence", "source")
    waiting = jobs.checkpoint(rows.select(*columns), "waiting")
    return waiting if jobs.has_rows(waiting) else None
