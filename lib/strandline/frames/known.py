"""What earlier runs know of a block, so that nothing is verified twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.frames.blocks import is_block
from strandline.frames.verdicts import is_waiting
from strandline.kernels.guard import FAULTS

KEY = ("namespace", "record_id")

ALWAYS_OPEN = ("DEFERRED_LIMIT", *FAULTS)
"""Reasons of something beside the block: the next time there may be others."""


def pruned_records(pruned: DataFrame, kinds: Sequence[str]) -> DataFrame:
    """Keep the pruned records of namespaces of these kinds.  Reads: rows of `pruned_record`.  Gives: its columns."""
    of_kinds = [F.col("namespace").startswith(f"{kind}:") for kind in kinds]
    is_ours = of_kinds[0]
    for each in of_kinds[1:]:
        is_ours = is_ours | each
    return pruned.where(is_ours & (F.col("form") == "remove"))


def asked_for(documents: DataFrame, claims: Sequence[str], told: Mapping[str, Column]) -> DataFrame:
    """Name the blocks whose verdict an earlier run may have found.

    Reads:  what a dialect reads, bucket; `told` are the claims that rows of `quarantine` tell.
    Gives:  judge_id, record_id, namespace, bucket, the claims of `told`.
    Rows:   one per block; none for one with a claim that no row tells.
    """
    found = documents.where(is_block())
    for claim in claims:
        found = found if claim in told else found.where(F.col(claim).isNull())
    firsts = (F.first(name).alias(name) for name in ("record_id", "namespace", "bucket", *told))
    return found.groupBy("judge_id").agg(*firsts)


def held(asked: DataFrame, records: DataFrame, claims: Sequence[str]) -> DataFrame:
    """Keep the blocks that are records of the table, and came with no claim that is not their own.

    Reads:  what `asked_for` gives; records: namespace, record_id.  Gives: VERDICT.  Rows: one per block that is held.
    """
    known = records.select("namespace", F.col("record_id").alias("judge_id"))
    for claim in claims:
        asked = asked.where(F.col(claim).isNull())
    found = asked.join(known, ["namespace", "judge_id"], "left_semi")
    nothing = F.array().cast("array<string>")
    return found.select(
        "judge_id", F.col("judge_id").alias("record_id"), "namespace", F.lit("record").alias("kind"),
        F.lit("accepted").alias("outcome"), nothing.alias("reasons"), F.lit(None).cast("string").alias("evidence"),
        nothing.alias("waits_for"),
    )  # fmt: skip


def rows_with_verdict(
    quarantine: DataFrame, *, dialect: str, open_reasons: Sequence[str], rules_version: int, rejected: bool
) -> DataFrame:
    """Keep the rows of `quarantine` that tell a verdict on a block.

    Reads:  the columns of `quarantine`.
    Gives:  those columns.
    Rows:   those of blocks that wait, and if `rejected` those that the rules of today reject for good.
    """
    rows = quarantine.where(
        (F.col("dialect") == dialect) & F.col("record_id").isNotNull() & F.col("raw_whole")
    )
    not_for_good = F.array(*map(F.lit, (*ALWAYS_OPEN, *open_reasons)))
    is_verdict = (
        (F.col("status") == "rejected")
        & (F.col("rules_version") == rules_version)
        & ~F.arrays_overlap("reasons", not_for_good)
    )
    return rows.where(is_waiting() | is_verdict if rejected else is_waiting())


def remembered(asked: DataFrame, rows: DataFrame, told: Mapping[str, Column]) -> DataFrame:
    """Give the verdicts of rows of `quarantine` on the blocks that are asked for.

    Reads:  what `asked_for` gives; what `rows_with_verdict` gives, from which `told` reads claims.
    Gives:  VERDICT.
    Rows:   one per block, with its claims, that has such a row.
    """
    rows = rows.withColumns({f"told_{name}": claim for name, claim in told.items()})
    named = asked.select("judge_id", "record_id", *told)
    same = F.col("a.record_id") == F.col("r.record_id")
    for name in told:
        same = same & F.col(f"a.{name}").eqNullSafe(F.col(f"r.told_{name}"))
    found = named.alias("a").join(rows.alias("r"), same).dropDuplicates(["judge_id"])
    return found.select(
        "judge_id", F.col("a.record_id").alias("record_id"), "namespace", F.lit("record").alias("kind"),
        F.col("status").alias("outcome"), "reasons", "evidence", "waits_for",
    )  # fmt: skip
