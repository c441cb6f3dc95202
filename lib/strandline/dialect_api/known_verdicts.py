"""The verdicts of earlier runs on the blocks of a batch: these blocks are not judged again."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.reasons import rules_version
from strandline.contracts.shared_tables import PRUNED, QUARANTINE
from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.quarantined import statuses
from strandline.dialect_api.stages import RecordStages
from strandline.frames import blocks, known
from strandline.frames.buckets import in_buckets
from strandline.frames.union import union


def known_verdicts(
    stages: RecordStages, documents: DataFrame, read: Row, tables: Tables, jobs: Jobs, request: AdmitRequest
) -> tuple[DataFrame | None, bool]:
    """Return the verdicts of earlier runs, or None: on stored, pruned, rejected and waiting records.

    The second value tells whether there is a block without one. In a replay, earlier rejections do not count.
    """
    in_evidence = stages.claims_in_evidence()
    to_find = known.blocks_to_find(
        documents.withColumn("signature", _signature(stages)), stages.claims, in_evidence
    )
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
        stored = known.stored(to_find, union(records), tuple(in_evidence))
        found.append(jobs.checkpoint(stored, "known records"))
    if has_verdicts:
        remembered = known.remembered(to_find, rows, in_evidence, judge_id_of_row(stages))
        if found:
            remembered = remembered.join(judge_ids(found[0]), "judge_id", "left_anti")
        found.append(jobs.checkpoint(remembered, "known verdicts"))
    if not found:
        return None, read["blocks"] > 0
    earlier = union(found)
    earlier = earlier.coalesce(1) if blocks.are_few(read) else earlier
    blocks_known = jobs.row(earlier.agg(F.count(F.lit(1)).alias("blocks")))["blocks"]
    return (earlier if blocks_known else None), blocks_known < read["blocks"]


def _signature(stages: RecordStages) -> Column:
    """Return what the record id of a document or record does not cover; null if it covers all."""
    covered = F.lit(None).cast("binary")
    return (covered if stages.signature is None else F.col(stages.signature)).alias("signature")


def judge_id_of_row(stages: RecordStages) -> Column:
    """Return the key of the verdict in a whole row of `quarantine`."""
    return F.col("record_id" if stages.signature is None else "raw_sha256")


def judge_ids(judged: DataFrame) -> DataFrame:
    """Return judge_id as a new column.

    A checkpoint has the columns of its plan: without adaptive execution, Spark finds the same column on both sides of
    a join with this plan, and fails.
    """
    return judged.select(F.col("judge_id").alias("judge_id"))
