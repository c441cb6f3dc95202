"""The inputs of contexts from authorities: the states on their chains, and their tips."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.aura.reduce.contexts import REDUCER
from strandline.dialects.aura.spark.contexts.bodies import context_members
from strandline.dialects.aura.spark.namespaces import authority_namespace, authority_uuid, of_members
from strandline.dialects.aura.spark.reduction import Authorities
from strandline.dialects.aura.spark.retained_operations import PrunedOperations
from strandline.dialects.aura.spark.tables import AUTHORITIES, FACTS, HOME, OPERATIONS, STATE
from strandline.frames.listed import is_listed


@dataclass(frozen=True, slots=True)
class Dependents:
    """The stored contexts with a member that this run reduced.

    `contexts`: HOME, is_invalidated (it depends on a state which is not on its authority's chain any more, or on an
    authority that was refused: states that are on its chain now were not when it was reduced); one row each.
    `invalidated_buckets`: those of invalidated contexts.
    """

    contexts: DataFrame
    invalidated_buckets: tuple[int, ...]

    def invalidated(self) -> DataFrame:
        """Return the contexts that must be reduced again.  Gives: HOME.  Rows: one per context."""
        return self.contexts.where("is_invalidated").select(*HOME)


class Members:
    """Authorities after this run: those that it reduced, and the others as stored."""

    def __init__(
        self,
        authorities: Authorities | None,
        tables: Tables,
        jobs: Jobs,
        *,
        is_full: bool,
        pruned: PrunedOperations | None,
    ) -> None:
        self._authorities = tables.read(AUTHORITIES).select("namespace", "commitment").limit(0)
        self._operations = tables.read(OPERATIONS).limit(0)
        if authorities is not None:
            made = authorities.rows.tables
            self._authorities = made[AUTHORITIES].select("namespace", "commitment")
            self._operations = made[OPERATIONS]
            if authorities.onward is not None:
                before = tables.read(OPERATIONS).join(authorities.onward, "namespace", "left_semi")
                self._operations = self._operations.unionByName(before, allowMissingColumns=True)
        self._has_reduced_authorities = authorities is not None
        self._tables = tables
        self._jobs = jobs
        self._is_full = is_full
        self.pruned = pruned

    def chains(self) -> DataFrame:
        """Return the states on the chains.  Gives: authority (uuid), commitment.  Rows: one per state."""
        applied = _applied(self._operations)
        if not self._is_full:
            applied = applied.unionByName(self._others(_applied(self._tables.read(OPERATIONS))))
        return self._states_of(applied)

    def tips(self) -> DataFrame:
        """Return the tips of known authorities.  Gives: namespace, commitment.  Rows: one per authority."""
        stored = self._tables.read(AUTHORITIES).select("namespace", "commitment")
        return self._authorities if self._is_full else self._authorities.unionByName(self._others(stored))

    def _states_of(self, applied: DataFrame) -> DataFrame:
        """Return the states that applied or pruned operations made."""
        made = applied.select("namespace", F.col("new_commitment").alias("commitment"))
        if self.pruned is not None:
            made = made.unionByName(self.pruned.paths(applied))
        return made.select(authority_uuid(), "commitment")

    def _others(self, rows: DataFrame) -> DataFrame:
        return rows.join(self._authorities.select("namespace"), "namespace", "left_anti")

    def dependents(self, retried: tuple[str, ...]) -> Dependents | None:
        """Return the stored contexts with a member that this run reduced; None without any.

        `retried`: the namespaces that an earlier run refused.
        """
        if not self._has_reduced_authorities or not self._jobs.has_rows(self._states()):
            return None
        moved = self._authorities.select(F.col("namespace").alias("member"))
        held = self._states_of(_applied(self._operations)).select(
            authority_namespace().alias("member"),
            "commitment",
            F.lit(True).alias("is_held"),
        )
        used = self._used().join(moved, "member", "left_semi").join(held, ["member", "commitment"], "left")
        is_invalidated = F.col("is_held").isNull() | is_listed("member", retried)
        named = used.select(*HOME, is_invalidated.alias("is_invalidated"))
        known = self._tables.read(AUTHORITIES).select("namespace")
        new = self._jobs.checkpoint(
            self._authorities.join(known, "namespace", "left_anti"), "new authorities"
        )
        if self._jobs.has_rows(new):
            named = named.unionByName(self._with_new(new, retried))
        grouped = named.groupBy(*HOME).agg(F.max("is_invalidated").alias("is_invalidated"))
        contexts = self._jobs.checkpoint(grouped, "dependents")
        found = self._jobs.row(
            contexts.agg(
                F.count(F.lit(1)).alias("rows"),
                F.sort_array(F.collect_set(F.when(F.col("is_invalidated"), F.col("bucket")))).alias(
                    "buckets"
                ),
            )
        )
        return Dependents(contexts, tuple(found["buckets"])) if found["rows"] else None

    def refreshed(self, dependents: Dependents, reduced: DataFrame) -> DataFrame:
        """Return the stored states of contexts whose members have other tips now; only these change.

        Reads:  reduced: the contexts that this run reduces, which are left out.
        Gives:  STATE, depends_on.  Rows: one per context.
        """
        named = dependents.contexts.join(reduced, list(HOME), "left_anti").select("namespace")
        contexts = self._states().join(named, "namespace", "left_semi")
        geneses = self._geneses().join(named, "namespace", "left_semi")
        tips = of_members(context_members(geneses), self.tips(), "depends_on")
        return contexts.select(*STATE).join(tips, "namespace")

    def _with_new(self, new: DataFrame, retried: tuple[str, ...]) -> DataFrame:
        """Return the contexts with a member whose journal came with this run, or that had no row when it was refused.

        Gives:  HOME, is_invalidated.  Rows: one per such member.
        """
        each = context_members(self._geneses()).select(*HOME, F.explode("members").alias("authority"))
        found = new.select(authority_uuid(), is_listed("namespace", retried).alias("is_invalidated"))
        return each.join(found, "authority").select(*HOME, "is_invalidated")

    def _geneses(self) -> DataFrame:
        return self._tables.read(FACTS).where(F.col("variant") == "ContextGenesis")

    def _states(self) -> DataFrame:
        return self._tables.read(STATES).where(F.col("reducer_version") == REDUCER)

    def _used(self) -> DataFrame:
        """Return the tips that stored states name.  Gives: namespace, bucket, member, commitment."""
        each = self._states().select(*HOME, F.explode("depends_on").alias("used"))
        return each.select(
            *HOME, F.col("used.namespace").alias("member"), F.col("used.commitment").alias("commitment")
        )


def _applied(operations: DataFrame) -> DataFrame:
    return operations.where("outcome = 'applied'").select("namespace", "parent_commitment", "new_commitment")
