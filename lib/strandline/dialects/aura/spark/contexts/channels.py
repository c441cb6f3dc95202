"""Channels of contexts in Spark: epochs without a gap, checkpoints in force, windows and pending bumps."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from strandline.dialects.aura.reduce.contexts.channels import (
    CHECKPOINT,
    COMMITTED,
    DEFAULT_WINDOW,
    POLICY,
    PROPOSED,
    REASONS,
)
from strandline.dialects.aura.spark.contexts import transitions
from strandline.dialects.aura.spark.contexts.bindings import PAIR
from strandline.dialects.aura.spark.contexts.bodies import parsed
from strandline.dialects.aura.spark.contexts.encoding import context_id, row_hash, tagged, u32, u64
from strandline.dialects.aura.spark.contexts.transitions import CHANNEL


def commits(granted: DataFrame, proven: DataFrame) -> DataFrame:
    """Return the committed bumps, and whether a consensus about each is proven.

    Reads:  `granted`, `proven_pairs`.  Gives: CHANNEL, parent_epoch, bump_id, fact_id, is_proven.  Rows: one per body.
    """
    found = parsed(granted, COMMITTED).withColumnRenamed("chosen_bump_id", "bump_id")
    agreed = bump_hash()
    pairs = proven.select(*PAIR, F.lit(True).alias("found"))
    placed = found.withColumn("operation_hash", agreed).join(pairs, list(PAIR), "left")
    is_proven = F.coalesce("found", F.lit(False)).alias("is_proven")
    return placed.select(*CHANNEL, "parent_epoch", "bump_id", "fact_id", is_proven)


def bump_hash() -> Column:
    """Return the hash that a consensus about a bump agrees on.  Reads: namespace, channel, parent_epoch, bump_id."""
    parent = F.col("parent_epoch")
    return tagged(
        "strandline/aura/op/amp-bump/1", context_id(F.col("namespace")), F.col("channel"), u64(parent), u64(parent + 1),
        F.col("bump_id"),
    )  # fmt: skip


def channel_epochs(granted: DataFrame, committed: DataFrame, moves: DataFrame | None) -> DataFrame:
    """Return the channels in the form of `channel_epoch`.

    Reads:  `granted`, `commits`; `transitions.moves` in a lake with AMP transitions.
    Gives:  the columns of `channel_epoch`.
    Rows:   one per channel that a body names.
    """
    given = [
        parsed(granted, variant).withColumn("variant", F.lit(variant))
        for variant in (CHECKPOINT, POLICY, PROPOSED)
    ]
    given.append(committed.withColumn("variant", F.lit(COMMITTED)))
    if moves is not None:
        given.append(moves.select(*CHANNEL).withColumn("variant", F.lit("AmpTransition")))
    every = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), given)
    zero = F.lit(0).cast("decimal(20,0)")
    ends = _epochs(committed) if moves is None else transitions.reached(moves, committed)
    placed = every.join(ends.drop("commitment"), list(CHANNEL), "left").withColumns(
        {"epoch": F.coalesce("epoch", zero), "is_forked": F.coalesce("is_forked", F.lit(False))}
    )
    found = placed.groupBy(*CHANNEL, "epoch", "is_forked").agg(*_aggregates())
    if moves is None:
        nothing = {"live_id": F.lit(None).cast("binary"), "live_gravity": F.lit(None).cast("int")}
        return _shaped(found.withColumns(nothing))
    return _shaped(found.join(transitions.live(moves, ends), list(CHANNEL), "left"))


def _epochs(committed: DataFrame) -> DataFrame:
    """Return the epoch that the proven commits of a channel lead to: 0, 1, 2 .. without a gap.

    Gives:  CHANNEL, epoch, is_forked (two bumps are proven for one parent).
    Rows:   one per channel with a proven commit.
    """
    parents = committed.where("is_proven").groupBy(*CHANNEL, "parent_epoch").agg(
        (F.min("bump_id") != F.max("bump_id")).alias("is_forked")
    )  # fmt: skip
    rank = F.row_number().over(Window.partitionBy(*CHANNEL).orderBy("parent_epoch")) - 1
    ranked = parents.withColumn("is_next", rank == F.col("parent_epoch"))
    return ranked.groupBy(*CHANNEL).agg(
        F.count_if("is_next").cast("decimal(20,0)").alias("epoch"), F.max("is_forked").alias("is_forked")
    )


def _aggregates() -> list[Column]:
    """Return the aggregates of the bodies of a channel that decide its row; the bodies have its epoch as a column."""
    is_checkpoint = F.col("variant") == CHECKPOINT
    is_past = is_checkpoint & (F.col("chan_epoch") <= F.col("epoch"))
    is_now = is_checkpoint & (F.col("chan_epoch") == F.col("epoch"))
    rank = F.struct("chan_epoch", "base_gen", "ck_commitment", "body_id", "skip_window_override")
    # The least commitment at the greatest epoch and generation, as the greatest of inverted digits.
    inverted = F.translate(F.hex("ck_commitment"), "0123456789ABCDEF", "FEDCBA9876543210")
    generation = F.when(is_now, F.col("base_gen"))
    gravity = -sum(
        (F.when(F.col("reason") == reason, at).otherwise(0) for at, reason in enumerate(REASONS)), F.lit(0)
    )
    is_next = (F.col("variant") == PROPOSED) & (F.col("parent_epoch") == F.col("epoch"))
    is_routine = F.col("reason") == REASONS[0]
    is_commit = F.col("variant") == COMMITTED
    is_dormant = is_commit & F.col("is_proven") & (F.col("parent_epoch") > F.col("epoch"))
    return [
        F.max(F.when(is_past, rank)).alias("in_force"),
        F.max(F.when(is_past, F.struct("chan_epoch", "base_gen", inverted.alias("least")))).alias("rival"),
        F.coalesce(F.max(generation) - F.min(generation), F.lit(0)).alias("spacing"),
        F.min("skip_window").alias("policy"),
        F.min(F.when(is_next & ~is_routine, F.struct(gravity.alias("gravity"), "bump_id"))).alias("urgent"),
        F.min(F.when(is_next & is_routine, F.col("bump_id"))).alias("routine"),
        F.count_if(is_dormant).cast("int").alias("dormant_commits"),
        F.count_if(is_commit & ~F.col("is_proven")).cast("int").alias("unproven_commits"),
    ]


def _shaped(found: DataFrame) -> DataFrame:
    """Return the columns of `channel_epoch`."""
    zero = F.lit(0).cast("decimal(20,0)")
    override, policy = F.col("in_force.skip_window_override"), F.col("policy")
    window = F.coalesce(override, policy, F.lit(DEFAULT_WINDOW).cast("bigint"))
    source = (
        F.when(override.isNotNull(), "checkpoint").when(policy.isNotNull(), "policy").otherwise("default")
    )
    is_spaced = F.col("spacing") >= F.floor(window / 2)
    bump = F.coalesce("live_id", "urgent.bump_id", F.when(is_spaced, F.col("routine")))
    gravity = F.coalesce("live_gravity", 1 - F.col("urgent.gravity"), F.lit(1))
    reason = F.element_at(F.array(*map(F.lit, REASONS)), gravity)
    own = F.translate(F.hex("in_force.ck_commitment"), "0123456789ABCDEF", "FEDCBA9876543210")
    generation = F.coalesce("in_force.base_gen", zero)
    is_disputed = F.coalesce(own != F.col("rival.least"), F.lit(False))
    next_epoch = (F.col("epoch") + 1).cast("decimal(20,0)")
    return found.select(
        *CHANNEL, F.col("epoch").alias("chan_epoch"), generation.alias("last_checkpoint_gen"),
        generation.alias("current_gen"), window.alias("skip_window"), source.alias("skip_window_source"),
        F.when(bump.isNotNull(), next_epoch).alias("pending_new_epoch"), bump.alias("pending_bump_id"),
        F.when(bump.isNotNull(), reason).alias("pending_reason"),
        F.col("in_force.body_id").alias("checkpoint_body"), F.col("in_force.ck_commitment").alias("ck_commitment"),
        is_disputed.alias("checkpoint_conflict"), F.col("is_forked").alias("commit_conflict"), "dormant_commits",
        "unproven_commits",
    )  # fmt: skip


def channel_hashes(found: DataFrame) -> DataFrame:
    """Return hashes of canonical rows.  Reads: `channel_epochs`.  Gives: namespace, row_hash.  Rows: one per row."""
    reason = F.when(F.col("pending_reason") == REASONS[0], F.lit(b"\x00")).when(
        F.col("pending_reason") == REASONS[1], F.lit(b"\x01")
    )
    pending = F.concat(
        F.lit(b"\x01"), u64(F.col("chan_epoch")), u64(F.col("pending_new_epoch")), F.col("pending_bump_id"),
        reason.otherwise(F.lit(b"\x02")),
    )  # fmt: skip
    row = F.concat(
        F.lit(b"\x06"), F.col("channel"), u64(F.col("chan_epoch")), u64(F.col("last_checkpoint_gen")),
        u64(F.col("current_gen")), u32(F.col("skip_window")), F.coalesce(pending, F.lit(b"\x00")),
    )  # fmt: skip
    return found.select("namespace", row_hash(row).alias("row_hash"))
