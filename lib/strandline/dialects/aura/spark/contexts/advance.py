"""Budgets of contexts with many facts: the stored ones, and what new charges and limits add to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce as fold
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.aura.reduce.contexts import REDUCER
from strandline.dialects.aura.spark.contexts import flows, views
from strandline.dialects.aura.spark.contexts.bodies import BODY
from strandline.dialects.aura.spark.contexts.encoding import state_hashes
from strandline.dialects.aura.spark.contexts.groups import Contexts
from strandline.dialects.aura.spark.contexts.retained import RetainedFacts
from strandline.dialects.aura.spark.long import may_have_long
from strandline.dialects.aura.spark.tables import FLOWS, HOME, STATES
from strandline.frames.known import KEY

MANY_FACTS: Final = 20_000
"""Stored facts from which the budgets of a context are advanced: fewer are added up anew in less time."""

FEW_NEWS: Final = 100_000
"""New facts up to which their ids are sent to every task; with more, all charges are added up anew."""

_BODY_KEY: Final = ("namespace", "body_id")


@dataclass(frozen=True, slots=True)
class Advanced:
    """The budgets of some contexts, all of theirs.  `contexts`: HOME; `budgets`: the columns of `flow_budget`."""

    contexts: DataFrame
    budgets: DataFrame


def advanced(contexts: Contexts, changes: DataFrame, tables: Tables, jobs: Jobs) -> Advanced | None:
    """Advance the budgets of contexts with many facts by their news; None if there are no such contexts.

    A context is left out if its stored rows do not have the stored hash, or if its stored facts and the news are not
    exactly its facts now: then another reduction is at work, or something was damaged or restored.
    Reads:  changes: the new rows of `aura_fact`.
    """
    if not may_have_long(tables, REDUCER, MANY_FACTS):
        return None
    is_long = (F.col("reducer_version") == REDUCER) & (F.col("record_count") >= MANY_FACTS)
    stored = tables.read(STATES).where(is_long).select(*HOME, "record_count", "state_hash")
    # All facts of the lake leave room for few contexts as long as that.
    long = F.broadcast(
        jobs.checkpoint(stored.join(contexts.of("flows"), list(HOME), "left_semi"), "long contexts")
    )
    # Each is of one version: the rows that are compared with the hash are those that news are added to.
    theirs = {table: tables.read(table).join(long, list(HOME), "left_semi") for table in views.HASHED}
    news = changes.join(long, list(HOME), "left_semi")
    retained = contexts.retained.of(long.select(*HOME))
    whole = jobs.checkpoint(_whole(long, theirs, retained, news), "whole contexts")
    size = jobs.row(whole.agg(F.coalesce(F.sum("added"), F.lit(0)).alias("news")))
    if not 0 < size["news"] <= FEW_NEWS:
        return None
    named = F.broadcast(whole.select(*HOME))
    counted = RetainedFacts(news.join(named, list(HOME), "left_semi"), retained.pruned).facts
    rows = counted.select(*BODY, "record_id", *flows.READ)
    charges = _new_charges(rows, retained.stored.join(named, list(HOME), "left_semi"), jobs)
    before = theirs[FLOWS].join(named, list(HOME), "left_semi")
    parts = flows.sums(charges).unionByName(flows.as_sums(before))
    limits = flows.limits(rows).unionByName(before.where("`limit` IS NOT NULL").select(*flows.LIMIT))
    return Advanced(whole.select(*HOME), jobs.checkpoint(flows.budgets(parts, limits), FLOWS))


def _whole(
    long: DataFrame, theirs: Mapping[str, DataFrame], retained: RetainedFacts, news: DataFrame
) -> DataFrame:  # fmt: skip
    """Keep the contexts whose rows have their hash, and whose facts are those of their state and the news.

    Reads:  long: HOME, record_count, state_hash, as stored; theirs: stored rows by table; news: HOME of new facts.
    Gives:  HOME, added (the number of news).
    """
    hashes = fold(DataFrame.unionByName, views.row_hashes(theirs))
    made = state_hashes(long.select(*HOME), hashes).withColumnRenamed("state_hash", "made")
    added = news.groupBy(*HOME).agg(F.count(F.lit(1)).alias("added"))
    now = retained.counted().withColumnRenamed("record_count", "now")
    found = long.join(made, list(HOME)).join(added, list(HOME)).join(now, list(HOME))
    return found.where("made = state_hash AND record_count + added = now").select(*HOME, "added")


def _new_charges(news: DataFrame, stored: DataFrame, jobs: Jobs) -> DataFrame:
    """Return the new charges that count, without those of which another copy counted before.

    Reads:  news: BODY, record_id, flows.READ; stored: all facts of these contexts, rows of `aura_fact`.
    Gives:  what `flows.sums` reads.
    """
    found = jobs.checkpoint(flows.charges(news), "new charges")
    bodies = F.broadcast(found.select(*_BODY_KEY).distinct())
    ids = F.broadcast(news.select(*KEY))
    copies = stored.where(F.col("variant") == flows.CHARGE).select(*BODY, "record_id")
    copies = copies.join(bodies, list(_BODY_KEY), "left_semi").join(ids, list(KEY), "left_anti")
    copies = jobs.checkpoint(copies, "copies of charges")
    # The contents of all charges are read for a copy alone.
    if not jobs.has_rows(copies):
        return found
    contents = stored.join(F.broadcast(copies.select(*KEY)), list(KEY), "left_semi")
    counted = flows.charges(contents.select(*BODY, *flows.READ)).select(*_BODY_KEY)
    return found.join(counted, list(_BODY_KEY), "left_anti")
