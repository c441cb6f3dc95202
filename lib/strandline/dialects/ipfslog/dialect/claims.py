"""Heads that files claim, and what manifests beside files may state of logs."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.ipfslog.dialect.batch import Batch
from strandline.dialects.ipfslog.dialect.retained import ENTRIES, PRUNED
from strandline.dialects.ipfslog.frames import pruned
from strandline.dialects.ipfslog.frames.blocks import is_block


def head_claims(batch: Batch, tables: Tables, jobs: Jobs) -> tuple[int, int]:
    """Return how many claims of heads name an entry that is held after this run, and how many none."""
    told = batch.documents.where("kind = 'claim'").select("record_id")
    of_manifests = (
        batch.documents.where(is_block())
        .join(batch.fates.where("heads IS NOT NULL").select("judge_id", "heads"), "judge_id")
        .select(F.explode("heads").alias("record_id"))
    )
    claims = told.unionByName(of_manifests).groupBy("record_id").agg(F.count(F.lit(1)).alias("claims"))
    accepted = batch.fates.where("kind = 'entry' AND outcome = 'accepted'").select("record_id").distinct()
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
        pruned_ids = pruned.of_logs(tables.read(PRUNED)).select("record_id")
        ids = tables.read(ENTRIES).select("record_id").unionByName(pruned_ids).distinct()
        older = rest.join(ids, "record_id", "left_semi")
        known += jobs.row(older.agg(F.coalesce(F.sum("claims"), F.lit(0)).alias("claims")))["claims"]
    return known, found["all"] - known


def stated_claims(batch: Batch, tables: Tables) -> DataFrame:
    """Give each entry that was delivered, good or not, with what it follows; lazy.

    Gives: file_no, namespace, record_id, name (hex of the id), follows (hex of `next`).
    """
    columns = ("namespace", "record_id", "next")
    judged = batch.concluded.where("kind = 'entry' AND namespace IS NOT NULL").select(*columns)
    pruned_ids = pruned.skeletons(pruned.of_logs(tables.read(PRUNED))).select(*columns)
    held = tables.read(ENTRIES).select(*columns)
    known = judged.unionByName(held).unionByName(pruned_ids).dropDuplicates(["namespace", "record_id"])
    delivered = batch.documents.where(is_block()).select("file_no", "record_id")
    hexed = F.transform(
        F.coalesce("next", F.array().cast("array<binary>")), lambda each: F.lower(F.hex(each))
    )
    return delivered.join(known, "record_id").select(
        "file_no", "namespace", "record_id", F.lower(F.hex("record_id")).alias("name"), hexed.alias("follows")
    )
