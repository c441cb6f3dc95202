"""Admission of a batch of node journals: elements, segments, heads, verdicts.

The pass over the lines needs no shuffle; the cost of finding predecessors depends on the number of segment heads.
Source: node journal rules, sections "Verification" and "Admission in Spark".
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialect_api.admission import Admission, AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import elements, few_totals, findings
from strandline.dialects.sdmp.spark.batch import Batch, read_batch
from strandline.dialects.sdmp.spark.chunks import is_whole_chunk, last_lines
from strandline.dialects.sdmp.spark.counters import shorter_journals, since_mismatches
from strandline.dialects.sdmp.spark.inserts import inserts, sorted_buckets
from strandline.dialects.sdmp.spark.line_columns import namespace, number_of
from strandline.dialects.sdmp.spark.replay import is_delivered, with_waiting_key
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.quarantine import deferred
from strandline.frames.verdicts import without_room


def admit(scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Admission:
    """Judge one batch: which lines are accepted, rejected or deferred."""
    return _admission(read_batch(scan, tables, jobs, request), tables, jobs, request)


def _admission(batch: Batch, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Admission:
    totals = batch.totals
    found = (
        _head_totals(batch, jobs) if batch.few is None else few_totals.head_totals(batch.few, tables.buckets)
    )
    buckets = sorted_buckets(found)
    deferred = found["deferred"] or 0
    limited = _over_limit(batch, tables, jobs, request) if deferred else None
    limited_count = 0 if limited is None else jobs.row(limited.agg(F.count(F.lit(1)).alias("rows")))["rows"]
    counts = {
        "read": totals["read"],
        "accepted": (found["accepted"] or 0) + totals["announced"],
        "rejected": totals["refused"] - totals["faults"] + limited_count,
        "deferred": deferred + totals["faults"] - limited_count,
        "since_mismatch": _since_mismatches(batch, tables, jobs, buckets) if found["frames"] else 0,
        "shorter_journals": _shorter_journals(batch, tables, jobs, buckets, found["low_end"]),
    }
    return Admission(
        inserts=inserts(batch, tables, jobs, request, found, bool(totals["announced"])),
        counts=counts,
        findings=_findings(batch, limited, bool(totals["refused"]), bool(deferred)),
        namespaces=found["namespaces"],
        resolved=_readmitted(batch),
        faults=totals["faults"],
        damaged=findings.first_breaks(
            batch.facts.where(is_delivered()), batch.heads, batch.measured, batch.sources
        )
        if totals["refused"]
        else None,
        per_file=lambda: batch.tallied.groupBy("file_no").agg(F.sum("lines").alias("records")),
        claims=lambda: _claims(batch.lines().where(is_delivered())),
    )


def _since_mismatches(batch: Batch, tables: Tables, jobs: Jobs, buckets: tuple[int, ...]) -> int:
    wrong = None if batch.few is None else few_totals.since_mismatches(batch.few)
    return since_mismatches(batch.lines(), batch.heads, tables, jobs, buckets) if wrong is None else wrong


def _shorter_journals(
    batch: Batch, tables: Tables, jobs: Jobs, buckets: tuple[int, ...], low_end: int | None
) -> int:
    shorter = None if batch.few is None else few_totals.shorter_journals(batch.few)
    if shorter is not None:
        return shorter
    passed = F.when(elements.is_candidate(), F.col("hash")).alias("hash")
    of_text = batch.facts.where(F.col("frame") == kernels.TEXT_FRAME)
    ends = of_text.select("file_no", "part", "idx", passed)
    if batch.chunks is not None:
        ends = ends.unionByName(last_lines(batch.chunks.judged).select(*ends.columns))
    return shorter_journals(ends, batch.heads, tables, jobs, buckets, low_end)


def _lines(which: Column) -> Column:
    return F.coalesce(F.sum(F.when(which, F.col("lines"))), F.lit(0))


def _head_totals(batch: Batch, jobs: Jobs) -> dict[str, Any]:
    """Return what the heads determine: counts of lines, the literals of the MERGE, and which lookups are needed."""
    delivered, is_accepted = is_delivered(), F.col("n").isNotNull()
    is_new = is_accepted & ~F.col("is_known")
    end = F.col("n") + F.col("lines") - 1
    is_text = F.col("frame") == kernels.TEXT_FRAME
    return jobs.row(
        batch.heads.agg(
            F.sum(F.when(delivered & is_accepted, F.col("lines")).otherwise(0)).alias("accepted"),
            F.sum(F.when(delivered & ~is_accepted, F.col("lines")).otherwise(0)).alias("deferred"),
            F.min(F.when(is_new, F.col("n"))).alias("low"),
            F.max(F.when(is_new, end)).alias("high"),
            F.min(F.when(delivered & is_text, end)).alias("low_end"),
            F.count(F.when(delivered & is_accepted & F.col("since").isNotNull(), 1)).alias("frames"),
            F.collect_set(F.when(is_accepted, F.col("bucket"))).alias("buckets"),
            F.collect_set(F.when(is_new, F.col("bucket"))).alias("new_buckets"),
            _lines(is_new).alias("new_lines"),
            _lines(is_new & is_whole_chunk()).alias("chunk_lines"),
            F.count(F.when(is_new & F.col("overlaps"), 1)).alias("overlapping"),
            F.count_distinct(F.when(is_new, F.struct("file_no", "part", "bucket"))).alias("part_buckets"),
            F.count_distinct("namespace").alias("namespaces"),
            F.count_distinct(F.when(is_accepted, F.col("namespace"))).alias("accepted_namespaces"),
            F.count_distinct(
                F.when(is_accepted & ((F.col("n") == 1) | F.col("has_stored")), F.col("namespace"))
            ).alias("rooted"),
        )
    ).asDict()


def _readmitted(batch: Batch) -> DataFrame | None:
    """Return the waiting rows whose line is accepted now."""
    if batch.waiting is None:
        return None
    keyed = with_waiting_key(batch.waiting)
    resolved = batch.heads.where(~is_delivered() & F.col("n").isNotNull())
    return keyed.join(resolved.select("part", "frame"), ["part", "frame"], "left_semi").select(
        "quarantine_id", "bucket", "namespace", "record_id"
    )


def _over_limit(batch: Batch, tables: Tables, jobs: Jobs, request: AdmitRequest) -> DataFrame | None:
    """Return the delivered elements beyond their namespace's limit of waiting rows, or None."""
    limit = request.deferred_per_namespace
    if batch.few is not None and few_totals.within_room(batch.few, limit):
        return None
    waiting = deferred(tables.read(QUARANTINE), DIALECT)
    delivered_open = batch.heads.where(is_delivered() & F.col("n").isNull())
    arrivals = delivered_open.groupBy("namespace").agg(F.sum("lines").alias("arrivals"))
    full = jobs.checkpoint(without_room(arrivals, waiting, limit), "limit of waiting records")
    if not jobs.has_rows(full):
        return None
    return jobs.checkpoint(
        findings.beyond(batch.lines(delivered_open), delivered_open, full, waiting), "records over the limit"
    )


def _findings(
    batch: Batch, limited: DataFrame | None, has_refused: bool, has_deferred: bool
) -> DataFrame | None:
    found: list[DataFrame] = []
    if has_refused:
        found.append(findings.rejected(batch.facts.where(is_delivered()), batch.measured, batch.sources))
    if has_deferred:
        waiting = batch.lines(batch.heads.where("n IS NULL AND is_chunk")).where(is_delivered())
        found.append(findings.deferred(waiting, batch.heads, batch.measured, batch.sources, limited))
    if not found:
        return None
    return found[0] if len(found) == 1 else found[0].unionByName(found[1])


def _claims(facts: DataFrame) -> DataFrame:
    """Return what each element with the form of a line names (its hash) and follows (its number), accepted or not."""
    follows = F.array(number_of(F.col("raw"), F.col("node")))
    is_first = F.length("raw") == F.length("node")
    return facts.where(F.col("hash").isNotNull()).select(
        "file_no",
        namespace().alias("namespace"),
        F.unhex(F.sha2("raw", 256)).alias("record_id"),
        F.col("hash").alias("name"),
        F.when(is_first, F.array().cast("array<string>")).otherwise(follows).alias("follows"),
    )
