"""AMP transitions in Spark: what counts at each parent, where the epochs go, and which transition is live."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.channels import REASONS
from strandline.dialects.aura.reduce.contexts.transitions import VARIANTS
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
    """Return what bodies say about the transitions from each parent.

    Reads:  `granted`, `proven_pairs`.
    Gives:  _PLACE; live, final: arrays of (id, to), certified and finalized ones that nothing dropped; reasons: the
            gravest of the proposals of each live one, by id; is_finalized, is_live (status A3Finalized, A2Live).
    Rows:   one per parent that a body names.
    """
    said = _said(granted, proven)
    is_quorate = F.size("attestors") >= F.col("quorum")
    target: Column = F.struct("id", F.col("successor_commitment").alias("to"))

    def are(variants: tuple[str, ...], more: Column, value: Column) -> Column:
        return F.collect_set(F.when(F.col("variant").isin(*variants) & more, value))

    drops = (_ABORT, _SUPERSESSION)
    counted = said.groupBy(*_PLACE).agg(
        are((_CERTIFIED,), is_quorate, target).alias("certified"),
        are((_FINALIZED,), F.col("is_proven"), target).alias("finalized"),
        are(drops, is_quorate, F.col("named")).alias("dropped"),
        are(drops, is_quorate & (F.col("scope") == "A2AndA3"), F.col("named")).alias("dropped_a3"),
        F.max((F.col("variant") == _CONFLICT) & is_quorate).alias("has_conflict"),
    )
    kept = counted.select(
        *_PLACE, "has_conflict", _without("certified", "dropped").alias("live"),
        _without("finalized", "dropped_a3").alias("final"),
    )  # fmt: skip
    agrees = (F.size("live") == 0) | F.exists("live", lambda each: each["id"] == _first("final")["id"])
    is_finalized = (F.size("final") == 1) & agrees
    is_live = (F.size("final") == 0) & (F.size("live") == 1) & ~F.col("has_conflict")
    return kept.withColumns({"is_finalized": is_finalized, "is_live": is_live}).join(
        _reasons(said), list(_PLACE), "left"
    )


def _first(values: str | Column) -> Column:
    """Return the first element of an array, null if it has none."""
    return F.get(values, F.lit(0))


def _without(named: str, dropped: str) -> Column:
    return F.filter(named, lambda each: ~F.array_contains(dropped, each["id"]))


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


def _reasons(said: DataFrame) -> DataFrame:
    """Return the gravest reason of the proposals of each transition.  Gives: _PLACE, reasons.  Rows: one per parent."""
    gravity = F.array_position(F.array(*map(F.lit, REASONS)), F.col("reason"))
    each = (
        said.where(F.col("variant") == _PROPOSED).groupBy(*_PLACE, "id").agg(F.max(gravity).alias("gravity"))
    )
    certified = said.where(F.col("variant") == _CERTIFIED).select(*_PLACE, "id").distinct()
    # A proposal alone is never live: it needs a certificate.
    kept = each.join(certified, [*_PLACE, "id"], "left_semi")
    entries = F.map_from_entries(F.collect_list(F.struct("id", "gravity")))
    return kept.groupBy(*_PLACE).agg(entries.alias("reasons"))


def reached(found: DataFrame, committed: DataFrame) -> DataFrame:
    """Return where the epochs of channels lead, over finalized transitions and proven bumps, from 0 without a gap.

    Reads:  `moves`, `channels.commits`.  Gives: CHANNEL, epoch, commitment, is_forked.
    Rows:   one per channel with a transition or a proven bump; a task folds the steps of one channel.
    """
    steps = found.where("is_finalized").select(
        *CHANNEL, F.col("parent_epoch").alias("epoch"), F.col("parent_commitment").alias("before"),
        _first("final")["to"].alias("to"),
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
    """Return where one step leads: on by the one transition that fits, else by a bump, else nowhere."""
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
    """Return the one live transition from where a channel stands.

    Reads:  `moves`, `reached`.  Gives: CHANNEL, live_id, live_gravity (1: routine).  Rows: one per channel with one.
    """
    stands = found.where("is_live").join(ends.select(*CHANNEL, "epoch", "commitment"), list(CHANNEL))
    fits = stands.where(
        (F.col("parent_epoch") == F.col("epoch"))
        & (F.col("commitment").isNull() | (F.col("commitment") == F.col("parent_commitment")))
    )
    id_ = _first("live")["id"]
    gravity = F.coalesce(F.element_at("reasons", id_), F.lit(1)).cast("int")
    each = fits.select(*CHANNEL, id_.alias("live_id"), gravity.alias("live_gravity")).groupBy(*CHANNEL)
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
