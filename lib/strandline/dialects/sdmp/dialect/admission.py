"""Admission of a batch of node journals: elements, segments, heads, verdicts.

The work on lines is one pass without a shuffle; what decides where a line hangs costs what the heads of segments cost.
Source: node journal rules, sections "Verification" and "Admission in Spark".
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialects.base import Admission, AdmitRequest, Reading, Stage, Tables, Union
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.dialect.batch import Batch, read_batch
from strandline.dialects.sdmp.dialect.counters import shorter_journals, since_mismatches
from strandline.dialects.sdmp.dialect.positions import LINES
from strandline.dialects.sdmp.frames import elements as el
from strandline.dialects.sdmp.frames import findings, heads, records
from strandline.dialects.sdmp.frames.again import is_delivered, with_waiting_key
from strandline.dialects.sdmp.types import DIALECT

LARGE_PART_LINES = 100_000
"""Lines of one bucket in one part that are worth a file of their own: 12 MB in the table."""


def admit(reading: Reading, tables: Tables, stage: Stage, request: AdmitRequest) -> Admission:
    """Judge one batch: which lines are accepted, rejected or deferred."""
    return _admission(read_batch(reading, tables, stage, request), tables, stage, request)


def _buckets(row: Row) -> tuple[int, ...]:
    return tuple(sorted(row["buckets"]))


def _admission(batch: Batch, tables: Tables, stage: Stage, request: AdmitRequest) -> Admission:
    totals = stage.one(
        batch.tallied.agg(
            _lines(F.lit(True)).alias("read"),
            _lines(F.col("verdict") != el.CANDIDATE).alias("refused"),
            _lines(F.col("verdict") == el.FAULT).alias("faults"),
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
    union = _union(batch, tables, stage, request, found) if buckets else None
    return Admission(
        unions=() if union is None else (union,),
        counts=counts,
        findings=_findings(batch, limited, bool(totals["refused"]), bool(deferred)),
        namespaces=found["namespaces"],
        settled=_admitted(batch),
        faults=totals["faults"],
        damaged=findings.first_breaks(
            batch.facts.where(is_delivered()), batch.heads, batch.measured, batch.sources
        )
        if totals["refused"]
        else None,
        per_file=batch.tallied.groupBy("file_no").agg(F.sum("lines").alias("records")),
        claims=_claims(batch.facts.where(is_delivered())),
    )


def _union(batch: Batch, tables: Tables, stage: Stage, request: AdmitRequest, found: Row) -> Union:
    """Return the accepted lines, and line 1 of each journal of which only later lines came."""
    buckets = _buckets(found)
    accepted = records.accepted(batch.facts, batch.heads, overlapping=bool(found["overlapping"]))
    lines = records.as_node_journal_line(accepted, origin="received", run_id=request.run_id)
    bounds = {"n": (found["low"], found["high"])}
    implied = _implied(batch, tables, stage, buckets) if found["in_namespaces"] > found["rooted"] else None
    if implied is None:
        return Union(LINES, lines, buckets, bounds, lies_ready=_lies_ready(found))
    first_lines = records.as_node_journal_line(
        records.implied(implied), origin="implied", run_id=request.run_id
    )
    return Union(
        LINES, lines.unionByName(first_lines), buckets, {"n": (1, found["high"])},
        undelivered=first_lines.select("namespace", "record_id"),
    )  # fmt: skip


def _lines(which: Column) -> Column:
    return F.coalesce(F.sum(F.when(which, F.col("lines"))), F.lit(0))


def _lies_ready(found: Row) -> bool:
    """Return whether the lines already lie as the table wants them: ascending, and much of one bucket in each part."""
    return not found["overlapping"] and found["in_lines"] >= LARGE_PART_LINES * found["part_buckets"]


def _told_by_heads(batch: Batch, stage: Stage) -> Row:
    """Return, from the heads alone, the counts of lines, the literals of the MERGE, and what need not be looked for."""
    delivered, is_in = is_delivered(), F.col("n").isNotNull()
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
            _lines(is_in).alias("in_lines"),
            F.count(F.when(is_in & F.col("overlaps"), 1)).alias("overlapping"),
            F.count_distinct(F.when(is_in, F.struct("file_no", "part", "bucket"))).alias("part_buckets"),
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
    keyed = with_waiting_key(batch.waiting)
    resolved = batch.heads.where(~is_delivered() & F.col("n").isNotNull())
    return keyed.join(resolved.select("part", "frame"), ["part", "frame"], "left_semi").select(
        "quarantine_id", "bucket", "namespace", "record_id"
    )


def _over_limit(batch: Batch, tables: Tables, stage: Stage, request: AdmitRequest) -> DataFrame | None:
    """Return the delivered open elements beyond the limit of waiting rows of their namespace, or None."""
    limit = request.deferred_per_namespace
    waiting = tables.read("quarantine").where((F.col("dialect") == DIALECT) & (F.col("status") == "deferred"))
    before = waiting.groupBy("namespace").agg(F.count(F.lit(1)).alias("waits"))
    delivered_open = batch.heads.where(is_delivered() & F.col("n").isNull())
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
