"""What became of each block, and of each document that delivered it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.core.verdict import encode_evidence
from strandline.frames.blocks import PLACE, is_block
from strandline.frames.quarantine import deferred
from strandline.kernels.guard import FAULTS, INTERNAL_ERROR

VERDICT = ("judge_id", "record_id", "namespace", "kind", "outcome", "reasons", "evidence", "waits_for")
"""What became of a block. `outcome`: accepted, rejected, deferred, foreign or stray."""

STATUSES = ("accepted", "rejected", "deferred", "foreign")


def is_fault() -> Column:
    """True for what met a fault of ours."""
    return F.array_contains("reasons", INTERNAL_ERROR)


def is_waiting() -> Column:
    """True for a row of `quarantine` that waits for another record, and not for mended rules."""
    return (F.col("status") == "deferred") & ~is_fault()


def is_mended(rules_version: int) -> Column:
    """True for a row of `quarantine` that waits for mended rules, where those of this version are."""

    def is_reached(awaited: Column) -> Column:
        version = F.regexp_extract(awaited, "^rules:([0-9]{1,9})$", 1).try_cast("int")
        return F.coalesce(version <= rules_version, F.lit(False))

    return (F.col("status") == "deferred") & F.exists("waits_for", is_reached)


def waits_for(thing: Column) -> Column:
    """What a row of `quarantine` waits for: this thing, or nothing where it is null."""
    return F.when(thing.isNull(), F.array().cast("array<string>")).otherwise(F.array(thing))


def waiting(quarantine: DataFrame, dialect: str) -> DataFrame:
    """Keep the rows of `quarantine` that wait for another record.

    Gives: quarantine_id, bucket, namespace, record_id, raw, waits_for.
    """
    rows = deferred(quarantine, dialect).where(~is_fault())
    return rows.select("quarantine_id", "bucket", "namespace", "record_id", "raw", "waits_for")


def without_room(news: DataFrame, waiting_rows: DataFrame, limit: int) -> DataFrame:
    """Find the namespaces whose new waiting records are more than their limit leaves room for.

    Reads:  news: namespace, news (how many records are to wait from now on); waiting_rows: namespace.
    Gives:  namespace, news, room.
    Rows:   one per such namespace.
    """
    waits = waiting_rows.groupBy("namespace").agg(F.count(F.lit(1)).alias("waits"))
    room = F.greatest(F.lit(limit) - F.coalesce("waits", F.lit(0)), F.lit(0))
    joined = news.join(waits, "namespace", "left").select("namespace", "news", room.alias("room"))
    return joined.where("news > room")


def limited(verdicts: DataFrame, full: DataFrame, limit: int) -> DataFrame:
    """Turn away blocks for which their namespace has no room among its waiting records.

    Reads:  VERDICT, is_recalled; full: what `without_room` gives.
    Gives:  VERDICT, is_recalled; those beyond the room, in the order of their ids, are rejected with DEFERRED_LIMIT.
    Rows:   one per row.
    """
    waits = (F.col("outcome") == "deferred") & ~is_fault() & ~F.col("is_recalled")
    order = Window.partitionBy("namespace", waits).orderBy("record_id")
    evidence = encode_evidence({"DEFERRED_LIMIT": {"expected": limit}})
    is_over = waits & F.coalesce(F.row_number().over(order) > F.col("room"), F.lit(False))
    turned = verdicts.join(full.select("namespace", "room"), "namespace", "left").withColumn(
        "is_over", is_over
    )
    over = {
        "outcome": F.lit("rejected"),
        "reasons": F.array(F.lit("DEFERRED_LIMIT")),
        "evidence": F.lit(evidence),
        "waits_for": F.array().cast("array<string>"),
    }
    changed = {name: F.when(F.col("is_over"), value).otherwise(F.col(name)) for name, value in over.items()}
    return turned.withColumns(changed).select(*VERDICT, "is_recalled")


def delivered(documents: DataFrame, verdicts: DataFrame) -> DataFrame:
    """Give what became of each document that was delivered; claims are none.

    Reads:  what a dialect reads; VERDICT.
    Gives:  PLACE, offset, judge_id, status: accepted, rejected, deferred or foreign; is_fault.
    Rows:   one per document.
    """
    known = verdicts.select(
        "judge_id", "outcome", F.arrays_overlap("reasons", F.array(*map(F.lit, FAULTS))).alias("is_fault")
    )
    status = (
        F.when((F.col("outcome") == "stray") & (F.col("kind") == "shared"), F.lit("foreign"))
        .when(F.col("outcome") == "stray", F.lit("rejected"))
        .otherwise(F.col("outcome"))
    )
    place = (*PLACE, "offset")
    judged = documents.where(is_block()).join(known, "judge_id")
    unread = documents.where(F.col("kind").isNull() | (F.col("kind") == "foreign"))
    is_ours = F.coalesce(F.col("damage") == INTERNAL_ERROR, F.lit(False))
    unread_status = (
        F.when(F.col("kind") == "foreign", F.lit("foreign"))
        .when(is_ours, F.lit("deferred"))
        .otherwise(F.lit("rejected"))
    )
    return judged.select(*place, "judge_id", status.alias("status"), "is_fault").unionByName(
        unread.select(*place, "judge_id", unread_status.alias("status"), is_ours.alias("is_fault"))
    )


def totals(documents: DataFrame) -> DataFrame:
    """Count documents by status.  Reads: what `delivered` gives.  Gives: STATUSES, faults.  Rows: one."""
    return documents.agg(
        *(F.count_if(F.col("status") == status).alias(status) for status in STATUSES),
        F.count_if("is_fault").alias("faults"),
    )
