"""The elements of the input, judged one by one or in chunks, and their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import borders, chunks, elements, heads, resources
from strandline.dialects.sdmp.spark.chunks import Chunks
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_buckets, node_rows
from strandline.dialects.sdmp.spark.tables import LINES
from strandline.frames.buckets import in_buckets


@dataclass(frozen=True, slots=True)
class JudgedElements:
    """The elements of the input before they are placed: see `batch.Batch`."""

    facts: DataFrame
    chunks: Chunks | None
    tallied: DataFrame
    totals: Mapping[str, int]
    measured: DataFrame | None = None


def judged_elements(
    kept: DataFrame, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> JudgedElements:
    """Count the elements; judge chunks that are not regular line by line, and first lines by the part before."""
    if scan.is_small:
        facts = _with_stored_check(kept, tables, jobs, request)
        tallied = jobs.checkpoint(elements.tally(facts), "lines")
        return JudgedElements(facts, None, tallied, _totals(tallied, jobs))
    facts = _with_stored_check(kept.where(~chunks.is_chunk()), tables, jobs, request)
    counted = _with_irregular(facts, kept, scan, jobs)
    measured = None
    if counted.totals["last_part"]:
        measured = jobs.checkpoint(borders.parts(counted.tallied), "parts")
        counted = _with_first_lines(counted, measured, jobs)
    return JudgedElements(counted.facts, counted.regular, counted.tallied, counted.totals, measured)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Elements that were judged one by one, the regular chunks, and their counts: see `JudgedElements`."""

    facts: DataFrame
    regular: Chunks
    tallied: DataFrame
    totals: Mapping[str, int]


def _with_irregular(facts: DataFrame, kept: DataFrame, scan: InputScan, jobs: Jobs) -> _Counted:
    """Judge all chunks, and those that are not regular line by line; count them with the facts of other elements."""
    of_chunks = jobs.checkpoint(chunks.judged(kept), "lines")
    regular = Chunks(kept, of_chunks.where("is_regular"), kernels.is_strict(scan.options))
    counted = _counted(facts, regular, of_chunks, jobs)
    if not counted.totals["irregular"]:
        return counted
    found = regular.one_by_one(of_chunks.where("NOT is_regular"))
    facts = facts.unionByName(jobs.persist(found, "lines"))
    return _counted(facts, regular, regular.judged, jobs)


def _with_first_lines(counted: _Counted, measured: DataFrame, jobs: Jobs) -> _Counted:
    """Judge the first lines of later parts by the part before: chunks that do not follow it line by line.

    Reads:  measured: `borders.parts`.
    """
    facts, regular = counted.facts, counted.regular
    ends = heads.text_lines(facts).unionByName(chunks.last_lines(regular.judged).select(*heads.TEXT_LINE))
    claimed = jobs.checkpoint(borders.claims(ends, measured), "borders")
    broken = regular.judged.join(claimed, list(chunks.KEY)).where("claimed <> number").select(*chunks.KEY)
    broken = jobs.checkpoint(broken, "borders")
    is_broken = jobs.has_rows(broken)
    if is_broken:
        facts = facts.unionByName(jobs.persist(regular.one_by_one(broken), "lines"))
        regular = regular.without(broken)
    if not is_broken and not counted.totals["borders"]:
        return counted
    first_lines = jobs.checkpoint(borders.checked(facts, claimed), "borders")
    facts = facts.where("NOT border").unionByName(first_lines)
    return _counted(facts, regular, regular.judged, jobs)


def _counted(facts: DataFrame, regular: Chunks, of_chunks: DataFrame, jobs: Jobs) -> _Counted:
    """Count the facts and these chunks."""
    tallied = jobs.checkpoint(elements.tally(facts).unionByName(chunks.tally(of_chunks)), "lines")
    return _Counted(facts, regular, tallied, _totals(tallied, jobs))


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
