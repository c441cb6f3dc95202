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

KNOWN_IDENTITY = (
    "identity_digest",
    "identity_row",
    "writer_id",
    "public_key",
    "identity_type",
    "valid",
    "is_row",
)
"""An identity with its verdict. `identity_row` is its block; `is_row`: it is in `ipfs_log_identity`, or this run adds
it.
"""


WAITS: Final = "identity:"
"""The prefix of an identity's name in `waits_for`."""


@dataclass(frozen=True, slots=True)
class BatchIdentities(Gathered):
    """The identities that a batch needs: `known` has KNOWN_IDENTITY; `verified` has `_new_rows`, of this run."""

    known: DataFrame
    verified: DataFrame


def waited_for() -> Column:
    """Return the digest of the identity that a row of `quarantine` waits for."""
    return F.unhex(F.substring_index(F.col("waits_for")[0], ":", -1))


def gathered(
    judged: DataFrame, waiting: DataFrame | None, bucket: int, tables: Tables, jobs: Jobs
) -> BatchIdentities:
    """Return the identities that blocks and waiting rows name; the new ones are verified."""
    stored = _stored(judged, waiting, bucket, tables, jobs)
    new = _delivered_identities(judged)
    if stored is not None:
        new = new.join(stored.select("record_id"), "record_id", "left_anti")
    new = jobs.checkpoint(new, "identities")
    verdicts = jobs.checkpoint(_new_rows(verified(new), new), "verified identities")
    every = _as_known_identity(verdicts, F.col("is_row"))
    if stored is not None:
        every = every.unionByName(_as_known_identity(stored, F.lit(True)))
    return BatchIdentities(judged, tables, jobs, jobs.checkpoint(every, "identities"), verdicts)


def _stored(
    judged: DataFrame, waiting: DataFrame | None, bucket: int, tables: Tables, jobs: Jobs
) -> DataFrame | None:
    """Return the rows of `ipfs_log_identity` that this run needs, or None if there are none."""
    rows = tables.read(IDENTITIES).where(F.col("bucket") == bucket)
    if not jobs.has_rows(rows):
        return None
    needed = judged.where("identity_digest IS NOT NULL").select("identity_digest")
    if waiting is not None:
        needed = needed.unionByName(waiting.select(waited_for().alias("identity_digest")))
    named = needed.distinct().withColumnRenamed("identity_digest", "record_id")
    return jobs.checkpoint(rows.join(named, "record_id", "left_semi"), "known identities")


def _has_no_reason() -> Column:
    """True for a block without a reason from its own bytes."""
    return F.size("reasons") == 0


def _delivered_identities(judged: DataFrame) -> DataFrame:
    """Give the distinct identities of a batch: delivered alone, or embedded in entries that they may decide.

    Reads:  kind, reasons, identity_digest, identity_block, source.
    Gives:  record_id (the identity's digest), block, is_record (delivered alone), is_used (embedded in an entry
            without a reason of its own), source (the least of several).
    Rows:   one per identity.
    """
    is_needed = F.col("identity_block").isNotNull() & ~F.array_contains(
        "reasons", "IDENTITY_TYPE_UNSUPPORTED"
    )
    return (
        judged.where(is_needed)
        .groupBy(F.col("identity_digest").alias("record_id"))
        .agg(
            F.first("identity_block").alias("block"),
            F.max(F.col("kind") == "identity").alias("is_record"),
            F.max((F.col("kind") == "record") & _has_no_reason()).alias("is_used"),
            F.min("source").alias("source"),
        )
    )


def verified(identities: DataFrame) -> DataFrame:
    """Verify identities; they are verified nowhere else in Spark.

    Reads:  record_id, block.
    Gives:  the columns of `kernels.IDENTITY`.
    Rows:   one per row.
    """
    return map_batches(identities.select("record_id", "block"), kernels.identities, kernels.IDENTITY)


def _new_rows(verdicts: DataFrame, identities: DataFrame) -> DataFrame:
    """Add is_record, is_used, is_row and source to verdicts.

    An identity becomes a row if it was delivered alone or an accepted entry embeds it.

    Reads:  verdicts: `verified`; identities: `_delivered_identities`.
    Gives:  the columns of `verdicts`, is_record, is_used, is_row.
    Rows:   one per verdict.
    """
    joined = verdicts.join(identities.select("record_id", "is_record", "is_used", "source"), "record_id")
    return joined.withColumn("is_row", F.col("is_record") | (F.col("is_used") & F.col("valid")))


def _as_known_identity(verdicts: DataFrame, is_row: Column) -> DataFrame:
    """Shape identities to KNOWN_IDENTITY.

    Reads:  the columns of `ipfs_log_identity`.  Rows: one per row.
    """
    return verdicts.select(
        F.col("record_id").alias("identity_digest"), F.col("block").alias("identity_row"),
        F.col("id").alias("writer_id"), "public_key", F.col("type").alias("identity_type"), "valid",
        is_row.alias("is_row"),
    )  # fmt: skip


def concluded(judged: DataFrame, identities: DataFrame) -> DataFrame:
    """Decide each block, with its identity.

    Reads:  judged: the columns of `kernels.JUDGED`; identities: KNOWN_IDENTITY.
    Gives:  those columns, KNOWN_IDENTITY and outcome: accepted; rejected; refuted (rejected because of its identity,
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
        .when(F.array_contains("reasons", "INTERNAL_ERROR"), F.lit("deferred"))
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
    entries = concluded_entries.where("outcome = 'refuted'").select(
        "judge_id", "variant", "key", "reasons", "evidence", "identity_row", "valid"
    )
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
