"""AMP transitions in Spark: their status at each parent, the epochs of channels, and the live transition."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.channels import REASONS
from strandline.dialects.aura.reduce.contexts.transitions import AND_A3, VARIANTS
from strandline.dialects.aura.spark.contexts.bindings import PAIR
from strandline.dialects.aura.spark.contexts.encoding import cbor_number, context_id, tagged
from strandline.dialects.aura.spark.tables import HOME

CHANNEL: Final = (*HOME, "channel")
_PLACE: Final = (*CHANNEL, "parent_epoch", "parent_commitment")
_PROPOSED, _CERTIFIED, _FINALIZED, _ABORT, _CONFLICT, _ALARM, _SUPERSESSION = VARIANTS

_PARENT: Final = "channel STRING, parent_epoch DECIMAL(20,0), parent_commitment STRING"
_IDENTITY: Final = (
    f"{_PARENT}, successor_epoch DECIMAL(20,0), successor_commitment STRING, membership_commitment STRING, "
    "transition_policy STRING"
)
_SHAPE: Final = (
    f"Relational MAP<STRING, STRUCT<identity: STRUCT<{_IDENTITY}>, parent: STRUCT<{_PARENT}>, reason: STRING, "
    "consensus_id: STRING, transition_id: STRING, superseded: STRING, scope: STRING>>"
)
_REACHED: Final = "STRUCT<epoch: DECIMAL(20,0), commitment: BINARY>"


def moves(granted: DataFrame, proven: DataFrame) -> DataFrame:
    """Return the status of the transitions from each parent.

    Reads:  `granted`, `proven_pairs`.
    Gives:  _PLACE; is_finalized, is_live (status A3Finalized, A2Live); final_to: where the finalized one leads; live_id
            and live_gravity (null without a proposal) of the live one. They say nothing where the status is another.
    Rows:   one per parent that a body names. A row has no list: a parent can have any number of transitions.
    """
    each = _judged(_said(granted, proven))

    def of(condition: str, value: str) -> Column:
        return F.min(F.when(F.col(condition), F.col(value))).alias(f"{condition}_{value}")

    found = each.groupBy(*_PLACE).agg(
        F.count_if("live").alias("live_count"), F.count_if("final").alias("final_count"),
        F.count_if(F.col("live") & F.col("final")).alias("both_count"), F.max("has_conflict").alias("has_conflict"),
        of("final", "to"), of("live", "id"), of("live", "gravity"),
    )  # fmt: skip
    agrees = (F.col("live_count") == 0) | (F.col("both_count") == 1)
    is_live = (F.col("final_count") == 0) & (F.col("live_count") == 1) & ~F.col("has_conflict")
    return found.select(
        *_PLACE, "final_to", "live_id", "live_gravity", is_live.alias("is_live"),
        ((F.col("final_count") == 1) & agrees).alias("is_finalized"),
    )  # fmt: skip


def _judged(said: DataFrame) -> DataFrame:
    """Return what bodies say about each transition, and about none (conflicts and alarms).

    Reads:  `_said`.
    Gives:  _PLACE, id; live: it is certified, and nothing dropped it; final: it is finalized, and nothing dropped that;
            to, gravity (of the gravest proposal, or null), has_conflict.
    Rows:   one per parent and transition that a body names there.
    """
    is_quorate = F.size("attestors") >= F.col("quorum")
    is_drop = F.col("variant").isin(_ABORT, _SUPERSESSION) & is_quorate
    gravity = F.array_position(F.array(*map(F.lit, REASONS)), F.col("reason"))
    is_certified = F.max((F.col("variant") == _CERTIFIED) & is_quorate)
    is_finalized = F.max((F.col("variant") == _FINALIZED) & F.col("is_proven"))
    return said.groupBy(*_PLACE, F.coalesce("id", "named").alias("id")).agg(
        (is_certified & ~F.max(is_drop)).alias("live"),
        (is_finalized & ~F.max(is_drop & (F.col("scope") == AND_A3))).alias("final"),
        F.max("successor_commitment").alias("to"),
        F.max(F.when(F.col("variant") == _PROPOSED, gravity)).alias("gravity"),
        F.max((F.col("variant") == _CONFLICT) & is_quorate).alias("has_conflict"),
    )  # fmt: skip


def _first(values: Column) -> Column:
    """Return the first element of an array, null if it has none."""
    return F.get(values, F.lit(0))


def _said(granted: DataFrame, proven: DataFrame) -> DataFrame:
    """Return the transition bodies with their parent, their id, and whether a consensus over it is proven."""
    content = _first(F.map_values(F.from_json("content_json", _SHAPE)["Relational"]))
    rows = granted.where(F.col("variant").isin(*VARIANTS)).withColumn("said", content)
    either = {
        name: F.coalesce(F.col(f"said.identity.{name}"), F.col(f"said.parent.{name}"))
        for name in ("channel", "parent_epoch", "parent_commitment")
    }
    placed = rows.select(
        "namespace", "bucket", "variant", "attestors", "quorum", F.unhex(either["channel"]).alias("channel"),
        either["parent_epoch"].alias("parent_epoch"), F.unhex(either["parent_commitment"]).alias("parent_commitment"),
        F.unhex("said.identity.successor_commitment").alias("successor_commitment"),
        F.unhex("said.consensus_id").alias("consensus_id"), F.col("said.reason").alias("reason"),
        F.col("said.scope").alias("scope"),
        F.unhex(F.coalesce("said.transition_id", "said.superseded")).alias("named"),
        F.when(F.col("said.identity").isNotNull(), transition_id("said.identity")).alias("id"),
    )  # fmt: skip
    pairs = proven.select(*PAIR, F.lit(True).alias("found")).withColumnRenamed("operation_hash", "id")
    found = placed.join(pairs, ["namespace", "consensus_id", "id"], "left")
    return found.withColumn("is_proven", F.coalesce("found", F.lit(False)))


def reached(found: DataFrame, committed: DataFrame) -> DataFrame:
    """Return the epoch that finalized transitions and proven bumps of a channel lead to, from 0 without a gap.

    Reads:  `moves`, `channels.commits`.  Gives: CHANNEL, epoch, commitment, is_forked.
    Rows:   one per channel with a transition or a proven bump; a task folds the steps of one channel.
    """
    steps = found.where("is_finalized").select(
        *CHANNEL, F.col("parent_epoch").alias("epoch"), F.col("parent_commitment").alias("before"),
        F.col("final_to").alias("to"),
    )  # fmt: skip
    bumps = committed.where("is_proven").select(
        *CHANNEL, F.col("parent_epoch").alias("epoch"), "bump_id", F.lit(True).alias("is_bump")
    )
    both = steps.unionByName(bumps, allowMissingColumns=True).groupBy(*CHANNEL, "epoch").agg(
        F.coalesce(F.max("is_bump"), F.lit(False)).alias("is_bump"),
        F.coalesce(F.min("bump_id") != F.max("bump_id"), F.lit(False)).alias("is_forked"),
        F.collect_list(F.when(F.col("to").isNotNull(), F.struct("before", "to"))).alias("leads"),
    )  # fmt: skip
    walked = both.groupBy(*CHANNEL).agg(
        F.sort_array(F.collect_list(F.struct("epoch", "is_bump", "leads"))).alias("steps"),
        F.max("is_forked").alias("is_forked"),
    )
    start = F.struct(
        F.lit(0).cast("decimal(20,0)").alias("epoch"), F.lit(None).cast("binary").alias("commitment")
    )
    ended = walked.withColumn("at", F.aggregate("steps", start, _step))
    named = found.select(*CHANNEL).distinct().join(ended, list(CHANNEL), "full_outer")
    return named.select(
        *CHANNEL, F.coalesce("at.epoch", F.lit(0).cast("decimal(20,0)")).alias("epoch"),
        F.col("at.commitment").alias("commitment"), F.coalesce("is_forked", F.lit(False)).alias("is_forked"),
    )  # fmt: skip


def _step(at: Column, step: Column) -> Column:
    """Return the state after one step: by the one transition that fits, else by a bump, else unchanged."""
    fits = F.filter(
        step["leads"], lambda lead: at["commitment"].isNull() | (lead["before"] == at["commitment"])
    )
    is_next = step["epoch"] == at["epoch"]
    epoch = (at["epoch"] + 1).cast("decimal(20,0)").alias("epoch")
    by_transition = F.struct(epoch, _first(fits)["to"].alias("commitment"))
    by_bump = F.struct(epoch, F.lit(None).cast("binary").alias("commitment"))
    moved = F.when(F.size(fits) == 1, by_transition).when(step["is_bump"], by_bump).otherwise(at)
    return F.when(is_next, moved).otherwise(at).cast(_REACHED)


def live(found: DataFrame, ends: DataFrame) -> DataFrame:
    """Return the live transition from the current epoch of a channel.

    Reads:  `moves`, `reached`.  Gives: CHANNEL, live_id, live_gravity (1: routine).  Rows: one per channel with one.
    """
    candidates = found.where("is_live").join(ends.select(*CHANNEL, "epoch", "commitment"), list(CHANNEL))
    fits = candidates.where(
        (F.col("parent_epoch") == F.col("epoch"))
        & (F.col("commitment").isNull() | (F.col("commitment") == F.col("parent_commitment")))
    )
    gravity = F.coalesce("live_gravity", F.lit(1)).cast("int").alias("live_gravity")
    each = fits.select(*CHANNEL, "live_id", gravity).groupBy(*CHANNEL)
    return each.agg(
        F.count(F.lit(1)).alias("count"), F.first("live_id").alias("live_id"),
        F.first("live_gravity").alias("live_gravity"),
    ).where("count = 1").drop("count")  # fmt: skip


def transition_id(identity: str) -> Column:
    """Return the id of a transition.  Reads: namespace, and `identity`: a struct with the members of _IDENTITY."""

    def digest(name: str) -> Column:
        return F.concat(F.lit(b"\x58\x20"), F.unhex(f"{identity}.{name}"))

    policy = F.col(f"{identity}.transition_policy")
    size = F.octet_length(policy)
    head = F.when(size < 24, F.hex(size + 0x60)).otherwise(F.concat(F.lit("78"), F.hex(size)))
    values = {
        "channel": digest("channel"), "context": F.concat(F.lit(b"\x50"), context_id(F.col("namespace"))),
        "parent_epoch": F.unhex(cbor_number(F.col(f"{identity}.parent_epoch"))),
        "successor_epoch": F.unhex(cbor_number(F.col(f"{identity}.successor_epoch"))),
        "parent_commitment": digest("parent_commitment"),
        "transition_policy": F.concat(F.unhex(head), policy.cast("binary")),
        "successor_commitment": digest("successor_commitment"),
        "membership_commitment": digest("membership_commitment"),
    }  # fmt: skip
    # Canonical CBOR: names of ascending length, here all below 24 bytes.
    pairs = [
        part
        for name, value in values.items()
        for part in (F.lit(bytes([0x60 + len(name)]) + name.encode()), value)
    ]
    return tagged("strandline/aura/amp-transition/1", F.lit(bytes([0xA0 + len(values)])), *pairs)
