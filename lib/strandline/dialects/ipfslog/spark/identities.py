"""Identities: those that a run needs, their verdicts, and what these decide for entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.stages import Gathered
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.spark.tables import IDENTITIES
from strandline.frames.lift import map_batches
from strandline.frames.verdicts import is_internal_error

WAITS: Final = "identity:"
"""The prefix of an identity's name in `waits_for`."""


@dataclass(frozen=True, slots=True)
class BatchIdentities(Gathered):
    """The identities that a batch needs.

    `known` has identity_digest, writer_id, public_key and identity_type (the first `kernels.IDENTITY_CHARS` characters
    of each), valid, is_new (it was verified in this run) and is_row (it is in `ipfs_log_identity`, or this run adds
    it); `verified` has `kernels.IDENTITY`, of this run.
    """

    known: DataFrame
    verified: DataFrame


def waited_for() -> Column:
    """Return the digest of the identity that a row of `quarantine` waits for."""
    return F.unhex(F.substring_index(F.col("waits_for")[0], ":", -1))


def gathered(
    judged: DataFrame, waiting: DataFrame | None, bucket: int, tables: Tables, jobs: Jobs
) -> BatchIdentities:
    """Return the identities that blocks and waiting rows name; the new ones are verified."""
    named = _named(judged, waiting)
    rows = tables.read(IDENTITIES).where(F.col("bucket") == bucket)
    stored = F.struct(*kernels.STORED_IDENTITY.names).alias("stored")
    if tables.has_files(IDENTITIES) and jobs.has_rows(rows):
        named = named.join(rows.select("record_id", stored), "record_id", "left")
    else:
        named = named.withColumn("stored", F.lit(None).cast(rows.select(stored).schema["stored"].dataType))
    every = jobs.checkpoint(verified(named), "identities")
    return BatchIdentities(judged, tables, jobs, _as_known_identity(every), every.where("is_new"))


def _has_no_reason() -> Column:
    """True for a block without a reason from its own bytes."""
    return F.size("reasons") == 0


def _named(judged: DataFrame, waiting: DataFrame | None) -> DataFrame:
    """Give the distinct identities that a batch names, with the blocks of those that it delivers.

    An identity is delivered alone, or embedded in entries that it may decide.

    Reads:  judged: kind, reasons, identity_digest, identity_block, source; waiting: waits_for, or None.
    Gives:  record_id (the identity's digest), block (null if it was not delivered), is_record (delivered alone),
            is_used (embedded in an entry without a reason of its own), source (the least of several).
    Rows:   one per identity.
    """
    is_delivered = F.col("identity_block").isNotNull() & ~F.array_contains(
        "reasons", "IDENTITY_TYPE_UNSUPPORTED"
    )
    named = judged.where("identity_digest IS NOT NULL").select(
        "identity_digest",
        F.when(is_delivered, F.col("identity_block")).alias("block"),
        (is_delivered & (F.col("kind") == "identity")).alias("is_record"),
        (is_delivered & (F.col("kind") == "record") & _has_no_reason()).alias("is_used"),
        F.when(is_delivered, F.col("source")).alias("source"),
    )
    if waiting is not None:
        awaited = waiting.select(waited_for().alias("identity_digest"))
        named = named.unionByName(awaited, allowMissingColumns=True)
    return named.groupBy(F.col("identity_digest").alias("record_id")).agg(
        F.first("block", ignorenulls=True).alias("block"),
        F.coalesce(F.max("is_record"), F.lit(False)).alias("is_record"),
        F.coalesce(F.max("is_used"), F.lit(False)).alias("is_used"),
        F.min("source").alias("source"),
    )


def verified(named: DataFrame) -> DataFrame:
    """Verify identities that are not stored; they are verified nowhere else in Spark.

    Reads:  record_id, block, is_record, is_used, source; stored: the columns of `kernels.STORED_IDENTITY`, or null.
    Gives:  the columns of `kernels.IDENTITY`.
    Rows:   one per identity that is stored or was delivered.
    """
    return map_batches(named, kernels.identities, kernels.IDENTITY)


def _as_known_identity(every: DataFrame) -> DataFrame:
    """Shape identities to those of `BatchIdentities.known`.

    Reads:  the columns of `kernels.IDENTITY`.  Rows: one per row.
    """
    names = {"id": "writer_id", "public_key": "public_key", "type": "identity_type"}
    starts = (F.substring(text, 1, kernels.IDENTITY_CHARS).alias(name) for text, name in names.items())
    return every.select(F.col("record_id").alias("identity_digest"), *starts, "valid", "is_new", "is_row")


def concluded(judged: DataFrame, identities: DataFrame) -> DataFrame:
    """Decide each block, with its identity.

    Reads:  judged: the columns of `kernels.JUDGED`; identities: as `BatchIdentities.known`.
    Gives:  the columns of both, and outcome: accepted; rejected; refuted (rejected because of its identity,
            perhaps with reasons of its own); deferred; foreign; stray.
    Rows:   one per row.
    """
    joined = judged.join(identities, "identity_digest", "left")
    is_known = F.coalesce("is_row", F.lit(False))
    is_embedded = F.col("identity_block").isNotNull()
    is_invalid = is_embedded & ~F.array_contains("reasons", "IDENTITY_TYPE_UNSUPPORTED") & ~F.col("valid")
    fits = F.col("valid") & (F.col("identity_type") == "publickey") & (F.col("public_key") == F.col("key"))
    outcome = (
        F.when(F.col("kind").isin("foreign", "stray"), F.col("kind"))
        .when(F.col("kind") != "record", F.lit("accepted"))
        .when(is_internal_error(), F.lit("deferred"))
        .when(is_invalid, F.lit("refuted"))
        .when(~_has_no_reason(), F.lit("rejected"))
        .when(F.col("identity_digest").isNull(), F.lit("accepted"))
        .when(is_embedded & F.col("valid"), F.lit("accepted"))
        .when(~is_embedded & ~is_known, F.lit("deferred"))
        .when(~is_embedded & fits, F.lit("accepted"))
        .otherwise(F.lit("refuted"))
    )
    return joined.withColumn("outcome", outcome)


def refuted(concluded_entries: DataFrame) -> DataFrame:
    """Give all reasons of entries that their identity refutes.

    Reads:  `concluded`.
    Gives:  judge_id, reasons, evidence.
    Rows:   one per refuted entry.
    """
    entries = concluded_entries.where("outcome = 'refuted'").select(*kernels.REFUTED_COLUMNS)
    return map_batches(entries, kernels.refuted, kernels.REFUTED)


def with_refutations(found: DataFrame, more: DataFrame) -> DataFrame:
    """Replace the reasons of refuted entries by all their reasons.

    Reads:  found: judge_id, reasons, evidence, ..; more: `refuted`.
    Gives:  the columns of `found`.
    Rows:   one per row.
    """
    named = more.select(
        "judge_id", F.col("reasons").alias("all_reasons"), F.col("evidence").alias("all_evidence")
    )
    merged = {
        "reasons": F.coalesce("all_reasons", "reasons"),
        "evidence": F.coalesce("all_evidence", "evidence"),
    }
    return found.join(named, "judge_id", "left").withColumns(merged).select(*found.columns)
