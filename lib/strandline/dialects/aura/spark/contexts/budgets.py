"""One flow budget of a context as it is at a version of the lake, from facts: reduced tables may lag."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.quoting import in_list
from strandline.dialect_api.ports import Jobs
from strandline.dialects.aura.reduce.contexts import Cap, Flow, FlowKey
from strandline.dialects.aura.spark.contexts.bodies import context_members, is_attested_by, parsed
from strandline.dialects.aura.spark.contexts.capabilities import capabilities
from strandline.dialects.aura.spark.contexts.flows import flow_budgets
from strandline.dialects.aura.spark.contexts.retained import RetainedFacts


def flow_of(retained: RetainedFacts, key: FlowKey, jobs: Jobs) -> Flow:
    """Return a budget of the context of these facts with what was pruned, nothing spent if there is none."""
    of_key = (
        (F.col("src") == _uuid(key.src)) & (F.col("dst") == _uuid(key.dst)) & (F.col("epoch") == key.epoch)
    )
    rows = jobs.few(flow_budgets(retained.facts, retained.carried(jobs)).where(of_key), 1)
    if not rows:
        return Flow(key)
    [row] = rows
    tip = None if row["tip"] is None else (int(row["tip_nonce"]), bytes(row["tip"]))
    limit = None if row["limit"] is None else int(row["limit"])
    return Flow(key, int(row["spent"]), row["charges"], tip, limit)


def cap_of_member(facts: DataFrame, subject: bytes, jobs: Jobs) -> Cap | None:
    """Return what a member of the context of these facts may do, or None if no refinement counts."""
    found = capabilities(facts, context_members(facts)).where(F.col("subject") == _uuid(subject))
    rows = jobs.few(found, 1)
    if not rows:
        return None
    [row] = rows
    least, greatest = (None if row[name] is None else int(row[name]) for name in ("epoch_min", "epoch_max"))
    limits = {name: int(limit) for name, limit in row["limits"].items()}
    return Cap(None if row["actions"] is None else frozenset(row["actions"]), limits, least, greatest)


def has_request(facts: DataFrame, src: bytes, token: bytes, jobs: Jobs) -> bool:
    """Return whether a charge of this sender counts whose time is the token of a request."""
    rows = facts.where(
        (F.col("timestamp_kind") == "OrderClock") & F.col("timestamp_json").contains(token.hex())
    )
    charges = parsed(rows.select("variant", "content_json", "attest"), "FlowCharge")
    return jobs.has_rows(charges.where((F.col("src") == _uuid(src)) & is_attested_by("src")))


def taken_orders(facts: DataFrame, orders: Sequence[bytes], jobs: Jobs) -> set[bytes]:
    """Return which of these order tokens facts have, by one query."""
    found = facts.where(in_list("order_token", orders)).select("order_token")
    if len(orders) == 1:
        return {*orders} if jobs.has_rows(found) else set()
    rows = jobs.few(found.distinct(), len(orders))
    return {bytes(row["order_token"]) for row in rows or ()}


def _uuid(raw: bytes) -> Column:
    return F.lit(str(UUID(bytes=raw)))
