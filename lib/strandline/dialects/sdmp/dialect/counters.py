"""Counts that an operator wants of a batch of node journals, beside the verdicts."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.base import Stage, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.frames.elements import RECALL_FILE_NO
from strandline.dialects.sdmp.frames.heads import is_candidate, number_of


def journal_counters(
    facts: DataFrame, heads: DataFrame, tables: Tables, stage: Stage, buckets: tuple[int, ...]
) -> dict[str, int]:
    """Return since_mismatch (frames whose `since` is wrong) and shorter_journals (text that ends before what is held).

    Both look at heads first; lines are looked up only where that leaves something open.
    """
    if not buckets:
        return {"since_mismatch": 0, "shorter_journals": 0}
    stored = tables.read("node_journal_line").where(F.col("bucket").isin(*buckets))
    journals = tables.read("node_journal").where(F.col("bucket").isin(*buckets))
    return {
        "since_mismatch": _since_mismatches(facts, heads, stored, journals, stage),
        "shorter_journals": _shorter_journals(facts, heads, stored, stage),
    }


def _since_mismatches(
    facts: DataFrame, heads: DataFrame, stored: DataFrame, journals: DataFrame, stage: Stage
) -> int:
    """Count the frames whose first line is accepted and whose `since` is not the number of the line before it."""
    starts = heads.where(
        (F.col("file_no") < RECALL_FILE_NO) & (F.col("head") == 0) & F.col("since").isNotNull() & F.col("n").isNotNull()
    ).select("head_id", "namespace", "node", "number", "since", "n")
    tips = journals.select("namespace", F.col("tip_hash").alias("number"), "tip_number", "tip_n")
    first = F.col("n") <= 2
    right = F.when(first, F.col("node")).when(F.col("tip_n") == 1, F.col("node")).otherwise(F.col("tip_number"))
    told = stage.keep(
        starts.join(tips, ["namespace", "number"], "left").withColumn("right", right).drop("tip_number", "tip_n"),
        "frames",
    )
    counted = stage.one(
        told.agg(
            F.count(F.when(F.col("right") != F.col("since"), 1)).alias("wrong"),
            F.count(F.when(F.col("right").isNull(), 1)).alias("untold"),
        )
    )
    if not counted["untold"]:
        return int(counted["wrong"])
    untold = told.where("right IS NULL").drop("right")
    in_run = facts.where(is_candidate()).select(
        F.concat(F.lit("node:"), "node").alias("namespace"),
        F.col("hash").alias("number"),
        number_of(F.col("raw"), F.col("node")).alias("found"),
    )
    in_table = stored.select("namespace", F.col("line_hash").alias("number"), F.col("line_number").alias("found"))
    looked_up = untold.join(in_run.unionByName(in_table), ["namespace", "number"])
    wrong = looked_up.where("found <> since").select("head_id").distinct()
    return int(counted["wrong"]) + int(stage.one(wrong.agg(F.count(F.lit(1)).alias("rows")))["rows"])


def _shorter_journals(facts: DataFrame, heads: DataFrame, stored: DataFrame, stage: Stage) -> int:
    """Count the text journals whose last line was held before and had a successor among the lines held before."""
    text = heads.where((F.col("file_no") < RECALL_FILE_NO) & (F.col("frame") == kernels.TEXT_FRAME))
    last = F.max(F.struct("part", "head", "namespace", F.col("n").alias("head_n"), "lines")).alias("last")
    ends = text.groupBy("file_no").agg(last).select("file_no", "last.*").where("head_n IS NOT NULL")
    ends = ends.withColumn("end_n", F.col("head_n") + F.col("lines") - 1)
    ends = stage.keep(ends, "ends of journals")
    low = stage.one(ends.agg(F.min("end_n").alias("low")))["low"]
    if low is None:
        return 0
    later = stored.where(F.col("n") > F.lit(low)).select("namespace", F.col("n").alias("next_n"), "line_number")
    followed = stage.keep(
        ends.join(later, (ends["namespace"] == later["namespace"]) & (F.col("end_n") + 1 == F.col("next_n")))
        .select("file_no", "part", "head", "lines", "line_number"),
        "journals that ended earlier",
    )
    if not stage.one(followed.agg(F.count(F.lit(1)).alias("rows")))["rows"]:
        return 0
    of_text = facts.where(F.col("frame") == kernels.TEXT_FRAME)
    rows = of_text.groupBy("file_no").agg(F.max(F.struct("part", "idx")).alias("last_row")).select("file_no", "last_row.*")
    tails = of_text.where(is_candidate()).join(rows, ["file_no", "part", "idx"]).select("file_no", "hash")
    shorter = followed.join(tails, "file_no").where("line_number = hash").select("file_no").distinct()
    return int(stage.one(shorter.agg(F.count(F.lit(1)).alias("rows")))["rows"])
