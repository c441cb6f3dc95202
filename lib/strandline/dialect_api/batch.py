"""Judges one batch: documents that were read, and waiting records."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.known_verdicts import judge_id_of_row, judge_ids, known_verdicts
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialect_api.quarantined import WAITING, statuses
from strandline.dialect_api.stages import Batch, Gathered, RecordStages, Resolution
from strandline.frames import blocks, findings, known, provenance, verdicts
from strandline.frames.union import union
from strandline.kernels.judging import Judging
from strandline.kernels.reading import ReadOptions


def read_batch(
    stages: RecordStages, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> Batch:
    """Read the documents, judge the blocks without an earlier verdict, and the waiting records that need them.

    A query costs a plan and jobs, however few its rows are: stages that have nothing to do are left out.
    """
    documents, sources, read = _read(stages, scan, tables, jobs, request)
    earlier, has_new_blocks = known_verdicts(stages, documents, read, tables, jobs, request)
    judged = blocks.none_judged(documents, stages.judged)
    if has_new_blocks:
        judged = union(_new_judged(stages, documents, sources, read, earlier, scan.options, jobs))
    is_known = earlier is not None and not has_new_blocks
    waiting = verdicts.waiting(tables.read(QUARANTINE), stages.info.name, judge_id_of_row(stages))
    gathered, recalled = _recalled(stages, judged, waiting, tables, jobs, is_known=is_known)
    every = judged.withColumn("is_recalled", F.lit(False))
    if recalled is not None:
        every = every.unionByName(_rejudged(stages, recalled, scan.options, jobs))
    decided = others = refuted = None
    if is_known and recalled is None:
        concluded = judged.withColumn("outcome", F.lit(None).cast("string"))
        found = Row(**dict.fromkeys(stages.measured(tables.buckets), 0))
    else:
        resolution = stages.resolve(every, gathered)
        concluded = resolution.concluded
        found = resolution.found or stages.measure(concluded, gathered)
        decided = _decided(resolution, found, waiting, jobs, request)
    if recalled is not None and decided is not None:
        others = decided.where("is_recalled")
        refuted = findings.recalled_findings(every, others, recalled)
    all_verdicts = _all_verdicts(decided, earlier, recalled)
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
    may_be_known = known.may_be_known(stages.claims, stages.claims_in_evidence())
    was_judged = F.lit(False) if judging is None else blocks.is_judged()
    read = jobs.row(blocks.counted(documents, may_be_known, was_judged))
    if blocks.are_few(read):
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
    return union(found)


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
        judged = judged if earlier is None else judged.join(judge_ids(earlier), "judge_id", "left_anti")
        yield jobs.persist(judged, "blocks") if has_copies or earlier is not None else judged
        documents = documents.where(~blocks.is_judged())
    if read["judged"] == read["deliveries"]:
        return
    if has_copies:
        found = blocks.distinct_blocks(documents, stages.claims)
    else:
        found = blocks.single_blocks(documents, stages.claims)
        # One large file would be one task.
        found = found if blocks.are_few(read) else found.repartition("judge_id")
    if read["judged"] and has_copies:
        found = found.join(judge_ids(judged), "judge_id", "left_anti")
    found = found if earlier is None else found.join(judge_ids(earlier), "judge_id", "left_anti")
    yield jobs.persist(
        _judged(stages, provenance.with_record_source(found, sources), options), "other blocks"
    )


def _recalled(
    stages: RecordStages, judged: DataFrame, waiting: DataFrame, tables: Tables, jobs: Jobs, *, is_known: bool
) -> tuple[Gathered, DataFrame | None]:
    """Return the result of `gather`, and the waiting rows to judge again, or None without any.

    If `is_known`, all delivered blocks have a verdict: then only waiting rows need what `gather` looks up.
    """
    waits = WAITING in statuses(stages.info.name, tables) and jobs.has_rows(waiting)
    if is_known and not waits:
        return Gathered(judged, tables, jobs), None
    gathered = stages.gather(judged, waiting if waits else None, tables, jobs)
    if not waits:
        return gathered, None
    recalled = jobs.checkpoint(stages.recall(waiting, gathered), "waiting")
    return gathered, recalled if jobs.has_rows(recalled) else None


def _rejudged(stages: RecordStages, recalled: DataFrame, options: ReadOptions, jobs: Jobs) -> DataFrame:
    """Return the facts of waiting rows that are judged again, with is_recalled."""
    named = recalled.withColumn("source", provenance.record_source(F.col("source")))
    rejudged = _judged(stages, blocks.waiting_blocks(named, stages.claims), options)
    return jobs.persist(rejudged, "waiting records").withColumn("is_recalled", F.lit(True))


def _judged(stages: RecordStages, to_judge: DataFrame, options: ReadOptions) -> DataFrame:
    return blocks.judged(to_judge, _judging(stages), options)


def _judging(stages: RecordStages) -> Judging:
    return Judging(stages.judge, stages.judged)


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


def _all_verdicts(
    decided: DataFrame | None, earlier: DataFrame | None, recalled: DataFrame | None
) -> DataFrame:
    """Return the verdicts of this run and the earlier ones.  Gives: VERDICT."""
    if earlier is not None and recalled is not None:
        # A waiting record that is judged now has a new verdict.
        earlier = earlier.join(judge_ids(recalled), "judge_id", "left_anti")
    found = (each.select(*verdicts.VERDICT) for each in (decided, earlier) if each is not None)
    return union(found)
