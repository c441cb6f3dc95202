"""Judges one batch: documents that were read, and waiting records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.reasons import rules_version
from strandline.contracts.shared_tables import PRUNED, QUARANTINE
from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialect_api.quarantined import WAITING, statuses
from strandline.dialect_api.stages import Batch, Gathered, RecordStages, Resolution
from strandline.frames import blocks, findings, known, provenance, verdicts
from strandline.frames.buckets import in_buckets
from strandline.kernels.judging import Judging
from strandline.kernels.reading import ReadOptions

FEW_DOCUMENTS: Final = 2_000
"""Up to so many documents of a batch, a shuffle costs more than a second task gains."""
FEW_BYTES: Final = 8 * 1024 * 1024
"""Of these documents, which one task then judges."""


def read_batch(
    stages: RecordStages, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> Batch:
    """Read the documents, judge the blocks without an earlier verdict, and the waiting records that need them.

    A query costs a plan and jobs, however few its rows are: stages that have nothing to do are left out.
    """
    documents, sources, read = _read(stages, scan, tables, jobs, request)
    earlier, has_new_blocks = _known(stages, documents, read, tables, jobs, request)
    judged = blocks.none_judged(documents, stages.judged)
    if has_new_blocks:
        judged = reduce(
            DataFrame.unionByName, _new_judged(stages, documents, sources, read, earlier, scan.options, jobs)
        )
    waiting = verdicts.waiting(tables.read(QUARANTINE), stages.info.name, _judge_id_of_row(stages))
    waits = WAITING in statuses(stages.info.name, tables) and jobs.has_rows(waiting)
    gathered = Gathered(judged, tables, jobs)
    is_known = earlier is not None and not has_new_blocks
    if waits or not is_known:
        gathered = stages.gather(judged, waiting if waits else None, tables, jobs)
    recalled = refuted = others = None
    every = judged.withColumn("is_recalled", F.lit(False))
    if waits:
        recalled = jobs.checkpoint(stages.recall(waiting, gathered), "waiting")
        recalled = recalled if jobs.has_rows(recalled) else None
    if recalled is not None:
        named = recalled.withColumn("source", provenance.record_source(F.col("source")))
        rejudged = _judged(stages, blocks.waiting_blocks(named, stages.claims), scan.options)
        rejudged = jobs.persist(rejudged, "waiting records").withColumn("is_recalled", F.lit(True))
        every = every.unionByName(rejudged)
    if is_known and recalled is None and earlier is not None:
        concluded = judged.withColumn("outcome", F.lit(None).cast("string"))
        found = Row(**dict.fromkeys(stages.measured(tables.buckets), 0))
        all_verdicts, earlier = earlier, None
    else:
        resolution = stages.resolve(every, gathered)
        concluded = resolution.concluded
        found = resolution.found or stages.measure(concluded, gathered)
        all_verdicts = _decided(resolution, found, waiting, jobs, request)
    if recalled is not None:
        others = all_verdicts.where("is_recalled")
        refuted = findings.recalled_findings(every, others, recalled)
        if earlier is not None:
            # A waiting record that is judged now has a new verdict.
            earlier = earlier.join(_ids(recalled), "judge_id", "left_anti")
    all_verdicts = all_verdicts.select(*verdicts.VERDICT)
    if earlier is not None:
        all_verdicts = all_verdicts.unionByName(earlier)
    delivered = verdicts.delivered(documents, all_verdicts)
    return Batch(
        documents, every, concluded, all_verdicts, delivered, gathered, sources, read, found, others, recalled,
        refuted,
    )  # fmt: skip


def _read(
    stages: RecordStages, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> tuple[DataFrame, DataFrame, Row]:
    """Return the documents, `frames.provenance.batch_sources` and `frames.blocks.counted`."""
    judging = None
    if request.replay is None and not tables.stored_bytes(stages.info.record_table):
        # Without a stored record nearly all blocks are new: they are judged as they are read.
        judging = _judging(stages)
    sources = provenance.batch_sources(scan.sources(), request.replay)
    documents = blocks.with_bucket(_documents(stages, scan, request, judging), tables.buckets)
    if judging is not None:
        documents = provenance.with_record_source(documents, sources)
    documents = jobs.persist(documents, "documents")
    asked = known.is_asked(stages.claims, stages.claims_in_evidence())
    was_judged = F.lit(False) if judging is None else blocks.is_judged()
    read = jobs.row(blocks.counted(documents, asked, was_judged))
    if _are_few(read):
        documents = documents.coalesce(1)
    return documents, sources, read


def _documents(
    stages: RecordStages, scan: InputScan, request: AdmitRequest, judging: Judging | None
) -> DataFrame:
    found: list[DataFrame] = []
    pieces = scan.pieces(stages.read_content, stages.document_fields, judging)
    if pieces is not None:
        found.append(pieces)
    if request.replay is not None:
        found.append(
            blocks.replayed_documents(request.replay, stages.replay, stages.document_fields, scan.options)
        )
    return reduce(DataFrame.unionByName, found)


def _are_few(read: Row) -> bool:
    return bool(read["documents"] <= FEW_DOCUMENTS and (read["bytes"] or 0) <= FEW_BYTES)


def _new_judged(
    stages: RecordStages, documents: DataFrame, sources: DataFrame, read: Row, earlier: DataFrame | None,
    options: ReadOptions, jobs: Jobs,
) -> Iterator[DataFrame]:  # fmt: skip
    """Yield the facts of the distinct blocks on which no earlier run has a verdict.

    First of those that were judged as they were read, then of the others, which are judged now.
    """
    has_copies = read["deliveries"] > read["blocks"]
    if read["judged"]:
        judged = blocks.judged_documents(documents, stages.judged, has_copies=has_copies)
        judged = judged if earlier is None else judged.join(_ids(earlier), "judge_id", "left_anti")
        yield jobs.persist(judged, "blocks") if has_copies or earlier is not None else judged
        documents = documents.where(~blocks.is_judged())
    if read["judged"] == read["deliveries"]:
        return
    if has_copies:
        found = blocks.distinct_blocks(documents, stages.claims)
    else:
        found = blocks.single_blocks(documents, stages.claims)
        # One large file would be one task.
        found = found if _are_few(read) else found.repartition("judge_id")
    if read["judged"] and has_copies:
        found = found.join(_ids(judged), "judge_id", "left_anti")
    found = found if earlier is None else found.join(_ids(earlier), "judge_id", "left_anti")
    yield jobs.persist(
        _judged(stages, provenance.with_record_source(found, sources), options), "other blocks"
    )


def _judged(stages: RecordStages, to_judge: DataFrame, options: ReadOptions) -> DataFrame:
    return blocks.judged(to_judge, _judging(stages), options)


def _judging(stages: RecordStages) -> Judging:
    return Judging(stages.judge, stages.judged)


def _known(
    stages: RecordStages, documents: DataFrame, read: Row, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> tuple[DataFrame | None, bool]:
    """Return the verdicts of earlier runs, or None: on stored, pruned, rejected and waiting records.

    The second value tells whether there is a block without one. In a replay, earlier rejections do not count.
    """
    in_evidence = stages.claims_in_evidence()
    asked = known.asked_for(documents.withColumn("signature", _signature(stages)), stages.claims, in_evidence)
    here: list[DataFrame] = []
    if read["buckets"]:
        of_all = F.lit(None).cast("binary").alias("signature")
        tables_here = (
            (stages.info.record_table, tables.read, _signature(stages)),
            (PRUNED, lambda _: stages.pruned(tables), of_all),
        )
        here = [
            rows(table).where(in_buckets(read["buckets"])).select(*known.KEY, signature)
            for table, rows, signature in tables_here
            if tables.has_files(table)
        ]
    records = [each for each in here if jobs.has_rows(each)]
    rows = known.rows_with_verdict(
        tables.read(QUARANTINE), dialect=stages.info.name, open_reasons=stages.open_reasons,
        rules_version=rules_version(), rejected=request.replay is None,
    )  # fmt: skip
    has_verdicts = bool(statuses(stages.info.name, tables)) and jobs.has_rows(rows)
    found: list[DataFrame] = []
    if records:
        stored = known.stored(asked, reduce(DataFrame.unionByName, records), tuple(in_evidence))
        found.append(jobs.checkpoint(stored, "known records"))
    if has_verdicts:
        remembered = known.remembered(asked, rows, in_evidence, _judge_id_of_row(stages))
        if found:
            remembered = remembered.join(_ids(found[0]), "judge_id", "left_anti")
        found.append(jobs.checkpoint(remembered, "known verdicts"))
    if not found:
        return None, read["blocks"] > 0
    earlier = reduce(DataFrame.unionByName, found)
    earlier = earlier.coalesce(1) if _are_few(read) else earlier
    blocks_known = jobs.row(earlier.agg(F.count(F.lit(1)).alias("blocks")))["blocks"]
    return (earlier if blocks_known else None), blocks_known < read["blocks"]


def _signature(stages: RecordStages) -> Column:
    """Return what the record id of a document or record does not cover; null if it covers all."""
    covered = F.lit(None).cast("binary")
    return (covered if stages.signature is None else F.col(stages.signature)).alias("signature")


def _judge_id_of_row(stages: RecordStages) -> Column:
    """Return the key of the verdict in a whole row of `quarantine`."""
    return F.col("record_id" if stages.signature is None else "raw_sha256")


def _ids(judged: DataFrame) -> DataFrame:
    """Return judge_id as a new column.

    A checkpoint has the columns of its plan: without adaptive execution, Spark finds the same column on both sides of
    a join with this plan, and fails.
    """
    return judged.select(F.col("judge_id").alias("judge_id"))


def _decided(
    resolution: Resolution, found: Row, waiting: DataFrame, jobs: Jobs, request: AdmitRequest
) -> DataFrame:
    """Return the verdicts of this run, after rejecting blocks over the limit of waiting records of their namespace.

    If all blocks are accepted, one query reads the verdicts, so that a checkpoint would cost more.
    """
    if not found["refused"]:
        return resolution.verdicts
    decided = jobs.checkpoint(resolution.verdicts, "verdicts")
    if not found["arrivals"]:
        return decided
    limit = request.deferred_per_namespace
    new = decided.where(verdicts.is_arrival())
    arrivals = new.groupBy("namespace").agg(F.count(F.lit(1)).alias("arrivals"))
    full = jobs.checkpoint(verdicts.without_room(arrivals, waiting, limit), "limit")
    if not jobs.has_rows(full):
        return decided
    return jobs.checkpoint(verdicts.limited(decided, full, limit), "records over the limit")
