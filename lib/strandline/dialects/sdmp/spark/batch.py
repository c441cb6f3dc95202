"""One batch: the delivered and the waiting elements with their facts, and the positions of their heads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import borders, elements, few_segments, heads, resources
from strandline.dialects.sdmp.spark.few_segments import FewSegments
from strandline.dialects.sdmp.spark.known_segments import with_known
from strandline.dialects.sdmp.spark.local_nodes import as_rows, local_nodes, node_buckets, node_rows
from strandline.dialects.sdmp.spark.positions import LINES, resolved
from strandline.dialects.sdmp.spark.replay import replayed_elements, waiting_elements, with_waiting_source
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.provenance import batch_sources, record_source, with_record_source
from strandline.frames.quarantine import deferred


@dataclass(frozen=True, slots=True)
class Batch:
    """The elements of a run with their facts, waiting ones too, and their heads with n (null: no known predecessor).

    `tallied` counts the delivered elements (`elements.tally`). `measured` are the parts of split text journals, or
    None; `waiting` are the rows of `quarantine` that are judged again, or None. `sources` is the result of
    `provenance.batch_sources`. `heads` say with is_known that all lines of a segment are stored. `few` has the same
    elements, counted and placed in the driver, if they are few.
    """

    facts: DataFrame
    tallied: DataFrame
    heads: DataFrame
    measured: DataFrame | None
    waiting: DataFrame | None
    sources: DataFrame
    few: FewSegments | None = None


def read_batch(scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Batch:
    """Read all delivered elements, add waiting ones of the same namespaces, and find the positions of the heads."""
    kept, is_small = _kept(scan, jobs, request), scan.is_small
    if is_small and not scan.has_text and request.replay is None and not local_nodes(request.options).nodes:
        # In one part: no aggregate and no join of them needs a shuffle.
        in_one = kept.coalesce(1)
        few = few_segments.place(in_one, tables, jobs)
        if few is not None:
            return _few_batch(in_one, few, scan, tables)
    facts, tallied, measured, scan = _facts(kept, scan, tables, jobs, request)
    sources = batch_sources(scan.sources(), request.replay)
    segments = heads.segments(facts, tallied, tables.buckets)
    delivered = jobs.checkpoint(with_record_source(segments, sources), "segments")
    waiting = _waiting(delivered, tables, jobs, request)
    every = delivered
    if waiting is not None:
        recalled = elements.with_line_facts(waiting_elements(waiting), strict=kernels.is_strict(scan.options))
        recalled = jobs.persist(recalled, "waiting records")
        facts = facts.unionByName(recalled)
        segments = heads.segments(recalled, elements.tally(recalled), tables.buckets)
        every = delivered.unionByName(with_waiting_source(segments, waiting))
    placed = resolved(every, facts, tables, jobs)
    # A MERGE of little is cheaper than these looks.
    marked = (
        placed.withColumn("is_known", F.lit(False)) if is_small else with_known(placed, facts, tables, jobs)
    )
    return Batch(facts, tallied, marked, measured, waiting, sources)


def _few_batch(facts: DataFrame, few: FewSegments, scan: InputScan, tables: Tables) -> Batch:
    sources = batch_sources(scan.sources(), None)
    named = sources.select("file_no", record_source(F.col("source")).alias("source")).collect()
    source_of = {row["file_no"]: row["source"] for row in named}
    rows = [head.row(source_of[head.segment.file_no], tables.buckets) for head in few.heads]
    spans = [{name: row[name] for name in _SPAN_SCHEMA.names} for row in few.spans]
    return Batch(
        facts,
        as_rows(tables, pa.Table.from_pylist(spans, schema=_SPAN_SCHEMA)),
        as_rows(tables, pa.Table.from_pylist(rows, schema=kernels.HEAD_SCHEMA)),
        None,
        None,
        sources,
        few,
    )


_SPAN_SCHEMA: Final = pa.schema(
    {
        "file_no": pa.int64(), "part": pa.int64(), "frame": pa.int64(), "head": pa.int64(), "border": pa.bool_(),
        "verdict": pa.int8(), "lines": pa.int64(), "bytes": pa.int64(), "last_idx": pa.int64(),
    }
)  # fmt: skip
"""The columns of `elements.tally`."""


def _kept(scan: InputScan, jobs: Jobs, request: AdmitRequest) -> DataFrame:
    """Return the persisted facts of all elements read."""
    # Lines that Spark's reader splits are counted only here; pieces were counted when they were read.
    tally = scan.options.tally if scan.has_text else None
    facts = elements.with_line_facts(
        _elements(scan, request), strict=kernels.is_strict(scan.options), tally=tally
    )
    return jobs.persist(facts, "lines")


def _facts(
    kept: DataFrame, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> tuple[DataFrame, DataFrame, DataFrame | None, InputScan]:
    """Return the facts of all elements read, their tally, the parts of split text, and the final scan.

    The final scan reads files in one piece in which Spark's reader lost lines.
    """
    while True:
        facts = _with_stored_check(kept, tables, jobs, request)
        tallied = jobs.checkpoint(elements.tally(facts), "lines")
        if not scan.has_text:
            return facts, tallied, None, scan
        measured = jobs.checkpoint(borders.parts(tallied), "parts")
        whole = scan.without_truncated(measured.groupBy("file_no").agg(F.sum("bytes").alias("bytes")))
        if whole is None:
            break
        jobs.unpersist(kept)
        scan = whole
        kept = _kept(scan, jobs, request)
    if not jobs.has_rows(measured.where("part > 0")):
        return facts, tallied, None, scan
    first_lines = jobs.checkpoint(borders.checked(facts, measured), "borders")
    inside = F.expr("NOT border")
    return (
        facts.where(inside).unionByName(first_lines),
        tallied.where(inside).unionByName(elements.tally(first_lines)),
        measured,
        scan,
    )


def _with_stored_check(facts: DataFrame, tables: Tables, jobs: Jobs, request: AdmitRequest) -> DataFrame:
    """Return the facts with check 9: only stored lines of local nodes pass, unless the node is restored."""
    names = local_nodes(request.options).not_restored
    if not names:
        return facts
    nodes = node_rows(tables, names)
    of_local = facts.join(F.broadcast(nodes), "node", "left_semi")
    if not jobs.has_rows(of_local):
        return facts
    stored = tables.read(LINES).where(F.col("bucket").isin(*node_buckets(tables, names)))
    checked = jobs.checkpoint(
        resources.with_stored_check(of_local, stored.join(F.broadcast(nodes), "namespace")), "local lines"
    )
    return facts.join(F.broadcast(nodes), "node", "left_anti").unionByName(checked)


def _elements(scan: InputScan, request: AdmitRequest) -> DataFrame:
    found: list[DataFrame] = []
    if scan.has_text:
        found.append(elements.text_elements(scan.lines(), strict=kernels.is_strict(scan.options)))
    announcing = frozenset(() if request.only_records else local_nodes(request.options).nodes)
    pieces = scan.pieces(partial(kernels.read_content, local_nodes=announcing), kernels.ELEMENT_FIELDS)
    if pieces is not None:
        found.append(pieces.select(*elements.ELEMENT_COLUMNS))
    if request.replay is not None:
        found.append(replayed_elements(request.replay, scan.options, announcing))
    return reduce(DataFrame.unionByName, found)


def _waiting(delivered: DataFrame, tables: Tables, jobs: Jobs, request: AdmitRequest) -> DataFrame | None:
    """Return the waiting rows of the namespaces in this batch, or None if there are none.

    Rows of local nodes stay deferred unless the node is restored: they would fail check 9.
    """
    rows = deferred(tables.read("quarantine"), DIALECT).where(F.col("namespace").isNotNull())
    if not jobs.has_rows(rows):
        return None
    touched = delivered.select("namespace").distinct()
    names = local_nodes(request.options).not_restored
    if names:
        touched = touched.join(F.broadcast(node_rows(tables, names)), "namespace", "left_anti")
    columns = ("quarantine_id", "bucket", "namespace", "record_id", "raw", "raw_bytes", "evidence", "source")
    waiting = jobs.checkpoint(rows.join(touched, "namespace", "left_semi").select(*columns), "waiting")
    return waiting if jobs.has_rows(waiting) else None
