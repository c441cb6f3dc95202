"""Budgets of contexts with many facts: the stored ones plus new charges and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.aura.reduce.contexts import REDUCER
from strandline.dialects.aura.reduce.contexts.skeletons import CHARGE
from strandline.dialects.aura.spark.contexts import flows, views
from strandline.dialects.aura.spark.contexts.bodies import BODY
from strandline.dialects.aura.spark.contexts.encoding import state_hashes
from strandline.dialects.aura.spark.contexts.groups import Contexts
from strandline.dialects.aura.spark.contexts.retained import RetainedFacts
from strandline.dialects.aura.spark.long_namespaces import may_have_long
from strandline.dialects.aura.spark.tables import BODY_KEY, FLOWS, HOME
from strandline.dialects.aura.spark.touched import Touched
from strandline.frames.known import KEY

MANY_FACTS: Final = 20_000
"""Stored facts from which the budgets of a context are advanced: fewer are added up anew in less time."""

FEW_NEW_FACTS: Final = 100_000
"""New facts up to which their ids are sent to every task; with more, all charges are added up anew."""

_HAS_NEW_BODY: Final = "has_new_body"


@dataclass(frozen=True, slots=True)
class Advanced:
    """All budgets of some contexts.

    `contexts`: HOME, `number` rows; `budgets`: the columns of `flow_budget`; `counts`: HOME and record_count of all
    contexts that the run reduces.
    """

    contexts: DataFrame
    number: int
    budgets: DataFrame
    counts: DataFrame


def advanced(contexts: Contexts, touched: Touched, tables: Tables, jobs: Jobs) -> Advanced | None:
    """Advance the budgets of contexts with many facts by their new facts; None if the lake has no such context.

    A context is left out if its stored rows do not have the stored hash, or if its stored and its new facts are not
    exactly its facts now: then another reduction is running, or a table was damaged or restored.
    """
    if touched.changes is None or not may_have_long(tables, REDUCER, MANY_FACTS):
        return None
    is_long = (F.col("reducer_version") == REDUCER) & (F.col("record_count") >= MANY_FACTS)
    stored = tables.read(STATES).where(is_long).select(*HOME, "record_count", "state_hash")
    # The number of facts of the lake bounds the number of such contexts.
    long = F.broadcast(
        jobs.checkpoint(stored.join(contexts.of("flows"), list(HOME), "left_semi"), "long contexts")
    )
    theirs = touched.changes.join(long, list(HOME), "left_semi").select(*BODY, "record_id", *flows.READ)
    new_facts = jobs.checkpoint(theirs, "new facts of long contexts")
    if (
        touched.facts > FEW_NEW_FACTS
        and jobs.row(new_facts.agg(F.count(F.lit(1)).alias("facts")))["facts"] > FEW_NEW_FACTS
    ):
        return None
    counted = RetainedFacts(new_facts, contexts.retained.pruned).facts
    charges = jobs.checkpoint(flows.sums(flows.charges(counted)), "new charges")
    marked = replace(contexts.retained, stored=_marked(contexts.retained.stored, charges))
    counts = jobs.checkpoint(marked.counted(_HAS_NEW_BODY), "facts of contexts")
    # Both reads are of one version: the rows compared with the hash are the rows that new facts are added to.
    rows = {
        table: each.join(long, list(HOME), "left_semi") for table, each in views.stored_rows(tables).items()
    }
    added = _marked(new_facts, charges).groupBy(*HOME).agg(
        F.count(F.lit(1)).alias("added"), F.count_if(_HAS_NEW_BODY).alias("added_bodies")
    )  # fmt: skip
    judged = jobs.checkpoint(_judged(long, rows, counts, added), "whole contexts")
    size = jobs.row(
        judged.agg(
            F.count(F.lit(1)).alias("long"), F.count_if("is_whole").alias("whole"),
            F.sum(F.when(F.col("is_whole"), F.col("copies"))).alias("copies"),
        )
    )  # fmt: skip
    whole = F.broadcast(judged.where("is_whole").select(*HOME))

    def of_whole(theirs: DataFrame) -> DataFrame:
        is_all = size["long"] == size["whole"]
        return theirs if is_all else theirs.join(whole, list(HOME), "left_semi")

    # The contents of all charges are read only if there is a copy.
    if size["copies"]:
        stored = marked.stored.join(whole, list(HOME), "left_semi")
        older = stored.join(F.broadcast(new_facts.select(*KEY)), list(KEY), "left_anti")
        charges = _without_copies(charges, older)
    before, new, limits = map(of_whole, (rows[FLOWS], charges, flows.limits(counted)))
    parts = new.unionByName(flows.as_sums(before))
    limits = limits.unionByName(before.where("`limit` IS NOT NULL").select(*flows.LIMIT))
    budgets = jobs.checkpoint(flows.budgets(parts, limits), FLOWS)
    return Advanced(whole, size["whole"], budgets, counts.drop(_HAS_NEW_BODY))


def _marked(facts: DataFrame, charges: DataFrame) -> DataFrame:
    """Mark charges of a body of the new charges.

    Reads:  facts: BODY, variant; charges: namespace, body_id, one row per body.
    Gives:  the columns of `facts`, has_new_body.  Rows: one per row of `facts`.
    """
    bodies = charges.select(*BODY_KEY, F.lit(True).alias("came"))
    is_charge = F.col("variant").eqNullSafe(CHARGE)
    marked = facts.join(F.broadcast(bodies), list(BODY_KEY), "left")
    return marked.withColumn(_HAS_NEW_BODY, F.col("came").isNotNull() & is_charge).drop("came")


def _judged(long: DataFrame, rows: Mapping[str, DataFrame], counts: DataFrame, added: DataFrame) -> DataFrame:
    """Say which contexts have rows that have their hash, and facts that are those of their state and the new ones.

    Reads:  long: HOME, record_count, state_hash, as stored; rows: stored rows by table; counts: HOME, record_count and
            has_new_body of the facts now; added: HOME, added and added_bodies, the same of the new facts.
    Gives:  HOME, is_whole, copies (the number of older facts with a body of a new charge).  Rows: one per context.
    """
    made = state_hashes(long.select(*HOME), views.hashes(rows)).withColumnRenamed("state_hash", "made")
    before = long.withColumnRenamed("record_count", "before")
    found = before.join(made, list(HOME)).join(added, list(HOME)).join(counts, list(HOME))
    return found.select(
        *HOME, F.expr("made = state_hash AND before + added = record_count").alias("is_whole"),
        (F.col(_HAS_NEW_BODY) - F.col("added_bodies")).alias("copies"),
    )  # fmt: skip


def _without_copies(charges: DataFrame, stored: DataFrame) -> DataFrame:
    """Leave out the new charges of which another copy counted before.

    Reads:  charges: `flows.sums`; stored: `_marked` older facts of these contexts.
    """
    copies = stored.where(_HAS_NEW_BODY).select(*BODY, *flows.READ)
    counted = flows.charges(copies).select(*BODY_KEY)
    return charges.join(counted, list(BODY_KEY), "left_anti")
