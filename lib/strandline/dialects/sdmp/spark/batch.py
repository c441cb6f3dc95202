"""One batch: the delivered and the waiting elements with their facts, and the positions of their heads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import borders, elements, heads, resources
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_buckets, node_rows
from strandline.dialects.sdmp.spark.positions import LINES, resolved
from strandline.dialects.sdmp.spark.replay import replayed_elements, waiting_elements, with_waiting_source
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.provenance import batch_sources, with_record_source
from strandline.frames.quarantine import deferred


@dataclass(frozen=True, slots=True)
class Batch:
    """The elements of a run with their facts, waiting ones too, and their heads with n (null: no known predecessor).

    `tallied` counts the delivered elements (`elements.tally`). `measured` are the parts of split text journals, or
    None; `waiting` are the rows of `quarantine` that are judged again, or None. `sources` is the result of
    `provenance.batch_sources`.
    """

    facts: DataFrame
    tallied: DataFrame
    heads: DataFrame
    measured: DataFrame | None
    waiting: DataFrame | None
    sources: DataFrame


def read_batch(scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Batch:
    """Read all delivered elements, add waiting ones of the same namespaces, and find the positions of the heads."""
    facts, tallied, measured, scan = _facts(scan, tables, jobs, request)
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
    return Batch(facts, tallied, placed, measured, waiting, sources)


def _facts(
    scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> tuple[DataFrame, DataFrame, DataFrame | None, InputScan]:
    """Return the persisted facts of all elements read, their tally, the parts of split text, and the final scan.

    The final scan reads files in one piece in which Spark's reader lost lines.
    """
    while True:
        # Lines that Spark's reader splits are counted only here; pieces were counted when they were read.
        tally = scan.options.tally if scan.has_text else None
        kept = jobs.persist(
            elements.with_line_facts(
                _elements(scan, request), strict=kernels.is_strict(scan.options), tally=tally
            ),
            "lines",
        )
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
