"""Bindings of contexts and proven consensus, in Spark."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.bindings import CONSENSUS
from strandline.dialects.aura.spark.contexts.bodies import parsed
from strandline.dialects.aura.spark.contexts.encoding import id_bytes, row_hash, sized
from strandline.dialects.aura.spark.tables import HOME
from strandline.frames import crowds

PAIR: Final = ("namespace", "consensus_id", "operation_hash")
_PARTIES: Final = ("account_id", "guardian_id")
_BY: Final = ("body_id", "attestors")


def proven_pairs(granted: DataFrame) -> DataFrame:
    """Return the pairs of proven consensus: as many attestors on chain as a quorum, and as the fact claims.

    Reads:  `granted`.  Gives: PAIR, bucket, body_id, attestors (of the least body that proves it).  Rows: one per pair.
    """
    claims = parsed(granted, "Consensus")
    needed = F.greatest("quorum", "participant_count")
    proofs = claims.where(F.col("threshold_met") & (F.size("attestors") >= needed))
    return _least(proofs, *PAIR[1:])


def bindings(granted: DataFrame, proven: DataFrame) -> DataFrame:
    """Return the bindings in the form of `relational_binding`.

    Reads:  `granted`, `proven_pairs`.  Gives: the columns of `relational_binding`.  Rows: one per binding.
    """
    guardians = _guardians(granted)
    grants = parsed(granted, "RecoveryGrant").where(F.array_contains("attestors", F.col("guardian_id")))
    bound = guardians.select("namespace", *_PARTIES)
    recovery = _least(grants.join(bound, ["namespace", *_PARTIES], "left_semi"), *_PARTIES, "grant_hash")
    generic = _least(parsed(granted, "Generic"), "binding_type", "binding_data")
    every = (
        _shaped(guardians, "GuardianBinding", "binding_hash", "duplicates")
        .unionByName(_shaped(recovery, "RecoveryGrant", "grant_hash"))
        .unionByName(_generic(generic, F.col("binding_type"), F.col("binding_data")))
        .unionByName(_generic(proven, F.lit(CONSENSUS), F.concat("consensus_id", "operation_hash")))
    )
    # Any number of pairs can be proven about one body, and `proven` has each once.
    pairs = proven.select(
        "namespace", F.col("operation_hash").alias("body_id"), F.col("consensus_id").alias("record_id")
    )
    over = crowds.members(pairs, ["namespace", "body_id"]).withColumnRenamed("members", "consensus_ids")
    none = F.array().cast("array<binary>")
    placed = every.join(over, ["namespace", "body_id"], "left")
    return placed.select(
        *HOME, row_hash(_row()).alias("row_hash"), "binding_type", "generic_type", *_PARTIES, "data", "body_id",
        "attestors", F.coalesce("consensus_ids", none).alias("consensus_ids"), "duplicates",
    )  # fmt: skip


def binding_hashes(found: DataFrame) -> DataFrame:
    """Return the hashes of canonical rows.  Reads: `bindings`.  Gives: namespace, row_hash.  Rows: one per row."""
    return found.select("namespace", "row_hash")


def _guardians(granted: DataFrame) -> DataFrame:
    """Of guardian bindings of one account and guardian keep that with the greatest body."""
    both = [F.array_contains("attestors", F.col(name)) for name in _PARTIES]
    met = parsed(granted, "GuardianBinding").where(both[0] & both[1])
    last = F.max(F.struct("body_id", "attestors", "binding_hash"))
    by_hash = met.groupBy(*HOME, *_PARTIES, "binding_hash").agg(last.alias("last")).drop("binding_hash")
    return (
        by_hash.groupBy(*HOME, *_PARTIES)
        .agg(F.max("last").alias("last"), (F.count(F.lit(1)) - 1).cast("int").alias("duplicates"))
        .select(*HOME, *_PARTIES, "last.*", "duplicates")
    )


def _least(bodies: DataFrame, *values: str) -> DataFrame:
    """Of bodies with equal values keep the least.  Gives: namespace, bucket, `values`, body_id, attestors."""
    least = F.min(F.struct(*_BY)).alias("least")
    return bodies.groupBy(*HOME, *values).agg(least).select(*HOME, *values, "least.*")


def _shaped(rows: DataFrame, kind: str, data: str, duplicates: str | None = None) -> DataFrame:
    count = F.lit(0) if duplicates is None else F.col(duplicates)
    return rows.select(
        *HOME, F.lit(kind).alias("binding_type"), F.lit(None).cast("string").alias("generic_type"), *_PARTIES,
        F.col(data).alias("data"), *_BY, count.alias("duplicates"),
    )  # fmt: skip


def _generic(rows: DataFrame, kind: Column, data: Column) -> DataFrame:
    nobody = [F.lit(None).cast("string").alias(name) for name in _PARTIES]
    return rows.select(
        *HOME, F.lit("Generic").alias("binding_type"), kind.alias("generic_type"), *nobody, data.alias("data"), *_BY,
        F.lit(0).alias("duplicates"),
    )  # fmt: skip


def _row() -> Column:
    """Return the canonical bytes of a binding."""
    kind = F.when(F.col("binding_type") == "GuardianBinding", F.lit(b"\x01")).otherwise(F.lit(b"\x02"))
    parties = F.concat(kind, *(id_bytes(F.col(name)) for name in _PARTIES), F.col("data"))
    generic = F.concat(F.lit(b"\x03"), sized(F.col("generic_type")), sized(F.col("data")))
    return F.when(F.col("binding_type") == "Generic", generic).otherwise(parties)
