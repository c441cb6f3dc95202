"""Judges one batch: documents that were read, and waiting records."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.reasons import rules_version
from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialect_api.stages import Batch, RecordStages
from strandline.frames import blocks, findings, known, provenance, verdicts
from strandline.kernels.reading import ReadOptions


def read_batch(
    stages: RecordStages, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> Batch:
    """Read the documents, judge the blocks without an earlier verdict, and the waiting records that need them."""
    documents = _documents(stages, scan, request)
    documents = jobs.persist(blocks.with_bucket(documents, tables.buckets), "documents")
    earlier = _known(stages, documents, tables, jobs, request)
    to_judge = blocks.distinct_blocks(documents, stages.claims)
    if earlier is not None:
        to_judge = to_judge.join(_ids(earlier), "judge_id", "left_anti")
    sources = provenance.batch_sources(scan.sources(), request.replay)
    to_judge = provenance.with_record_source(to_judge, sources)
    judged = jobs.persist(_judged(stages, to_judge, scan.options), "blocks")
    waiting = verdicts.waiting(tables.read("quarantine"), stages.info.name)
    waits = jobs.has_rows(waiting)
    gathered = stages.gather(judged, waiting if waits else None, tables, jobs)
    recalled = refuted = None
    every = judged.withColumn("is_recalled", F.lit(False))
    if waits:
        recalled = jobs.checkpoint(stages.recall(waiting, gathered), "waiting")
        recalled = recalled if jobs.has_rows(recalled) else None
    if recalled is not None:
        named = recalled.withColumn("source", provenance.record_source(F.col("source")))
        rejudged = _judged(stages, blocks.waiting_blocks(named, stages.claims), scan.options)
        rejudged = jobs.persist(rejudged, "waiting records").withColumn("is_recalled", F.lit(True))
        every = every.unionByName(rejudged)
    resolution = stages.resolve(every, gathered)
    decided = jobs.checkpoint(resolution.verdicts, "verdicts")
    decided = _within_limit(decided, waiting, jobs, request)
    if recalled is not None:
        refuted = findings.recalled_findings(every, decided.where("is_recalled"), recalled)
        if earlier is not None:
            # A waiting record that is judged now has a new verdict.
            judged_again = recalled.select(F.col("record_id").alias("judge_id"))
            earlier = earlier.join(judged_again, "judge_id", "left_anti")
    parts = [decided] if earlier is None else [decided, earlier]
    all_verdicts = reduce(DataFrame.unionByName, [part.select(*verdicts.VERDICT) for part in parts])
    delivered = jobs.checkpoint(verdicts.delivered(documents, all_verdicts), "verdicts")
    return Batch(
        documents, every, resolution.concluded, all_verdicts, delivered, gathered, sources, recalled, refuted
    )


def _documents(stages: RecordStages, scan: InputScan, request: AdmitRequest) -> DataFrame:
    found: list[DataFrame] = []
    pieces = scan.pieces(stages.read_content, stages.document_fields)
    if pieces is not None:
        found.append(pieces)
    if request.replay is not None:
        found.append(
            blocks.replayed_documents(request.replay, stages.replay, stages.document_fields, scan.options)
        )
    return reduce(DataFrame.unionByName, found)


def _judged(stages: RecordStages, to_judge: DataFrame, options: ReadOptions) -> DataFrame:
    return blocks.judged(to_judge, stages.judge, stages.judged, options)


def _known(
    stages: RecordStages, documents: DataFrame, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> DataFrame | None:
    """Return the verdicts of earlier runs, or None: on stored, pruned, rejected and waiting records.

    In a replay, earlier rejections do not count.
    """
    in_evidence = stages.claims_in_evidence()
    asked = known.asked_for(documents, stages.claims, in_evidence)
    buckets = jobs.row(asked.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
    found: list[DataFrame] = []
    for table in (tables.read(stages.info.record_table), stages.pruned(tables)) if buckets else ():
        records = table.where(F.col("bucket").isin(*buckets))
        if jobs.has_rows(records):
            asked = asked.join(_ids(found[0]), "judge_id", "left_anti") if found else asked
            found.append(jobs.checkpoint(known.stored(asked, records, tuple(in_evidence)), "known records"))
    rows = known.rows_with_verdict(
        tables.read("quarantine"), dialect=stages.info.name, open_reasons=stages.open_reasons,
        rules_version=rules_version(), rejected=request.replay is None,
    )  # fmt: skip
    if jobs.has_rows(rows):
        remembered = known.remembered(asked, rows, in_evidence)
        for each in found:
            remembered = remembered.join(_ids(each), "judge_id", "left_anti")
        found.append(jobs.checkpoint(remembered, "known verdicts"))
    if not found:
        return None
    every = reduce(DataFrame.unionByName, found)
    return every if jobs.has_rows(every) else None


def _ids(judged: DataFrame) -> DataFrame:
    """Return judge_id as a new column.

    A checkpoint has the columns of its plan: without adaptive execution, Spark finds the same column on both sides of
    a join with this plan, and fails.
    """
    return judged.select(F.col("judge_id").alias("judge_id"))


def _within_limit(decided: DataFrame, waiting: DataFrame, jobs: Jobs, request: AdmitRequest) -> DataFrame:
    """Return the verdicts, after rejecting blocks over the limit of waiting records of their namespace."""
    limit = request.deferred_per_namespace
    waits = (F.col("outcome") == "deferred") & ~verdicts.is_fault() & ~F.col("is_recalled")
    arrivals = decided.where(waits).groupBy("namespace").agg(F.count(F.lit(1)).alias("arrivals"))
    full = jobs.checkpoint(verdicts.without_room(arrivals, waiting, limit), "limit")
    if not jobs.has_rows(full):
        return decided
    return jobs.checkpoint(verdicts.limited(decided, full, limit), "records over the limit")
