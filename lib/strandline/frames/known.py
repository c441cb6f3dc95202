"""The verdicts of earlier runs on blocks, so that no block is verified twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.frames.blocks import is_block
from strandline.frames.verdicts import is_waiting
from strandline.kernels.blocks import RECORD
from strandline.kernels.guard import FAULTS

KEY = ("namespace", "record_id")

ALWAYS_OPEN = ("DEFERRED_LIMIT", *FAULTS)
"""Reasons that do not depend on the block alone: the next verdict may differ."""


def pruned_records(pruned: DataFrame, kinds: Sequence[str], form: str = "remove") -> DataFrame:
    """Keep the pruned records of namespaces of these kinds: removed ones, or those of which a part was erased.

    Reads:  rows of `pruned_record`.  Gives: its columns.
    """
    return pruned.where(is_of_kind(kinds) & (F.col("form") == form))


def is_of_kind(kinds: Iterable[str]) -> Column:
    """Return whether the column `namespace` is of one of these kinds; false for no kinds."""
    return reduce(or_, (F.col("namespace").startswith(f"{kind}:") for kind in kinds), F.lit(False))


def may_be_known(claims: Sequence[str], stored_claims: Mapping[str, Column]) -> Column:
    """Return whether a document is a block on which an earlier run may have a verdict.

    It has no claim but those of `stored_claims`, which rows of `quarantine` contain.
    """
    found = is_block()
    for claim in claims:
        found = found if claim in stored_claims else found & F.col(claim).isNull()
    return found


def blocks_to_find(
    documents: DataFrame, claims: Sequence[str], stored_claims: Mapping[str, Column]
) -> DataFrame:
    """Return the blocks to find: an earlier run may have a verdict on them.

    Reads:  documents, bucket, signature (what the record id does not cover, or null); claims as in `may_be_known`.
    Gives:  judge_id, record_id, namespace, bucket, signature, the claims of `stored_claims`.
    Rows:   one per block that `may_be_known`.
    """
    found = documents.where(may_be_known(claims, stored_claims))
    firsts = (
        F.first(name).alias(name)
        for name in ("record_id", "namespace", "bucket", "signature", *stored_claims)
    )
    return found.groupBy("judge_id").agg(*firsts)


def stored(to_find: DataFrame, records: DataFrame, claims: Sequence[str]) -> DataFrame:
    """Keep the blocks that are stored records, if no file made claims about them.

    Reads:  columns of `blocks_to_find`; records: namespace, record_id, signature.
    Gives:  VERDICT.
    Rows:   one per stored block. A record without a signature is every copy of it: pruned ones, and those whose id
            covers all.
    """
    for claim in claims:
        to_find = to_find.where(F.col(claim).isNull())
    same = [F.col(f"a.{name}") == F.col(f"s.{name}") for name in KEY]
    is_copy = F.col("s.signature").isNull() | F.col("s.signature").eqNullSafe(F.col("a.signature"))
    found = to_find.alias("a").join(records.alias("s"), [*same, is_copy], "left_semi")
    nothing = F.array().cast("array<string>")
    return found.select(
        "judge_id", "record_id", "namespace", F.lit(RECORD).alias("kind"),
        F.lit("accepted").alias("outcome"), nothing.alias("reasons"), F.lit(None).cast("string").alias("evidence"),
        nothing.alias("waits_for"),
    )  # fmt: skip


def rows_with_verdict(
    quarantine: DataFrame, *, dialect: str, open_reasons: Sequence[str], rules_version: int, rejected: bool
) -> DataFrame:
    """Keep the rows of `quarantine` with a verdict on a block that is still valid.

    Reads:  the columns of `quarantine`.
    Gives:  those columns.
    Rows:   waiting blocks, and with `rejected` those that the current rules reject permanently.
    """
    rows = quarantine.where(
        (F.col("dialect") == dialect) & F.col("record_id").isNotNull() & F.col("raw_whole")
    )
    not_final = F.array(*map(F.lit, (*ALWAYS_OPEN, *open_reasons)))
    is_verdict = (
        (F.col("status") == "rejected")
        & (F.col("rules_version") == rules_version)
        & ~F.arrays_overlap("reasons", not_final)
    )
    return rows.where(is_waiting() | is_verdict if rejected else is_waiting())


def remembered(
    to_find: DataFrame, rows: DataFrame, stored_claims: Mapping[str, Column], judge_id: Column
) -> DataFrame:
    """Return the verdicts of `quarantine` on these blocks.

    Reads:  columns of `blocks_to_find`; columns of `rows_with_verdict`, from which `stored_claims` reads claims and
            `judge_id` the key of the verdict, unless there were claims.
    Gives:  VERDICT.
    Rows:   one per block that has a row with the same claims.
    """
    rows = rows.withColumns({f"stored_{name}": claim for name, claim in stored_claims.items()})
    rows = rows.withColumn("copy", judge_id)
    named = to_find.select("judge_id", "record_id", *stored_claims)
    same = F.col("a.record_id") == F.col("r.record_id")
    if not stored_claims:
        same = same & (F.col("a.judge_id") == F.col("r.copy"))
    for name in stored_claims:
        same = same & F.col(f"a.{name}").eqNullSafe(F.col(f"r.stored_{name}"))
    found = named.alias("a").join(rows.alias("r"), same).dropDuplicates(["judge_id"])
    return found.select(
        "judge_id", F.col("a.record_id").alias("record_id"), "namespace", F.lit(RECORD).alias("kind"),
        F.col("status").alias("outcome"), "reasons", "evidence", "waits_for",
    )  # fmt: skip
