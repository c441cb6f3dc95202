"""Heads that files claim: how many of them are held."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.stages import Batch
from strandline.dialects.ipfslog.spark.tables import ENTRIES
from strandline.frames.blocks import is_block


def head_claims(batch: Batch, pruned: DataFrame) -> tuple[int, int]:
    """Return how many claims of heads name an entry that is held after this run, and how many none."""
    tables, jobs = batch.gathered.tables, batch.gathered.jobs
    told = batch.documents.where("kind = 'claim'").select("record_id")
    of_manifests = (
        batch.documents.where(is_block())
        .join(batch.judged.where("heads IS NOT NULL").select("judge_id", "heads"), "judge_id")
        .select(F.explode("heads").alias("record_id"))
    )
    claims = told.unionByName(of_manifests).groupBy("record_id").agg(F.count(F.lit(1)).alias("claims"))
    accepted = batch.verdicts.where("kind = 'record' AND outcome = 'accepted'").select("record_id").distinct()
    marked = jobs.checkpoint(
        claims.join(accepted.withColumn("is_held", F.lit(True)), "record_id", "left"), "claims"
    )
    counted = marked.groupBy().agg(
        F.coalesce(F.sum("claims"), F.lit(0)).alias("all"),
        F.coalesce(F.sum(F.when(F.col("is_held"), F.col("claims"))), F.lit(0)).alias("known"),
    )
    found = jobs.row(counted)
    known = found["known"]
    if known < found["all"]:
        rest = marked.where("is_held IS NULL AND record_id IS NOT NULL")
        ids = tables.read(ENTRIES).select("record_id").unionByName(pruned.select("record_id")).distinct()
        older = rest.join(ids, "record_id", "left_semi")
        known += jobs.row(older.agg(F.coalesce(F.sum("claims"), F.lit(0)).alias("claims")))["claims"]
    return known, found["all"] - known
