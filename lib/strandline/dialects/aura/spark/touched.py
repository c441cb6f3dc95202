"""The namespaces that a run reduces: with new facts or refused before, or all; counted once for both kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialects.aura.spark import snapshots
from strandline.dialects.aura.spark.contexts.bodies import GRANTS
from strandline.dialects.aura.spark.namespaces import KINDS, is_of
from strandline.dialects.aura.spark.tables import FACTS, HOME, REDUCED
from strandline.dialects.aura.types import NamespaceKind
from strandline.frames.buckets import in_buckets
from strandline.frames.listed import is_listed

Group = Literal["grants", "flows", "refinements"]
GROUPS: Final[Mapping[Group, tuple[str, ...]]] = {
    "grants": GRANTS, "flows": ("FlowCharge", "FlowLimit"), "refinements": ("Capability",)
}  # fmt: skip
"""Facts of contexts whose rows do not depend on facts of another group."""

FEW_NAMESPACES: Final = 10_000
"""So many names are less than a megabyte."""


@dataclass(frozen=True, slots=True)
class Touched:
    """The namespaces that a run reduces.

    `named`: HOME, and for each of GROUPS whether the namespace has such facts among those that were looked at; one row
    each. `buckets`: theirs, by kind, ascending. `contexts`: the number of contexts; `groups`: of those with facts of a
    group, for each that one has. `changes`: the new facts; None if all namespaces of the lake are reduced. `is_few`:
    the names of all may be sent to every task. `has_snapshots`: whether a Snapshot is among the facts that were looked
    at, or was judged before. `facts`: the number of these.
    """

    named: DataFrame
    buckets: Mapping[NamespaceKind, tuple[int, ...]]
    contexts: int
    groups: Mapping[Group, int]
    changes: DataFrame | None
    is_few: bool
    has_snapshots: bool
    facts: int

    @property
    def is_full(self) -> bool:
        """Whether these are all namespaces of the lake."""
        return self.changes is None

    def of(self, kind: NamespaceKind) -> DataFrame:
        """Keep the namespaces of a kind."""
        return self.named.where(is_of(kind))


def touched(changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Touched:
    """Return the namespaces of `changes` (rows of the change feed) and those to retry, or all if it is None.

    After a killed run all are reduced, since rows may be newer than their state.
    """
    new_facts = None if changes is None or tables.begin_repair(REDUCED) else changes
    facts = _looked_at(new_facts, tables, scope)
    has = (F.max(F.col("variant").isin(*variants)).alias(group) for group, variants in GROUPS.items())
    has_snapshots = F.max(F.col("kind") == "Snapshot").alias("has_snapshots")
    number = F.count(F.lit(1)).alias("facts")
    named = jobs.checkpoint(facts.groupBy(*HOME).agg(*has, has_snapshots, number), "namespaces")
    buckets = (
        F.sort_array(F.collect_set(F.when(is_of(kind), F.col("bucket")))).alias(kind) for kind in KINDS
    )
    count = F.count(F.lit(1)).alias("namespaces")
    each = (F.count_if(name).alias(name) for name in (*GROUPS, "has_snapshots"))
    contexts = F.count_if(is_of("context")).alias("contexts")
    together = F.coalesce(F.sum("facts"), F.lit(0)).alias("facts")
    found = jobs.row(named.agg(count, *buckets, *each, contexts, together))
    groups = {group: found[group] for group in GROUPS if found[group]}
    all_buckets = {kind: tuple(found[kind]) for kind in KINDS}
    return Touched(
        named.drop("has_snapshots", "facts"), all_buckets, found["contexts"], groups, new_facts,
        is_few=found["namespaces"] <= FEW_NAMESPACES,
        has_snapshots=bool(found["has_snapshots"]) or snapshots.are_stored(tables, jobs),
        facts=found["facts"],
    )  # fmt: skip


def _looked_at(new_facts: DataFrame | None, tables: Tables, scope: ReduceScope) -> DataFrame:
    """Return the new facts and all of the namespaces to retry; all of the lake if `new_facts` is None."""
    if new_facts is not None and not scope.retry_namespaces:
        return new_facts
    every = tables.read_version(FACTS, scope.version)
    if new_facts is None:
        return every
    columns = (*HOME, "kind", "variant")
    retried = every.where(is_listed("namespace", scope.retry_namespaces))
    return new_facts.select(*columns).unionByName(retried.select(*columns))


def facts_of(
    named: DataFrame | None, buckets: tuple[int, ...], kind: NamespaceKind, tables: Tables, version: int
) -> DataFrame:
    """Return the accepted facts of the namespaces in `named`, or of all of a kind in these buckets if it is None.

    Reads:  HOME, in these buckets.  Gives: the columns of `aura_fact`.  Rows: one per fact.
    """
    facts = tables.read_version(FACTS, version).where(is_of(kind) & in_buckets(buckets))
    if named is None:
        return facts
    return facts.join(named.select(*HOME), list(HOME), "left_semi")
