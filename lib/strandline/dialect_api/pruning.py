"""The interface of dialects whose records can be pruned: what may go, what stays of it, and the proof."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pyspark.sql import Column, DataFrame

from strandline.dialect_api.info import DialectInfo
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope
from strandline.frames.listed import is_listed

ReducedTables: TypeAlias = Mapping[str, DataFrame]
"""The rows of all reduced tables by table, with `namespace_state` reduced to what a state determines."""
INPUTS: Final = "array<struct<namespace:string,commitment:binary>>"
"""The type of `inputs` of a snapshot: the states of other namespaces that it was reduced with."""


@dataclass(frozen=True, slots=True)
class Erasing:
    """A part of records may be erased: of those that say they are from before `before`, or of all (None).

    The time is in milliseconds since 1970, and is compared with what the writer claims.
    """

    before: int | None = None


@dataclass(frozen=True, slots=True)
class PruneScope:
    """The basis of a plan: the records as `reduction` reads them, and the window below which they may go.

    `namespaces` are the only ones to plan, or None for all; those in `excluded` are left out. `erasing` is there if the
    dialect has a part of its records to erase, and may.
    """

    reduction: ReduceScope
    skip_window: int
    namespaces: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    erasing: Erasing | None = None

    def is_asked(self) -> Column:
        """Return whether the namespace in the column `namespace` is to be planned."""
        is_kept = ~is_listed("namespace", self.excluded)
        return is_kept if self.namespaces is None else is_kept & is_listed("namespace", self.namespaces)


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What a full reduction of all records says of each record that is stored and not pruned.

    - `members`: namespace, bucket, record_id, kind, alt_id, generation DECIMAL(20,0), hold (null if it may go), size
      (stored bytes of the record), and any more that the dialect makes skeletons and carries of;
    - `states`: namespace, bucket, state_hash, reducer_version, and, of a dialect whose plans rely on other namespaces,
      inputs (namespace, commitment; ascending); one row per namespace;
    - `reduced`: the rows of that reduction;
    - `context` is the dialect's own;
    - `damaged`: namespace; those whose applied snapshot does not fit their pruned records, or is missing or changed
      where it is needed.
    """

    members: DataFrame
    states: DataFrame
    reduced: ReducedTables
    context: Any
    damaged: DataFrame | None = None


class Prunes(ABC):
    """A dialect that lets records go: their rows are removed, and skeletons stay in `pruned_record`.

    Of a dialect with `DialectInfo.erasable` the rows stay without that column, and no skeleton is needed.
    """

    @abstractmethod
    def plan_pruning(self, tables: Tables, jobs: Jobs, scope: PruneScope) -> PrunePlan:
        """Reduce namespaces from nothing and say of each record what keeps it. Raises: UsageError."""

    @abstractmethod
    def skeletons_of(self, plan: PrunePlan, chosen: DataFrame, jobs: Jobs) -> DataFrame:
        """Return what stays of the chosen records; it is read several times.

        Reads:  chosen: rows of `PrunePlan.members` that may go.
        Gives:  the columns of `chosen`, skeleton (null where nothing needs to stay).
        Rows:   one per chosen record.
        """

    @abstractmethod
    def carries_of(self, plan: PrunePlan, chosen: DataFrame) -> DataFrame:
        """Return what all skeletons of a namespace add up to when the chosen records go.

        Reads:  chosen: rows of `PrunePlan.members`.
        Gives:  namespace, carry.
        Rows:   one per namespace of the plan.
        """

    @abstractmethod
    def reduce_rest(
        self, plan: PrunePlan, skeletons: DataFrame, carries: DataFrame, tables: Tables, jobs: Jobs, scope: PruneScope
    ) -> ReducedTables:  # fmt: skip
        """Reduce the namespaces of the plan from nothing, without the records that have chosen by then.

        Reads:  skeletons: as `skeletons_of` gives them; carries: as `carries_of` gives them.
        Gives:  the same tables and columns as `PrunePlan.reduced`.
        """

    def lasting(self, rows: ReducedTables, chosen: DataFrame) -> ReducedTables:  # noqa: ARG002 - for dialects with such rows
        """Return the reduced rows that must be equal before and after: not those that go with their records.

        Reads:  rows: those of a plan, or of `reduce_rest`; chosen: namespace, record_id.
        """
        return rows

    def rows_of(self, chosen: DataFrame, tables: Tables) -> ReducedTables:  # noqa: ARG002 - as above
        """Return the keys (with bucket) of stored reduced rows that go with their records, by table.

        Reads:  chosen: namespace, record_id.
        """
        return {}

    def still_holds(self, plan: PrunePlan, tables: Tables, jobs: Jobs) -> bool:  # noqa: ARG002 - for dialects that rely
        """Return whether the plan relies on the same states of other namespaces now, at the newest versions."""
        return True


def form_of(info: DialectInfo) -> str:
    """Return what becomes of the records of a dialect that go: `remove` or `erase`."""
    return "remove" if info.erasable is None else "erase"


def pruner(dialect: object) -> Prunes | None:
    """Return the dialect as one that lets records go, or None if it keeps all."""
    return dialect if isinstance(dialect, Prunes) else None
