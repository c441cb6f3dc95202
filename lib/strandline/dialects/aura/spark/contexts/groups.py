"""The contexts of a run, and which of their rows are computed again: those of groups with new facts."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs
from strandline.dialects.aura.spark.contexts.retained import RetainedFacts
from strandline.dialects.aura.spark.tables import HOME
from strandline.dialects.aura.spark.touched import GROUPS, Group


@dataclass(frozen=True, slots=True)
class Contexts:
    """The contexts that a run reduces.

    `named`: HOME, and for each of GROUPS whether its rows are computed again; one row each. `groups`: those with such a
    context; `everywhere`: those of which all are such contexts. `retained`: their facts that count, and the sums of
    pruned ones. `is_full`: all rows of all contexts of the lake are computed again.
    """

    named: DataFrame
    groups: frozenset[Group]
    everywhere: frozenset[Group]
    retained: RetainedFacts
    is_full: bool

    def of(self, group: Group) -> DataFrame:
        """Return the contexts whose rows of a group are computed again.  Gives: HOME.  Rows: one per context."""
        return (self.named if self.is_full else self.named.where(group)).select(*HOME)

    def without(self, group: Group) -> DataFrame:
        """Return the contexts whose rows of a group stay as stored.  Gives: HOME.  Rows: one per context."""
        return self.named.where(~F.col(group)).select(*HOME)

    def facts_of(self, group: Group) -> DataFrame:
        """Return the facts of a group in the contexts whose rows of it are computed again."""
        return self._of(self.retained.facts.where(F.col("variant").isin(*GROUPS[group])), group)

    def carried(self, jobs: Jobs) -> DataFrame | None:
        """Return the sums of pruned charges of the contexts whose budgets are computed again, as `flows.sums`."""
        sums = self.retained.carried(jobs)
        return None if sums is None else self._of(sums, "flows")

    def _of(self, rows: DataFrame, group: Group) -> DataFrame:
        return rows if self.is_full else rows.join(self.of(group), list(HOME), "left_semi")


def with_invalidated(named: DataFrame, invalidated: DataFrame) -> DataFrame:
    """Add contexts that depend on a lost state: the rows of their group `grants` are computed again.

    Reads:  named: as in `Contexts`; invalidated: HOME.  Gives: the columns of `named`.  Rows: one per context.
    """
    again = invalidated.withColumns({group: F.lit(group == "grants") for group in GROUPS})
    together = named.unionByName(again).groupBy(*HOME)
    return together.agg(*(F.max(group).alias(group) for group in GROUPS))
