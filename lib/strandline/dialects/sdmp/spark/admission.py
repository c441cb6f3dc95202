"""Admission of a batch of node journals: elements, segments, heads, verdicts.

The pass over the lines needs no shuffle; the cost of finding predecessors depends on the number of segment heads.
Source: node journal rules, sections "Verification" and "Admission in Spark".
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.admission import Admission, AdmitRequest, TableInsert
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import elements, findings, heads, records, resources
from strandline.dialects.sdmp.spark.batch import Batch, read_batch
from strandline.dialects.sdmp.spark.counters import shorter_journals, since_mismatches
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_rows
from strandline.dialects.sdmp.spark.positions import LINES
from strandline.dialects.sdmp.spark.replay import is_delivered, with_waiting_key
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.quarantine import deferred
from strandline.frames.verdicts import without_room

LARGE_PART_LINES = 100_000
"""Lines of one bucket in one part that are worth a file of their own: 12 MB in the table."""


def admit(scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Admission:
    """Judge one batch: which lines are accepted, rejected or deferred."""
    return _admission(read_batch(scan, tables, jobs, request), tables, jobs, request)


def _buckets(row: Row) -> tuple[int, ...]:
    return tuple(sorted(row["buckets"]))


def _admission(batch: Batch, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Admission:
    totals = jobs.row(
        batch.tallied.agg(
            _lines(F.lit(True)).alias("read"),
            _lines(F.col("verdict").isin(elements.REFUSED, elements.FAULT)).alias("refused"),
            _lines(F.col("verdict") == elements.ANNOUNCED).alias("announced"),
            _lines(F.col("verdict") == elements.FAULT).alias("faults"),
        )
    )
    found = _head_totals(batch, jobs)
    buckets = _buckets(found)
    deferred = found["deferred"] or 0
    limited = _over_limit(batch, tables, jobs, request) if deferred else None
    limited_count = 0 if limited is None else jobs.row(limited.agg(F.count(F.lit(1)).alias("rows")))["rows"]
    counts = {
        "read": totals["read"],
        "accepted": (found["accepted"] or 0) + totals["announced"],
        "rejected": totals["refused"] - totals["faults"] + limited_count,
        "deferred": deferred + totals["faults"] - limited_count,
        "since_mismatch": since_mismatches(batch.facts, batch.heads, tables, jobs, buckets)
        if found["frames"]
        else 0,
        "shorter_journals": shorter_journals(
            batch.facts, batch.heads, tables, jobs, buckets, found["low_end"]
        ),
    }
    return Admission(
        inserts=_inserts(batch, tables, jobs, request, found, bool(totals["announced"])),
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
        per_file=batch.tallied.groupBy("file_no").agg(F.sum("lines").alias("records")),
        claims=_claims(batch.facts.where(is_delivered())),
    )


def _inserts(
    batch: Batch, tables: Tables, jobs: Jobs, request: AdmitRequest, found: Row, has_announced: bool
) -> tuple[TableInsert, ...]:
    """Return the inserts of accepted lines and of resources of local nodes."""
    accepted = records.accepted(batch.facts, batch.heads, overlapping=bool(found["overlapping"]))
    received = records.as_node_journal_line(accepted, origin="received", run_id=request.run_id)
    has_accepted = bool(found["buckets"])
    lines = _line_insert(batch, received, tables, jobs, request, found) if has_accepted else None
    resources_held = _resource_insert(batch, received, has_announced, has_accepted, tables, jobs, request)
    return tuple(insert for insert in (lines, resources_held) if insert is not None)


def _line_insert(
    batch: Batch, lines: DataFrame, tables: Tables, jobs: Jobs, request: AdmitRequest, found: Row
) -> TableInsert:
    """Return the accepted lines, and line 1 of each journal of which only later lines were delivered."""
    buckets = _buckets(found)
    bounds = {"n": (found["low"], found["high"])}
    implied = (
        _implied(batch, tables, jobs, buckets) if found["accepted_namespaces"] > found["rooted"] else None
    )
    if implied is None:
        return TableInsert(LINES, lines, buckets, bounds, presorted=_presorted(found))
    first_lines = records.as_node_journal_line(
        records.implied(implied), origin="implied", run_id=request.run_id
    )
    return TableInsert(
        LINES, lines.unionByName(first_lines), buckets, {"n": (1, found["high"])},
        derived_keys=first_lines.select("namespace", "record_id"),
    )  # fmt: skip


def _resource_insert(
    batch: Batch, received: DataFrame, has_announced: bool, has_accepted: bool, tables: Tables, jobs: Jobs,
    request: AdmitRequest,
) -> TableInsert | None:  # fmt: skip
    """Return the new resources of local nodes: announced ones, and those on restored lines."""
    local = local_nodes(request.options)
    found: list[DataFrame] = []
    if has_announced:
        found.append(resources.announced(batch.facts.where(elements.is_announced())))
    if local.restore and has_accepted:
        restored = node_rows(tables, local.restore)
        found.append(
            resources.restored(
                received.join(F.broadcast(restored.select("namespace")), "namespace", "left_semi")
            )
        )
    if not found:
        return None
    newest = tables.read("node_resource").agg(F.max("ingest_no").alias("last"))
    ingest_no = 1 + (jobs.row(newest)["last"] or 0)
    rows = resources.as_node_resource(reduce(DataFrame.unionByName, found), ingest_no, tables.buckets)
    rows = jobs.checkpoint(rows, "resources of local nodes")
    buckets = _buckets(jobs.row(rows.agg(F.collect_set("bucket").alias("buckets"))))
    derived_keys = rows.where("origin = 'restored'").select("namespace", "author_fp", "resource_id")
    return TableInsert("node_resource", rows, buckets, derived_keys=derived_keys) if buckets else None


def _lines(which: Column) -> Column:
    return F.coalesce(F.sum(F.when(which, F.col("lines"))), F.lit(0))


def _presorted(found: Row) -> bool:
    """Return whether the lines are laid out as the table needs: ascending, many lines per bucket and part."""
    return not found["overlapping"] and found["accepted_lines"] >= LARGE_PART_LINES * found["part_buckets"]


def _head_totals(batch: Batch, jobs: Jobs) -> Row:
    """Return what the heads determine: counts of lines, the literals of the MERGE, and which lookups are needed."""
    delivered, is_accepted = is_delivered(), F.col("n").isNotNull()
    end = F.col("n") + F.col("lines") - 1
    is_text = F.col("frame") == kernels.TEXT_FRAME
    return jobs.row(
        batch.heads.agg(
            F.sum(F.when(delivered & is_accepted, F.col("lines")).otherwise(0)).alias("accepted"),
            F.sum(F.when(delivered & ~is_accepted, F.col("lines")).otherwise(0)).alias("deferred"),
            F.min("n").alias("low"),
            F.max(end).alias("high"),
            F.min(F.when(delivered & is_text, end)).alias("low_end"),
            F.count(F.when(delivered & is_accepted & F.col("since").isNotNull(), 1)).alias("frames"),
            F.collect_set(F.when(is_accepted, F.col("bucket"))).alias("buckets"),
            _lines(is_accepted).alias("accepted_lines"),
            F.count(F.when(is_accepted & F.col("overlaps"), 1)).alias("overlapping"),
            F.count_distinct(F.when(is_accepted, F.struct("file_no", "part", "bucket"))).alias(
                "part_buckets"
            ),
            F.count_distinct("namespace").alias("namespaces"),
            F.count_distinct(F.when(is_accepted, F.col("namespace"))).alias("accepted_namespaces"),
            F.count_distinct(
                F.when(is_accepted & ((F.col("n") == 1) | F.col("has_stored")), F.col("namespace"))
            ).alias("rooted"),
        )
    )


def _implied(batch: Batch, tables: Tables, jobs: Jobs, buckets: tuple[int, ...]) -> DataFrame | None:
    """Return the nodes whose line 1 was not delivered and of which no line is stored, or None."""
    bare = (
        batch.heads.where("n IS NOT NULL")
        .groupBy("namespace", "bucket", "node")
        .agg(F.max("has_stored").alias("has_stored"), F.min("n").alias("low"))
        .where("NOT has_stored AND low > 1")
    )
    stored = tables.read(LINES).where(F.col("bucket").isin(*buckets) & (F.col("n") == 1)).select("namespace")
    implied = jobs.checkpoint(bare.join(stored, "namespace", "left_anti"), "first lines")
    return implied if jobs.has_rows(implied) else None


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
    waiting = deferred(tables.read("quarantine"), DIALECT)
    delivered_open = batch.heads.where(is_delivered() & F.col("n").isNull())
    added = delivered_open.groupBy("namespace").agg(F.sum("lines").alias("news"))
    full = jobs.checkpoint(without_room(added, waiting, limit), "limit of waiting records")
    if not jobs.has_rows(full):
        return None
    return jobs.checkpoint(
        findings.beyond(batch.facts, delivered_open, full, waiting), "records over the limit"
    )


def _findings(
    batch: Batch, limited: DataFrame | None, has_refused: bool, has_deferred: bool
) -> DataFrame | None:
    delivered = batch.facts.where(is_delivered())
    found: list[DataFrame] = []
    if has_refused:
        found.append(findings.rejected(delivered, batch.measured, batch.sources))
    if has_deferred:
        found.append(findings.deferred(delivered, batch.heads, batch.measured, batch.sources, limited))
    if not found:
        return None
    return found[0] if len(found) == 1 else found[0].unionByName(found[1])


def _claims(facts: DataFrame) -> DataFrame:
    """Return what each element with the form of a line names (its hash) and follows (its number), accepted or not."""
    follows = F.array(heads.number_of(F.col("raw"), F.col("node")))
    is_first = F.length("raw") == F.length("node")
    return facts.where(F.col("hash").isNotNull()).select(
        "file_no",
        heads.namespace().alias("namespace"),
        F.unhex(F.sha2("raw", 256)).alias("record_id"),
        F.col("hash").alias("name"),
        F.when(is_first, F.array().cast("array<string>")).otherwise(follows).alias("follows"),
    )
