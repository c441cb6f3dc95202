"""Admission of a batch of node journals: elements, segments, heads, verdicts.

The work on lines is one pass without a shuffle; what decides where a line hangs costs what the heads of segments cost.
Source: node journal rules, sections "Verification" and "Admission in Spark".
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialects.base import Admission, AdmitRequest, Reading, Stage, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.dialect.counters import shorter_journals, since_mismatches
from strandline.dialects.sdmp.frames import elements as el
from strandline.dialects.sdmp.frames import findings, heads, records
from strandline.dialects.sdmp.types import DIALECT

LINES = "node_journal_line"
JOURNALS = "node_journal"


@dataclass(frozen=True, slots=True)
class Batch:
    """The elements of a run with their facts, waiting ones too, and where their heads hang (n null: open).

    `measured` are the parts of split text journals, or None; `waiting` the rows of `quarantine` judged again, or None.
    """

    facts: DataFrame
    heads: DataFrame
    measured: DataFrame | None
    waiting: DataFrame | None
    sources: DataFrame


def admit(reading: Reading, tables: Tables, stage: Stage, request: AdmitRequest) -> Admission:
    """Judge one batch: which lines are accepted, rejected or deferred."""
    facts, measured, reading = _facts(reading, stage, request)
    delivered = stage.settle(heads.segments(facts, tables.buckets), "segments")
    waiting = _waiting(delivered, tables, stage)
    every = delivered
    if waiting is not None:
        again = el.with_line_facts(el.waiting_elements(waiting), strict=reading.options.strict)
        recalled = stage.keep(again, "waiting records")
        facts = facts.unionByName(recalled)
        every = delivered.unionByName(heads.segments(recalled, tables.buckets))
    resolved = _resolved(every, facts, tables, stage)
    batch = Batch(facts, resolved, measured, waiting, reading.sources())
    return _admission(batch, tables, stage, request)


def _facts(
    reading: Reading, stage: Stage, request: AdmitRequest
) -> tuple[DataFrame, DataFrame | None, Reading]:
    """Return the kept facts of all that is read, the parts of split text, and the reading that lost no line."""
    while True:
        facts = stage.keep(
            el.with_line_facts(_elements(reading, request), strict=reading.options.strict), "lines"
        )
        if not reading.has_text:
            return facts, None, reading
        measured = stage.settle(el.parts(facts), "parts")
        whole = reading.rerouted(measured.groupBy("file_no").agg(F.sum("bytes").alias("bytes")))
        if whole is None:
            if not stage.has_rows(measured.where("part > 0")):
                return facts, None, reading
            return el.with_borders_checked(facts, measured), measured, reading
        stage.drop(facts)
        reading = whole


def _elements(reading: Reading, request: AdmitRequest) -> DataFrame:
    found: list[DataFrame] = []
    if reading.has_text:
        found.append(el.text_elements(reading.lines(), strict=reading.options.strict))
    pieces = reading.pieces(kernels.read_content, kernels.ELEMENT_FIELDS)
    if pieces is not None:
        found.append(pieces.select(*el.ELEMENT_COLUMNS))
    if request.replay is not None:
        found.append(el.replayed_elements(request.replay, reading.options))
    elements = found[0]
    for more in found[1:]:
        elements = elements.unionByName(more)
    return elements


def _waiting(delivered: DataFrame, tables: Tables, stage: Stage) -> DataFrame | None:
    """Return the waiting rows of the namespaces that this batch has lines of, or None if nothing waits there."""
    deferred = tables.read("quarantine").where(
        (F.col("dialect") == DIALECT) & (F.col("status") == "deferred") & F.col("namespace").isNotNull()
    )
    if not stage.has_rows(deferred):
        return None
    touched = delivered.select("namespace").distinct()
    columns = ("quarantine_id", "bucket", "namespace", "record_id", "raw", "raw_bytes", "evidence")
    waiting = stage.settle(deferred.join(touched, "namespace", "left_semi").select(*columns), "waiting")
    return waiting if stage.has_rows(waiting) else None


def _resolved(every: DataFrame, facts: DataFrame, tables: Tables, stage: Stage) -> DataFrame:
    """Return the heads with attached_n, held, n and overlaps, kept."""
    place = ["bucket", "namespace"]
    journals = tables.read(JOURNALS).join(every.select(*place).distinct(), place, "left_semi")
    attached = stage.settle(heads.attached_to_leaves(heads.attached_to_first_lines(every), journals), "heads")
    is_open = F.col("attached_n").isNull()
    told = stage.one(
        attached.agg(F.count(F.when(is_open, 1)).alias("open"), F.collect_set("bucket").alias("buckets"))
    )
    if not told["open"]:
        return stage.settle(
            heads.with_overlaps(attached.withColumn("n", F.col("attached_n") + 1)), "positions"
        )
    parented = stage.settle(
        attached.join(heads.parents_in_run(attached, facts), "head_id", "left"), "parents"
    )
    is_root = is_open & F.col("parent_id").isNull()
    counted = stage.one(
        parented.agg(
            F.count(F.when(is_root, 1)).alias("roots"),
            F.count(F.when(is_open & ~is_root, 1)).alias("children"),
        )
    )
    if counted["roots"]:
        stored = (
            tables.read(LINES)
            .where(F.col("bucket").isin(*_buckets(told)))
            .select("namespace", "line_hash", "n")
        )
        lines = heads.attached_to_lines(
            parented.where(is_root).select("head_id", "namespace", "number"), stored
        )
        parented = stage.settle(
            parented.join(lines, "head_id", "left")
            .withColumn("attached_n", F.coalesce("attached_n", "line_n"))
            .withColumn("held", F.col("held") | F.col("line_n").isNotNull())
            .drop("line_n"),
            "stored lines",
        )
    if counted["children"]:
        placed = parented.join(heads.positions(parented), "head_id", "left")
    else:
        placed = parented.withColumn("n", F.col("attached_n") + 1)
    return stage.settle(heads.with_overlaps(placed.drop("parent_id", "parent_offset")), "positions")


def _buckets(row: Row) -> tuple[int, ...]:
    return tuple(sorted(row["buckets"]))


def _admission(batch: Batch, tables: Tables, stage: Stage, request: AdmitRequest) -> Admission:
    delivered = F.col("file_no") < el.RECALL_FILE_NO
    totals = stage.one(
        batch.facts.where(delivered).agg(
            F.count(F.lit(1)).alias("read"),
            F.count(F.when(~heads.is_candidate(), 1)).alias("refused"),
            F.count(F.when(F.col("damage") == "INTERNAL_ERROR", 1)).alias("faults"),
        )
    )
    found = _told_by_heads(batch, stage)
    buckets = _buckets(found)
    deferred = found["deferred"] or 0
    limited = _over_limit(batch, tables, stage, request) if deferred else None
    turned_away = 0 if limited is None else stage.one(limited.agg(F.count(F.lit(1)).alias("rows")))["rows"]
    counts = {
        "read": totals["read"],
        "accepted": found["accepted"] or 0,
        "rejected": totals["refused"] - totals["faults"] + turned_away,
        "deferred": deferred + totals["faults"] - turned_away,
        "since_mismatch": since_mismatches(batch.facts, batch.heads, tables, stage, buckets)
        if found["frames"]
        else 0,
        "shorter_journals": shorter_journals(
            batch.facts, batch.heads, tables, stage, buckets, found["low_end"]
        ),
    }
    implied = _implied(batch, tables, stage, buckets) if found["in_namespaces"] > found["rooted"] else None
    accepted = records.accepted(batch.facts, batch.heads)
    lines = records.as_node_journal_line(accepted, origin="received", run_id=request.run_id)
    if implied is not None:
        first_lines = records.as_node_journal_line(
            records.implied(implied), origin="implied", run_id=request.run_id
        )
        lines = lines.unionByName(first_lines)
    low = found["low"] if implied is None else 1
    return Admission(
        records=lines if buckets else None,
        buckets=buckets,
        bounds={"n": (low, found["high"])} if buckets else {},
        counts=counts,
        findings=_findings(batch, limited, bool(totals["refused"]), bool(deferred)),
        namespaces=found["namespaces"],
        implied=implied is not None,
        admitted=_admitted(batch),
        faults=totals["faults"],
        damaged=findings.first_breaks(
            batch.facts.where(delivered), batch.heads, batch.measured, batch.sources
        )
        if totals["refused"]
        else None,
        per_file=batch.facts.where(delivered).groupBy("file_no").agg(F.count(F.lit(1)).alias("records")),
        claims=_claims(batch.facts.where(delivered)),
    )


def _told_by_heads(batch: Batch, stage: Stage) -> Row:
    """Return, from the heads alone, the counts of lines, the literals of the MERGE, and what need not be looked for."""
    delivered, is_in = F.col("file_no") < el.RECALL_FILE_NO, F.col("n").isNotNull()
    end = F.col("n") + F.col("lines") - 1
    is_text = F.col("frame") == kernels.TEXT_FRAME
    return stage.one(
        batch.heads.agg(
            F.sum(F.when(delivered & is_in, F.col("lines")).otherwise(0)).alias("accepted"),
            F.sum(F.when(delivered & ~is_in, F.col("lines")).otherwise(0)).alias("deferred"),
            F.min("n").alias("low"),
            F.max(end).alias("high"),
            F.min(F.when(delivered & is_text, end)).alias("low_end"),
            F.count(F.when(delivered & is_in & F.col("since").isNotNull(), 1)).alias("frames"),
            F.collect_set(F.when(is_in, F.col("bucket"))).alias("buckets"),
            F.count_distinct("namespace").alias("namespaces"),
            F.count_distinct(F.when(is_in, F.col("namespace"))).alias("in_namespaces"),
            F.count_distinct(F.when(is_in & ((F.col("n") == 1) | F.col("held")), F.col("namespace"))).alias(
                "rooted"
            ),
        )
    )


def _implied(batch: Batch, tables: Tables, stage: Stage, buckets: tuple[int, ...]) -> DataFrame | None:
    """Return the nodes whose line 1 nobody delivered and of which nothing is held, or None."""
    bare = (
        batch.heads.where("n IS NOT NULL")
        .groupBy("namespace", "bucket", "node")
        .agg(F.max("held").alias("held"), F.min("n").alias("low"))
        .where("NOT held AND low > 1")
    )
    stored = tables.read(LINES).where(F.col("bucket").isin(*buckets) & (F.col("n") == 1)).select("namespace")
    implied = stage.settle(bare.join(stored, "namespace", "left_anti"), "first lines")
    return implied if stage.has_rows(implied) else None


def _admitted(batch: Batch) -> DataFrame | None:
    """Return the waiting rows whose line is accepted now."""
    if batch.waiting is None:
        return None
    keyed = el.with_waiting_key(batch.waiting)
    resolved = batch.heads.where((F.col("file_no") == el.RECALL_FILE_NO) & F.col("n").isNotNull())
    return keyed.join(resolved.select("part", "frame"), ["part", "frame"], "left_semi").select(
        "quarantine_id", "bucket", "namespace", "record_id"
    )


def _over_limit(batch: Batch, tables: Tables, stage: Stage, request: AdmitRequest) -> DataFrame | None:
    """Return the delivered open elements beyond the limit of waiting rows of their namespace, or None."""
    limit = request.deferred_per_namespace
    waiting = tables.read("quarantine").where((F.col("dialect") == DIALECT) & (F.col("status") == "deferred"))
    before = waiting.groupBy("namespace").agg(F.count(F.lit(1)).alias("waits"))
    delivered_open = batch.heads.where((F.col("file_no") < el.RECALL_FILE_NO) & F.col("n").isNull())
    news = delivered_open.groupBy("namespace").agg(F.sum("lines").alias("news"))
    full = news.join(before, "namespace", "left").select(
        "namespace", F.greatest(F.lit(limit) - F.coalesce("waits", F.lit(0)), F.lit(0)).alias("room"), "news"
    )
    full = stage.settle(full.where("news > room"), "limit of waiting records")
    if not stage.has_rows(full):
        return None
    return stage.settle(findings.beyond(batch.facts, delivered_open, full, waiting), "records over the limit")


def _findings(
    batch: Batch, limited: DataFrame | None, has_refused: bool, has_deferred: bool
) -> DataFrame | None:
    delivered = batch.facts.where(F.col("file_no") < el.RECALL_FILE_NO)
    found: list[DataFrame] = []
    if has_refused:
        found.append(findings.rejected(delivered, batch.measured, batch.sources))
    if has_deferred:
        found.append(findings.deferred(delivered, batch.heads, batch.measured, batch.sources, limited))
    if not found:
        return None
    return found[0] if len(found) == 1 else found[0].unionByName(found[1])


def _claims(facts: DataFrame) -> DataFrame:
    """Return what each element with the form of a line names (its hash) and follows (its number), good or not."""
    follows = F.array(heads.number_of(F.col("raw"), F.col("node")))
    is_first = F.length("raw") == F.length("node")
    return facts.where(F.col("hash").isNotNull()).select(
        "file_no",
        heads.namespace().alias("namespace"),
        F.unhex(F.sha2("raw", 256)).alias("record_id"),
        F.col("hash").alias("name"),
        F.when(is_first, F.array().cast("array<string>")).otherwise(follows).alias("follows"),
    )
