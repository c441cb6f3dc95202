"""Forks of contexts in Spark: claims by joins, evidence by plain functions for the few rows that are forks."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import EQUIVOCATIONS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.aura import kernels
from strandline.dialects.aura.reduce.contexts.forks import CHECKPOINT_FORK, COMMIT_FORK, CONSENSUS_FORK
from strandline.dialects.aura.spark.contexts.bodies import parsed
from strandline.dialects.aura.spark.namespaces import authority_namespace
from strandline.dialects.aura.spark.retained_operations import PrunedOperations, with_remains
from strandline.dialects.aura.spark.tables import FACTS
from strandline.dialects.aura.types import DIALECT
from strandline.frames.crowds import crowds
from strandline.frames.lift import map_batches
from strandline.kernels.equivocations import EQUIVOCATION_SCHEMA

_PLACE: Final = ("namespace", "bucket", "kind", "key", "position")
_CLAIM: Final = "claim"


def contradictions(facts: DataFrame, committed: DataFrame) -> DataFrame:
    """Return contradictory claims at one place: attestations at any known state, or proven commits.

    Reads:  facts: rows of `aura_fact`; committed: `channels.commits`.
    Gives:  _PLACE, members, member_count, id_a, id_b.  Rows: one per place with two claims or more.
    """
    rows = facts.select(
        "namespace", "bucket", "record_id", "variant", "content_json", F.col("attest.authority").alias("by")
    )
    consensus = parsed(rows, "Consensus")
    checkpoints = parsed(rows, "AmpChannelCheckpoint")
    numbers = [F.col(name).cast("string") for name in ("chan_epoch", "base_gen")]
    generation = F.concat_ws(":", _hex("channel"), *numbers)
    by_commits = committed.where("is_proven").select(
        "namespace", "bucket", F.lit(COMMIT_FORK).alias("kind"), _hex("channel").alias("key"),
        F.col("parent_epoch").cast("string").alias("position"), F.col("bump_id").alias(_CLAIM),
        F.col("fact_id").alias("record_id"),
    )  # fmt: skip
    claims = (
        _claims(consensus, CONSENSUS_FORK, _hex("consensus_id"), "operation_hash")
        .unionByName(_claims(checkpoints, CHECKPOINT_FORK, generation, "ck_commitment"))
        .unionByName(by_commits)
    )
    least = claims.groupBy(*_PLACE, _CLAIM).agg(F.min("record_id").alias("record_id"))
    names = {"shown_a": "id_a", "shown_b": "id_b"}
    return crowds(least, _PLACE).withColumnsRenamed(names)


def equivocations(
    found: DataFrame,
    facts: DataFrame,
    pruned: PrunedOperations | None,
    tables: Tables,
    jobs: Jobs,
    version: int,
) -> DataFrame | None:
    """Return rows of `equivocation` with their evidence, or None without any.

    A fork has no row if a state in its evidence cannot be built any more because operations were pruned.

    Reads:  found: `contradictions`; facts: rows of `aura_fact`.  Gives: the columns of `equivocation`.
    The states under which authorities attested are computed from their operations, an authority a task.
    """
    forks = jobs.checkpoint(found, "forks")
    if not jobs.has_rows(forks):
        return None
    shown = forks
    for side in "ab":
        record = facts.select(
            "namespace", F.col("record_id").alias(f"id_{side}"), F.col("fact_cbor").alias(f"bytes_{side}"),
            F.col("attest").alias(f"attest_{side}"),
        )  # fmt: skip
        shown = shown.join(record, ["namespace", f"id_{side}"])
    named = F.filter(F.concat("attest_a", "attest_b"), lambda each: each["authority"] == F.col("key"))
    states = shown.select(*_PLACE, F.explode(named).alias("by")).select(
        *_PLACE, F.col("by.authority").alias("authority"), F.col("by.commitment").alias("commitment")
    )
    inputs = _state_inputs(states, pruned, tables, version)
    by_place = states.distinct().join(inputs, ["authority", "commitment"]).groupBy(*_PLACE).agg(
        F.collect_list(F.struct("commitment", "input")).alias("states")
    )  # fmt: skip
    rows = shown.join(by_place, list(_PLACE), "left")
    if pruned is not None:
        wanted = states.distinct().groupBy(*_PLACE).agg(F.count(F.lit(1)).alias("wanted"))
        rows = rows.join(wanted, list(_PLACE), "left").where(
            F.col("wanted").isNull() | (F.col("wanted") == F.size("states"))
        )
    rows = rows.select(*kernels.FORK_COLUMNS)
    # Cached: evidence takes many joins, and a MERGE reads its rows more than once.
    return jobs.checkpoint(map_batches(rows, kernels.fork_rows, EQUIVOCATION_SCHEMA), "evidence of forks")


def kept(found: DataFrame, made: DataFrame | None, evidence: DataFrame | None, tables: Tables) -> DataFrame:
    """Return the stored rows of contexts that a full reduction cannot make again.

    Reads:  found: `contradictions`; made: `equivocations`; evidence: stored rows that name a pruned fact.
    Gives:  EQUIVOCATION_SCHEMA.  Rows: one per stored row that is still right.
    """
    names, stored = EQUIVOCATION_SCHEMA.names, tables.read(EQUIVOCATIONS).where(F.col("dialect") == DIALECT)
    rest = found.select(*_PLACE)
    if made is not None:
        rest = rest.join(made.select(*_PLACE), list(_PLACE), "left_anti")
    rows = stored.join(rest, list(_PLACE), "left_semi").select(*names)
    return rows if evidence is None else rows.unionByName(evidence.select(*names))


def _state_inputs(
    states: DataFrame, pruned: PrunedOperations | None, tables: Tables, version: int
) -> DataFrame:
    """Return the hash inputs of all states of these authorities.  Gives: authority, commitment, input."""
    authorities = states.select(authority_namespace().alias("namespace")).distinct()
    operations = tables.read_version(FACTS, version).where(F.col("kind") == "AttestedOp")
    theirs = operations.join(authorities, "namespace", "left_semi")
    grouped = with_remains(theirs, pruned, kernels.STATE_INPUT_COLUMNS)
    return map_batches(grouped, kernels.state_inputs, kernels.STATE_INPUT_SCHEMA)


def _claims(bodies: DataFrame, kind: str, position: Column, claim: str) -> DataFrame:
    """Return each claim of each authority.  Gives: _PLACE, claim, record_id.  Rows: one per attestation."""
    return bodies.select(
        "namespace", "bucket", F.lit(kind).alias("kind"), F.explode("by").alias("key"), position.alias("position"),
        F.col(claim).alias(_CLAIM), "record_id",
    )  # fmt: skip


def _hex(name: str) -> Column:
    return F.lower(F.hex(name))
