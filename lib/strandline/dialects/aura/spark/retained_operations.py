"""The remains of pruned operations of authorities: skeletons, and the carries of applied snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import EQUIVOCATIONS, SNAPSHOTS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.removed import removed_records
from strandline.dialects.aura import kernels
from strandline.dialects.aura.reduce.contexts.forks import SNAPSHOT_FORK
from strandline.dialects.aura.spark.namespaces import is_of
from strandline.dialects.aura.spark.tables import HOME
from strandline.dialects.aura.types import DIALECT
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches
from strandline.frames.snapshots import applied_carries

_TYPES: Final = {
    pa.string(): "string", pa.binary(): "binary", pa.int32(): "int", pa.decimal128(20, 0): "decimal(20,0)"
}  # fmt: skip
_DERIVED: Final = {field.name: _TYPES[field.type] for field in kernels.DERIVED_FIELDS}
_REMAINS: Final = dict.fromkeys(kernels.REMAINS, "binary")


@dataclass(frozen=True, slots=True)
class PrunedOperations:
    """Rows of `pruned_record` of authorities, and the carries of their applied snapshots: namespace, bucket, carry.

    A carry is empty if the snapshot is missing, or does not have the content that its id states. Rows of pruned facts
    that a collection has not deleted yet, or that were ingested during one, are still stored; they do not count.
    """

    rows: DataFrame
    carries: DataFrame

    def of(self, named: DataFrame) -> PrunedOperations:
        """Return the remains of some authorities.  Reads: HOME."""
        homes = named.select(*HOME).distinct()
        rows, carries = (each.join(homes, list(HOME), "left_semi") for each in (self.rows, self.carries))
        return PrunedOperations(rows, carries)

    def where(self, is_wanted: Column) -> PrunedOperations:
        """Return the remains of the authorities for which a condition on namespace and bucket is true."""
        return PrunedOperations(self.rows.where(is_wanted), self.carries.where(is_wanted))

    def kept(self, facts: DataFrame) -> DataFrame:
        """Return the facts that are not pruned.  Reads: rows of `aura_fact`."""
        return facts.join(self.rows.select(*KEY), list(KEY), "left_anti")

    def remains(self) -> DataFrame:
        """Return the rows of remains that kernels read.

        Gives:  HOME, *kernels.REMAINS.  Rows: one per pruned operation, and one per authority with its carry.
        """
        skeletons = self.rows.select(*HOME, F.col("record_id").alias("pruned_id"), "skeleton")
        return skeletons.unionByName(self.carries.select(*HOME, "carry"), allowMissingColumns=True)

    def states(self) -> DataFrame:
        """Return the states that pruned operations made.

        Gives:  kernels.SKELETON_STATE_SCHEMA.  Rows: one per operation.
        """
        return map_batches(
            self.rows.select("namespace", "skeleton"), kernels.skeleton_states, kernels.SKELETON_STATE_SCHEMA
        )

    def paths(self, held: DataFrame) -> DataFrame:
        """Return the states on chains that pruned operations made.

        Reads:  held: applied rows of `attested_op`.  Gives: kernels.PATH_SCHEMA.  Rows: one per state.
        """
        skeletons = self.remains().where("pruned_id IS NOT NULL").drop("bucket")
        theirs = held.join(skeletons.select("namespace").distinct(), "namespace", "left_semi")
        pairs = theirs.select("namespace", "parent_commitment", "new_commitment")
        both = pairs.unionByName(skeletons, allowMissingColumns=True).select(*kernels.PATH_COLUMNS)
        grouped = both.repartition("namespace").sortWithinPartitions("namespace")
        return map_batches(grouped, kernels.pruned_paths, kernels.PATH_SCHEMA)

    def evidence(self, tables: Tables) -> DataFrame:
        """Return the stored rows of `equivocation` that may not be reproducible: a fact or a state is pruned.

        Gives:  the columns of `equivocation`.  Rows: one per fork with a pruned operation, or of snapshots.
        """
        stored = tables.read(EQUIVOCATIONS).where(F.col("dialect") == DIALECT)
        theirs = stored.join(self.rows.select("namespace").distinct(), "namespace", "left_semi")
        each = theirs.select("namespace", "equivocation_id", F.explode("members").alias("record_id"))
        named = each.join(self.rows.select(*KEY), list(KEY), "left_semi").select(
            "namespace", "equivocation_id"
        )
        of_snapshots = theirs.where(F.col("kind") == SNAPSHOT_FORK).select("namespace", "equivocation_id")
        return theirs.join(named.unionByName(of_snapshots), ["namespace", "equivocation_id"], "left_semi")


def pruned_operations(tables: Tables, jobs: Jobs) -> PrunedOperations | None:
    """Return the remains of pruned operations, or None if no authority has any. Call it as `removed_records`."""
    rows = removed_records(("authority",), tables, jobs)
    if rows is None:
        return None
    carries = applied_carries(rows, tables.read(SNAPSHOTS))
    return PrunedOperations(rows, jobs.checkpoint(carries, "applied snapshots of authorities"))


def with_remains(rows: DataFrame, pruned: PrunedOperations | None, columns: Iterable[str]) -> DataFrame:
    """Return rows of facts of authorities together with their remains, grouped for a kernel.

    Reads:  rows: `columns`, but for those that are null in all: derived columns and remains.
    Gives:  columns.  Rows: one per row, and the remains of the authorities in `rows`, all of one in one task.
    """
    names = list(columns)
    typed = {**_DERIVED, **_REMAINS}
    empty = {name: F.lit(None).cast(typed[name]) for name in names if name not in rows.columns}
    found = rows.withColumns(empty).select(*names)
    if pruned is not None:
        theirs = pruned.remains().join(rows.select("namespace").distinct(), "namespace", "left_semi")
        left = theirs.select(*(name for name in names if name in theirs.columns))
        found = found.unionByName(left, allowMissingColumns=True)
    return found.repartition("namespace").sortWithinPartitions("namespace")


def is_operation() -> Column:
    """Return whether a fact is an operation of an authority."""
    return is_of("authority") & (F.col("kind") == "AttestedOp")
