"""Verdicts on blocks, and the status of the documents that delivered them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.core.verdict import encode_evidence
from strandline.frames.blocks import PLACE, is_block
from strandline.frames.quarantine import deferred
from strandline.kernels.blocks import RECORD
from strandline.kernels.guard import FAULTS, INTERNAL_ERROR, NEXT_RULES

VERDICT = ("judge_id", "record_id", "namespace", "kind", "outcome", "reasons", "evidence", "waits_for")
"""The columns of a verdict on a block. `outcome`: accepted, rejected, deferred, foreign or stray."""

STATUSES = ("accepted", "rejected", "deferred", "foreign")


def is_internal_error() -> Column:
    """Return whether an internal fault occurred."""
    return F.array_contains("reasons", INTERNAL_ERROR)


def is_candidate() -> Column:
    """Return whether a judged block is a record that is valid by its own bytes."""
    return (F.col("kind") == RECORD) & (F.size("reasons") == 0) & F.col("namespace").isNotNull()


def is_accepted_record() -> Column:
    """Return whether a judged block is an accepted record."""
    return (F.col("kind") == RECORD) & (F.col("outcome") == "accepted")


def is_arrival() -> Column:
    """Return whether a judged block is a new waiting record: it waits for another one, and did not wait before."""
    return (F.col("outcome") == "deferred") & ~is_internal_error() & ~F.col("is_recalled")


def is_waiting() -> Column:
    """Return whether a row of `quarantine` waits for another record, not for corrected rules."""
    return (F.col("status") == "deferred") & ~is_internal_error()


def is_fixed(rules_version: int) -> Column:
    """True for a row of `quarantine` that waits for fixed rules if `rules_version` has them."""

    def is_reached(awaited: Column) -> Column:
        version = F.regexp_extract(awaited, "^rules:([0-9]{1,9})$", 1).try_cast("int")
        return F.coalesce(version <= rules_version, F.lit(False))

    return (F.col("status") == "deferred") & F.exists("waits_for", is_reached)


def waits_for(thing: Column) -> Column:
    """Return the column waits_for of `quarantine`: `thing`, or empty if it is null."""
    return F.when(thing.isNull(), F.array().cast("array<string>")).otherwise(F.array(thing))


def with_outcome(judged: DataFrame) -> DataFrame:
    """Give each block its outcome: that of its own bytes, or that of what it needs of other records.

    Reads:  JUDGED_FIELDS of `kernels.blocks`; status (null: not decided), found (reasons), shown (evidence), awaited.
    Gives:  the columns of `judged` with outcome, reasons, evidence, waits_for.
    Rows:   one per row.
    """
    own = F.size("reasons") > 0
    fault = F.coalesce(is_internal_error(), F.lit(False))
    decided = F.coalesce("status", F.lit("rejected"))
    outcome = F.when(fault, F.lit("deferred")).when(own, F.lit("rejected")).otherwise(decided)
    none = F.array().cast("array<string>")
    awaited = F.when(fault, waits_for(F.lit(NEXT_RULES))).otherwise(F.coalesce("awaited", none))
    return judged.withColumns(
        {
            "outcome": outcome,
            "waits_for": F.when(own & ~fault, none).otherwise(awaited),
            "evidence": F.when(own, F.col("evidence")).otherwise(F.col("shown")),
            "reasons": F.when(own, F.col("reasons")).otherwise(F.coalesce("found", none)),
        }
    )


def waiting(quarantine: DataFrame, dialect: str, judge_id: Column) -> DataFrame:
    """Keep the rows of `quarantine` that wait for another record; `judge_id` is the key of their verdict.

    Gives: quarantine_id, bucket, namespace, record_id, judge_id, raw, reasons, waits_for, source, source_offset.
    """
    rows = deferred(quarantine, dialect).where(~is_internal_error())
    return rows.select(
        "quarantine_id", "bucket", "namespace", "record_id", judge_id.alias("judge_id"), "raw", "reasons", "waits_for",
        "source", "source_offset",
    )  # fmt: skip


def without_room(arrivals: DataFrame, waiting_rows: DataFrame, limit: int) -> DataFrame:
    """Find the namespaces with more new waiting records than their limit allows.

    Reads:  arrivals: namespace, arrivals (number of new waiting records); waiting_rows: namespace.
    Gives:  namespace, arrivals, room.
    Rows:   one per such namespace.
    """
    waits = waiting_rows.groupBy("namespace").agg(F.count(F.lit(1)).alias("waits"))
    room = F.greatest(F.lit(limit) - F.coalesce("waits", F.lit(0)), F.lit(0))
    joined = arrivals.join(waits, "namespace", "left").select("namespace", "arrivals", room.alias("room"))
    return joined.where("arrivals > room")


def limited(verdicts: DataFrame, full: DataFrame, limit: int) -> DataFrame:
    """Reject blocks that would exceed the limit of waiting records of their namespace.

    Reads:  VERDICT, is_recalled; full: columns of `without_room`.
    Gives:  VERDICT, is_recalled; blocks over the limit, in the order of their ids, are rejected with DEFERRED_LIMIT.
    Rows:   one per row.
    """
    order = Window.partitionBy("namespace", is_arrival()).orderBy("record_id")
    evidence = encode_evidence({"DEFERRED_LIMIT": {"expected": limit}})
    is_over = is_arrival() & F.coalesce(F.row_number().over(order) > F.col("room"), F.lit(False))
    marked = verdicts.join(full.select("namespace", "room"), "namespace", "left").withColumn(
        "is_over", is_over
    )
    over = {
        "outcome": F.lit("rejected"),
        "reasons": F.array(F.lit("DEFERRED_LIMIT")),
        "evidence": F.lit(evidence),
        "waits_for": F.array().cast("array<string>"),
    }
    changed = {name: F.when(F.col("is_over"), value).otherwise(F.col(name)) for name, value in over.items()}
    return marked.withColumns(changed).select(*VERDICT, "is_recalled")


def delivered(documents: DataFrame, verdicts: DataFrame) -> DataFrame:
    """Return the status of each delivered document; a claim is not a document.

    Reads:  documents; VERDICT.
    Gives:  PLACE, offset, status: accepted, rejected, deferred or foreign; is_fault; named (namespace of a record that
            was accepted or waits); for a document that was not accepted, else null: namespace, reasons, evidence,
            waits_for.
    Rows:   one per document.
    """
    known = verdicts.select(
        "judge_id", "outcome", "reasons", "evidence", "waits_for", F.col("namespace").alias("found_namespace"),
        named().alias("named"), is_fault().alias("is_fault"),
    )  # fmt: skip
    status = (
        F.when((F.col("outcome") == "stray") & (F.col("kind") == "shared"), F.lit("foreign"))
        .when(F.col("outcome") == "stray", F.lit("rejected"))
        .otherwise(F.col("outcome"))
    )
    place = (*PLACE, "offset")
    judged = documents.where(is_block()).select(*place, "judge_id", "kind").join(known, "judge_id")
    is_bad = F.col("status").isin("rejected", "deferred")
    found = {"namespace": "found_namespace", **{name: name for name in ("reasons", "evidence", "waits_for")}}
    judged = judged.withColumn("status", status).select(
        *place, "status", "is_fault", "named",
        *(F.when(is_bad, F.col(of_verdict)).alias(name) for name, of_verdict in found.items()),
    )  # fmt: skip
    unread = documents.where(F.col("kind").isNull() | (F.col("kind") == "foreign"))
    is_damage_ours = F.coalesce(F.col("damage") == INTERNAL_ERROR, F.lit(False))
    unread_status = (
        F.when(F.col("kind") == "foreign", F.lit("foreign"))
        .when(is_damage_ours, F.lit("deferred"))
        .otherwise(F.lit("rejected"))
    )
    unread = unread.select(
        *place, unread_status.alias("status"), is_damage_ours.alias("is_fault"),
        F.lit(None).cast("string").alias("named"), "namespace", F.split("damage", ",").alias("reasons"), "evidence",
        waits_for(F.when(is_damage_ours, F.lit(NEXT_RULES))).alias("waits_for"),
    )  # fmt: skip
    return judged.unionByName(unread)


def named() -> Column:
    """Return the namespace of a verdict on a record that was accepted or waits, else null."""
    is_named = (F.col("kind") == RECORD) & F.col("outcome").isin("accepted", "deferred")
    return F.when(is_named, F.col("namespace"))


def is_fault() -> Column:
    """Return whether one of the reasons is no fault of the record."""
    return F.arrays_overlap("reasons", F.array(*map(F.lit, FAULTS)))


def totals(documents: DataFrame, others: DataFrame | None) -> DataFrame:
    """Count documents by status, and the namespaces of accepted and waiting records.

    Reads:  columns of `delivered`; others: VERDICT of records that no document delivered, or None.
    Gives:  STATUSES, faults, namespaces.
    Rows:   one.
    """
    counted = documents.select("status", "is_fault", "named")
    if others is not None:
        nothing = {"status": F.lit(None).cast("string"), "is_fault": F.lit(False)}
        counted = counted.unionByName(others.select(named().alias("named")).withColumns(nothing))
    return counted.agg(
        *(F.count_if(F.col("status") == status).alias(status) for status in STATUSES),
        F.count_if("is_fault").alias("faults"),
        F.count_distinct("named").alias("namespaces"),
    )
