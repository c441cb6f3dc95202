"""One batch: what was read and what waited, with the facts of each element, and where its heads hang."""

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
from strandline.dialects.sdmp.spark.replay import replayed_elements, waiting_elements
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.quarantine import deferred


@dataclass(frozen=True, slots=True)
class Batch:
    """The elements of a run with their facts, waiting ones too, and where their heads hang (n null: open).

    `tallied` counts what was delivered (`elements.tally`). `measured` are the parts of split text journals, or None;
    `waiting` the rows of `quarantine` judged again, or None.
    """

    facts: DataFrame
    tallied: DataFrame
    heads: DataFrame
    measured: DataFrame | None
    waiting: DataFrame | None
    sources: DataFrame


def read_batch(scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Batch:
    """Read all that was delivered, add what waits in the same namespaces, and find where the heads hang."""
    facts, tallied, measured, scan = _facts(scan, tables, jobs, request)
    delivered = jobs.checkpoint(heads.segments(facts, tallied, tables.buckets), "segments")
    waiting = _waiting(delivered, tables, jobs, request)
    every = delivered
    if waiting is not None:
        again = elements.with_line_facts(waiting_elements(waiting), strict=kernels.is_strict(scan.options))
        recalled = jobs.persist(again, "waiting records")
        facts = facts.unionByName(recalled)
        every = delivered.unionByName(heads.segments(recalled, elements.tally(recalled), tables.buckets))
    placed = resolved(every, facts, tables, jobs)
    return Batch(facts, tallied, placed, measured, waiting, scan.sources())


def _facts(
    scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> tuple[DataFrame, DataFrame, DataFrame | None, InputScan]:
    """Return the kept facts of all that is read, their tally, the parts of split text, and the reading that lost no
    line.
    """
    while True:
        # Lines that Spark reads itself come by here alone, pieces were counted when they were read.
        tally = scan.options.tally if scan.has_text else None
        kept = jobs.persist(
            elements.with_line_facts(
                _elements(scan, request), strict=kernels.is_strict(scan.options), tally=tally
            ),
            "lines",
        )
        facts = _guarded(kept, tables, jobs, request)
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


def _guarded(facts: DataFrame, tables: Tables, jobs: Jobs, request: AdmitRequest) -> DataFrame:
    """Return the facts with check 9: of own nodes only lines that are held pass, but for those that are restored."""
    guarded = local_nodes(request.options).guarded
    if not guarded:
        return facts
    nodes = node_rows(tables, guarded)
    mine = facts.join(F.broadcast(nodes), "node", "left_semi")
    if not jobs.has_rows(mine):
        return facts
    stored = tables.read(LINES).where(F.col("bucket").isin(*node_buckets(tables, guarded)))
    checked = jobs.checkpoint(
        resources.checked(mine, stored.join(F.broadcast(nodes), "namespace")), "own lines"
    )
    return facts.join(F.broadcast(nodes), "node", "left_anti").unionByName(checked)


def _elements(scan: InputScan, request: AdmitRequest) -> DataFrame:
    found: list[DataFrame] = []
    if scan.has_text:
        found.append(elements.text_elements(scan.lines(), strict=kernels.is_strict(scan.options)))
    announcing = frozenset(() if request.only_records else local_nodes(request.options).nodes)
    pieces = scan.pieces(partial(kernels.read_content, own=announcing), kernels.ELEMENT_FIELDS)
    if pieces is not None:
        found.append(pieces.select(*elements.ELEMENT_COLUMNS))
    if request.replay is not None:
        found.append(replayed_elements(request.replay, scan.options, announcing))
    return reduce(DataFrame.unionByName, found)


def _waiting(delivered: DataFrame, tables: Tables, jobs: Jobs, request: AdmitRequest) -> DataFrame | None:
    """Return the waiting rows of the namespaces that this batch has lines of, or None if nothing waits there.

    Those of own nodes stay where they are, unless the node is restored: check 9 lets none of them in.
    """
    rows = deferred(tables.read("quarantine"), DIALECT).where(F.col("namespace").isNotNull())
    if not jobs.has_rows(rows):
        return None
    touched = delivered.select("namespace").distinct()
    guarded = local_nodes(request.options).guarded
    if guarded:
        touched = touched.join(F.broadcast(node_rows(tables, guarded)), "namespace", "left_anti")
    columns = ("quarantine_id", "bucket", "namespace", "record_id", "raw", "raw_bytes", "evidence")
    waiting = jobs.checkpoint(rows.join(touched, "namespace", "left_semi").select(*columns), "waiting")
    return waiting if jobs.has_rows(waiting) else None
