"""What contexts take from authorities: the states on their chains, and their tips."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import Reduction
from strandline.dialects.aura.reduce.contexts import REDUCER
from strandline.dialects.aura.spark.contexts.bodies import context_members
from strandline.dialects.aura.spark.tables import AUTHORITIES, FACTS, OPERATIONS, STATES

_ID_AT: Final = len("authority:") + 1
_HOME: Final = ("namespace", "bucket")
_STATE: Final = (*_HOME, "record_count", "state_hash", "reducer_version")


class Members:
    """Authorities as this run leaves them: those that it reduced, and all others as they are stored."""

    def __init__(self, authorities: Reduction, tables: Tables, jobs: Jobs, *, is_full: bool) -> None:
        self._authorities = authorities.tables[AUTHORITIES].select("namespace", "commitment")
        self._operations = authorities.tables[OPERATIONS]
        self._tables = tables
        self._jobs = jobs
        self._is_full = is_full

    def chains(self) -> DataFrame:
        """Return the states on the chains.  Gives: authority (uuid), commitment.  Rows: one per state."""
        new = _chain(self._operations)
        return new if self._is_full else new.unionByName(_chain(self._others(self._tables.read(OPERATIONS))))

    def tips(self) -> DataFrame:
        """Return the tips of known authorities.  Gives: namespace, commitment.  Rows: one per authority."""
        stored = self._tables.read(AUTHORITIES).select("namespace", "commitment")
        return self._authorities if self._is_full else self._authorities.unionByName(self._others(stored))

    def _others(self, rows: DataFrame) -> DataFrame:
        return rows.join(self._authorities.select("namespace"), "namespace", "left_anti")

    def bereft(self) -> DataFrame:
        """Return the contexts that depend on a state which is not on its authority's chain any more.

        Gives:  namespace, bucket.  Rows: one per context.
        """
        used = self._used().join(
            self._authorities.select(F.col("namespace").alias("member")), "member", "left_semi"
        )
        held = _chain(self._operations).select(
            F.concat(F.lit("authority:"), "authority").alias("member"), "commitment"
        )
        return used.join(held, ["member", "commitment"], "left_anti").select(*_HOME).distinct()

    def refreshed(self, reduced: DataFrame) -> DataFrame:
        """Return the stored states of contexts whose members have other tips now; only these change.

        Reads:  reduced: the contexts that this run reduces, which are left out.
        Gives:  _STATE, depends_on.  Rows: one per context.
        """
        stored = self._states().join(reduced.select("namespace"), "namespace", "left_anti")
        moved = self._authorities.select(F.col("namespace").alias("member"))
        named = self._used().join(moved, "member", "left_semi").select("namespace")
        known = self._tables.read(AUTHORITIES).select("namespace")
        new = self._jobs.checkpoint(
            self._authorities.join(known, "namespace", "left_anti"), "new authorities"
        )
        if self._jobs.has_rows(new):
            named = named.unionByName(self._with_new(new))
        contexts = self._jobs.checkpoint(
            stored.join(named.distinct(), "namespace", "left_semi"), "dependents"
        )
        geneses = self._geneses().join(contexts.select("namespace"), "namespace", "left_semi")
        tips = depends_on(context_members(geneses), self.tips())
        return contexts.select(*_STATE).join(tips, "namespace")

    def _with_new(self, new: DataFrame) -> DataFrame:
        """Return the contexts with a member whose journal came with this run."""
        each = context_members(self._geneses()).select("namespace", F.explode("members").alias("authority"))
        found = new.select(F.substring("namespace", _ID_AT, 36).alias("authority"))
        return each.join(found, "authority", "left_semi").select("namespace")

    def _geneses(self) -> DataFrame:
        return self._tables.read(FACTS).where(F.col("variant") == "ContextGenesis")

    def _states(self) -> DataFrame:
        return self._tables.read(STATES).where(F.col("reducer_version") == REDUCER)

    def _used(self) -> DataFrame:
        """Return the tips that stored states name.  Gives: namespace, bucket, member, commitment."""
        each = self._states().select(*_HOME, F.explode("depends_on").alias("used"))
        return each.select(
            *_HOME, F.col("used.namespace").alias("member"), F.col("used.commitment").alias("commitment")
        )


def _chain(operations: DataFrame) -> DataFrame:
    authority = F.substring("namespace", _ID_AT, 36).alias("authority")
    return operations.where("outcome = 'applied'").select(
        authority, F.col("new_commitment").alias("commitment")
    )


def depends_on(of_contexts: DataFrame, tips: DataFrame) -> DataFrame:
    """Return the tips of the known members of contexts.

    Reads:  of_contexts: namespace, members; tips: namespace, commitment.
    Gives:  namespace, depends_on (ascending).  Rows: one per context with a known member.
    """
    each = of_contexts.select("namespace", F.explode("members").alias("authority"))
    named = tips.select(F.col("namespace").alias("member"), "commitment")
    found = each.withColumn("member", F.concat(F.lit("authority:"), "authority")).join(named, "member")
    pair = F.struct(F.col("member").alias("namespace"), "commitment")
    return found.groupBy("namespace").agg(F.sort_array(F.collect_list(pair)).alias("depends_on"))
