"""The rules that keep bodies of contexts other than charges, as joins: those of `reduce.contexts.holds`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.channels import CHECKPOINT, COMMITTED, PROPOSED
from strandline.dialects.aura.reduce.contexts.holds import GENERATION_OF
from strandline.dialects.aura.spark.contexts.bindings import PAIR
from strandline.dialects.aura.spark.contexts.bodies import BODY, parsed
from strandline.dialects.aura.spark.contexts.channels import bump_hash
from strandline.dialects.aura.spark.contexts.views import View
from strandline.dialects.aura.spark.tables import BODY_KEY
from strandline.frames.pruning import GENERATION, boundary
from strandline.frames.union import union

_CHANNEL: Final = ("namespace", "channel")
_PEERS: Final = (*_CHANNEL, "chan_epoch")
_Rule: TypeAlias = Callable[[DataFrame, View], DataFrame]


def holds(facts: DataFrame, ordinary: View, final: View) -> DataFrame:
    """Give the rule (hold) that keeps each checkpoint and each proposed bump in its channel.

    Reads:  facts: the facts that count; ordinary, final: the views.
    Gives:  namespace, body_id, hold (null: it may go, but for `flags`).
    Rows:   one per body.
    """
    rows = facts.select(*BODY, "variant", "content_json")
    checkpoints = parsed(rows, CHECKPOINT).select(*BODY, "channel", "chan_epoch", "base_gen").distinct()
    return _of_channels(checkpoints, _of_checkpoints, ordinary, final).unionByName(
        _of_channels(_bumps(rows), _of_bumps, ordinary, final)
    )


def flags(facts: DataFrame, ids: DataFrame, final: View) -> DataFrame:
    """Return the bodies that other facts keep, by the first rule of `reduce.contexts.pruning.plan_context`.

    Reads:  facts: the facts that count, but for charges; ids: namespace, body_id, record_id of all that count.
    Gives:  namespace, body_id, flag.
    Rows:   one per body.
    """
    rows = facts.select(*BODY, "variant", "content_json", "attest")
    pending, bumps = _pending(rows, final), _bumps(rows)
    needed = _needed(bumps, rows, pending, final).unionByName(
        pending.select("namespace", F.col("operation_hash").alias("body_id"))
    )
    found = [
        _referenced(facts, ids).select(*BODY_KEY, F.lit(0).alias("rank")),
        needed.select(*BODY_KEY, F.lit(1).alias("rank")),
    ]
    first = union(found).groupBy(*BODY_KEY).agg(F.min("rank").alias("rank"))
    name = F.when(F.col("rank") == 0, F.lit("RECEIPT_REFERENCE")).otherwise(F.lit("PENDING_CONSENSUS"))
    return first.select(*BODY_KEY, name.alias("flag"))


def _bumps(rows: DataFrame) -> DataFrame:
    proposed = parsed(rows.select(*BODY, "variant", "content_json"), PROPOSED)
    return proposed.select(*BODY, "channel", "parent_epoch", "bump_id").distinct()


def generation() -> Column:
    """Return the generation of a fact of a kind that can go, null for others.  Reads: content_json."""
    shape = ", ".join(f"{variant}: STRUCT<{name} {GENERATION}>" for variant, name in GENERATION_OF.items())
    content = F.from_json("content_json", f"Relational STRUCT<{shape}>")["Relational"]
    return F.coalesce(*(content[variant][name] for variant, name in GENERATION_OF.items()))


def _referenced(facts: DataFrame, ids: DataFrame) -> DataFrame:
    """Return the bodies that a receipt names, by their id or that of a copy.  Gives: namespace, body_id."""
    receipt = F.from_json("content_json", "RendezvousReceipt STRUCT<envelope_id: STRING>")[
        "RendezvousReceipt"
    ]
    envelopes = facts.where("kind = 'RendezvousReceipt'").select(
        "namespace", F.unhex(receipt["envelope_id"]).alias("id")
    )
    copies = ids.select(*BODY_KEY, F.col("record_id").alias("id")).join(
        envelopes, ["namespace", "id"], "left_semi"
    )
    return copies.select(*BODY_KEY).unionByName(envelopes.withColumnRenamed("id", "body_id"))


def _pending(rows: DataFrame, final: View) -> DataFrame:
    """Return the hashes of consensus not proven in the final view.  Gives: namespace, operation_hash."""
    claims = parsed(rows, "Consensus").select(*PAIR).distinct()
    return claims.join(final.proven.select(*PAIR), list(PAIR), "left_anti").select(
        "namespace", "operation_hash"
    )


def _needed(bumps: DataFrame, rows: DataFrame, pending: DataFrame, final: View) -> DataFrame:
    """Return the proposed bumps that a consensus or a commit needs which is not proven.  Gives: namespace, body_id."""
    agreed = bumps.withColumn("operation_hash", bump_hash())
    by_consensus = agreed.join(pending, ["namespace", "operation_hash"], "left_semi")
    commits = parsed(rows, COMMITTED).withColumnRenamed("chosen_bump_id", "bump_id")
    open_ = commits.withColumn("operation_hash", bump_hash()).join(
        final.proven.select(*PAIR), list(PAIR), "left_anti"
    )
    by_commit = bumps.join(open_, [*_CHANNEL, "bump_id"], "left_semi")
    return by_consensus.select(*BODY_KEY).unionByName(by_commit.select(*BODY_KEY))


def _of_checkpoints(checkpoints: DataFrame, seen: View) -> DataFrame:
    """Give the hold of checkpoints in a view.  Gives: the columns of `checkpoints`, hold, is_there (the channel is)."""
    ends = (
        parsed(seen.granted, CHECKPOINT)
        .groupBy(*_PEERS)
        .agg(F.max("base_gen").alias("last"), F.min(F.struct("base_gen", "body_id")).alias("first"))
    )
    placed = _placed(checkpoints, seen).join(ends, list(_PEERS), "left")
    first = boundary(F.col("last_checkpoint_gen"), F.col("skip_window"))
    is_last = ~F.coalesce(F.col("base_gen") < F.col("last"), F.lit(False))
    is_first = ~F.coalesce(F.col("first") < F.struct("base_gen", "body_id"), F.lit(False))
    hold = (
        F.when(F.col("base_gen") >= first, F.lit("WINDOW"))
        .when(is_last, F.lit("EPOCH_END"))
        .when(is_first, F.lit("EPOCH_START"))
    )
    return placed.select(*checkpoints.columns, hold.alias("hold"), "is_there")


def _of_bumps(bumps: DataFrame, seen: View) -> DataFrame:
    """Give the hold of proposed bumps in one view.  Gives: the columns of `bumps`, hold, is_there (the channel is)."""
    is_open = F.coalesce(F.col("parent_epoch") >= F.col("now"), F.lit(True))
    hold = F.when(is_open, F.lit("EPOCH_OPEN"))
    return _placed(bumps, seen).select(*bumps.columns, hold.alias("hold"), "is_there")


def _placed(bodies: DataFrame, seen: View) -> DataFrame:
    channels = seen.channels.select(
        *_CHANNEL, F.col("chan_epoch").alias("now"), "last_checkpoint_gen", "skip_window",
        F.lit(True).alias("is_there"),
    )  # fmt: skip
    return bodies.join(channels, list(_CHANNEL), "left")


def _of_channels(bodies: DataFrame, rule: _Rule, ordinary: View, final: View) -> DataFrame:
    """Give the hold of bodies of channels; NOT_FINAL if only the final view keeps them, or lacks the channel.

    Gives:  namespace, body_id, hold.  Rows: one per body.
    """
    now = rule(bodies, ordinary).select(
        *BODY_KEY, F.col("hold").alias("now_hold"), F.col("is_there").alias("is_now")
    )
    both = rule(bodies, final).join(now, list(BODY_KEY))
    is_free_now = F.coalesce("is_now", F.lit(False)) & F.col("now_hold").isNull()
    is_not_final = F.col("is_there").isNull() | (F.col("hold").isNotNull() & is_free_now)
    hold = F.when(is_not_final, F.lit("NOT_FINAL")).otherwise(F.col("hold"))
    return both.select(*BODY_KEY, hold.alias("hold"))
