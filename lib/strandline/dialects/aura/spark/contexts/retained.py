"""The facts of contexts that count, and the sums of pruned ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import EQUIVOCATIONS, SNAPSHOTS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.removed import removed_records
from strandline.dialects.aura import kernels
from strandline.dialects.aura.spark.tables import BODY_KEY, HOME
from strandline.dialects.aura.types import DIALECT
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches
from strandline.frames.snapshots import applied_carries


@dataclass(frozen=True, slots=True)
class PrunedFacts:
    """Rows of `pruned_record` of contexts, and the carries of their applied snapshots: namespace, bucket, carry."""

    rows: DataFrame
    carries: DataFrame

    def sums(self) -> DataFrame:
        """Return the sums of carries.  Gives: kernels.SUM_SCHEMA.  Rows: one per budget, or per damaged carry."""
        return map_batches(
            self.carries.select(*kernels.CARRY_COLUMNS), kernels.carried_sums, kernels.SUM_SCHEMA
        )

    def carried(self) -> DataFrame:
        """Return the sums of the carries that can be read, in the form of `flows.sums`."""
        return self.sums().where("NOT is_damaged").drop("is_damaged")

    def skeleton_sums(self) -> DataFrame:
        """Return the charges of skeletons, each body once.  Gives: kernels.SUM_SCHEMA."""
        once = self.rows.where("skeleton IS NOT NULL").dropDuplicates(["namespace", "alt_id"])
        return map_batches(once.select(*kernels.PRUNED_COLUMNS), kernels.skeleton_sums, kernels.SUM_SCHEMA)


@dataclass(frozen=True, slots=True)
class RetainedFacts:
    """Rows of `aura_fact` of contexts. `pruned` is None if no context has pruned facts.

    Other copies of a pruned body, and rows that a collection has not deleted yet, are in `stored`: they do not count.
    `copied`: the pruned facts of which the body is stored (namespace, record_id, alt_id), or None if nobody has looked
    for them yet; `has_no_copies`: there are none.
    """

    stored: DataFrame
    pruned: PrunedFacts | None
    copied: DataFrame | None = None
    has_no_copies: bool = False

    @property
    def pruned_bodies(self) -> DataFrame | None:
        """The pruned rows (namespace, record_id, alt_id) that stored facts may share a body with, or None."""
        if self.pruned is None or self.has_no_copies:
            return None
        return self.pruned.rows if self.copied is None else self.copied

    @property
    def facts(self) -> DataFrame:
        """The facts that count: no copies of pruned bodies."""
        pruned = self.pruned_bodies
        return (
            self.stored
            if pruned is None
            else self.stored.join(bodies_of(pruned), list(BODY_KEY), "left_anti")
        )

    @property
    def records(self) -> DataFrame:
        """The stored facts that are not pruned themselves, with other copies of pruned bodies."""
        pruned = self.pruned_bodies
        return (
            self.stored if pruned is None else self.stored.join(pruned.select(*KEY), list(KEY), "left_anti")
        )

    def looked_through(self, jobs: Jobs) -> RetainedFacts:
        """Return this with `copied` looked up, for facts that are read several times: mostly there are no copies."""
        if self.pruned is None:
            return self
        rows = self.pruned.rows.select(*KEY, "alt_id")
        stored = self.stored.select("namespace", F.col("body_id").alias("alt_id"))
        copied = jobs.checkpoint(
            rows.join(stored, ["namespace", "alt_id"], "left_semi"), "copies of pruned facts"
        )
        return replace(self, copied=copied, has_no_copies=not jobs.has_rows(copied))

    def where(self, is_wanted: Column) -> RetainedFacts:
        """Return the facts of the contexts for which a condition on namespace and bucket is true."""
        if self.pruned is None:
            return RetainedFacts(self.stored.where(is_wanted), None)
        rest = PrunedFacts(self.pruned.rows.where(is_wanted), self.pruned.carries.where(is_wanted))
        return RetainedFacts(self.stored.where(is_wanted), rest)

    def of(self, contexts: DataFrame) -> RetainedFacts:
        """Return the facts of these contexts.  Reads: namespace, bucket."""
        stored = self.stored.join(contexts, list(HOME), "left_semi")
        if self.pruned is None:
            return RetainedFacts(stored, None)
        rows = self.pruned.rows.join(contexts, list(HOME), "left_semi")
        carries = self.pruned.carries.join(contexts, list(HOME), "left_semi")
        return RetainedFacts(stored, PrunedFacts(rows, carries))

    def counted(self, *flags: str) -> DataFrame:
        """Count the records of each context, with pruned ones, and the stored ones for which a flag is true.

        Gives:  namespace, bucket, record_count, `flags` (numbers).
        """
        ids = self.records.select(*HOME, *flags)
        if self.pruned is not None:
            ids = ids.unionByName(self.pruned.rows.select(*HOME), allowMissingColumns=True)
        each = (F.count_if(F.col(flag)).alias(flag) for flag in flags)
        return ids.groupBy(*HOME).agg(F.count(F.lit(1)).alias("record_count"), *each)

    def carried(self, jobs: Jobs) -> DataFrame | None:
        """Return the sums of pruned charges in the form of `flows.sums`, or None without pruned facts.

        Where a carry is damaged, the skeletons are summed.
        """
        damaged = self.damaged()
        if self.pruned is None or damaged is None:
            return None
        damaged = jobs.checkpoint(damaged, "damaged carries")
        if not jobs.has_rows(damaged):
            return self.pruned.carried()
        rest = PrunedFacts(self.pruned.rows.join(damaged, "namespace", "left_semi"), self.pruned.carries)
        instead = rest.skeleton_sums().where("NOT is_damaged").drop("is_damaged")
        return self.pruned.carried().unionByName(instead)

    def damaged(self) -> DataFrame | None:
        """Return the contexts whose carry is damaged: namespace.  None without pruned facts."""
        return None if self.pruned is None else self.pruned.sums().where("is_damaged").select("namespace")

    def evidence(self, tables: Tables) -> DataFrame | None:
        """Return the stored rows of `equivocation` that name a pruned fact, or None without pruned facts.

        Such a row stays unchanged: the facts that prove it are deleted, but the row has their bytes.
        """
        if self.pruned is None:
            return None
        stored = tables.read(EQUIVOCATIONS).where(F.col("dialect") == DIALECT)
        each = stored.select("namespace", "equivocation_id", F.explode("members").alias("record_id"))
        named = each.join(self.pruned.rows.select(*KEY), list(KEY), "left_semi")
        return stored.join(named, ["namespace", "equivocation_id"], "left_semi")


def bodies_of(pruned: DataFrame) -> DataFrame:
    """Return the bodies of rows of `pruned_record`.  Gives: namespace, body_id."""
    return pruned.select("namespace", F.col("alt_id").alias("body_id"))


def retained_facts(facts: DataFrame, tables: Tables, jobs: Jobs) -> RetainedFacts:
    """Return the facts of contexts as of a version of their table.

    Pruned records and snapshots are read afterwards, in their newest version.
    Reads:  facts: rows of `aura_fact` of contexts.
    """
    rows = removed_records(("context",), tables, jobs)
    if rows is None:
        return RetainedFacts(facts, None)
    carries = jobs.checkpoint(applied_carries(rows, tables.read(SNAPSHOTS)), "applied snapshots")
    return RetainedFacts(facts, PrunedFacts(rows, carries))
