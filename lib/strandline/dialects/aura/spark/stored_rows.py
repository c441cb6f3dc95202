"""Stored rows of authorities that cannot be reproduced after a collection: they stay unchanged."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import EQUIVOCATIONS, SNAPSHOTS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.pruning import ReducedTables
from strandline.dialect_api.reduction import Reduction
from strandline.dialect_api.refusals import refused
from strandline.dialect_api.removed import snapshot_lost
from strandline.dialects.aura.spark.namespaces import is_of
from strandline.dialects.aura.spark.retained_operations import PrunedOperations
from strandline.dialects.aura.spark.tables import AUTHORITIES, OPERATIONS
from strandline.frames.known import KEY

_OF_MEMBERS = (AUTHORITIES, OPERATIONS)
"""The tables that contexts read of their members."""


def with_unrepeatable(
    reduction: Reduction, whole: DataFrame, pruned: PrunedOperations, tables: Tables, jobs: Jobs
) -> Reduction:
    """Add the stored rows that stay: evidence with pruned facts, and rows of refused authorities that contexts read.

    An authority without a carry has no state, so it is refused. Others with inconsistent remains are named as damaged.
    Reads:  whole: `kernels.REDUCED_SCHEMA` of the reduced authorities.
    """
    rows, deletes = dict(reduction.tables), reduction.deletes
    key = list(contract(EQUIVOCATIONS).key)
    kept = pruned.evidence(tables)
    without = whole.where("state_hash IS NULL").select("namespace")
    lost = refused(without, jobs, lambda row: snapshot_lost(row["namespace"]))
    if lost is not None:
        for table in _OF_MEMBERS:
            stored = tables.read(table).join(lost.namespaces, "namespace", "left_semi")
            theirs = stored.select(*rows[table].columns)
            rows[table] = rows[table].unionByName(jobs.checkpoint(theirs, f"stored rows of {table}"))
        deletes = {table: lost.others(keys) for table, keys in deletes.items()}
    evidence = jobs.checkpoint(kept.select(*rows[EQUIVOCATIONS].columns), "evidence that stays")
    new = rows[EQUIVOCATIONS].join(evidence.select(*key), key, "left_anti")
    rows[EQUIVOCATIONS] = new.unionByName(evidence)
    inconsistent = whole.where("is_inconsistent AND state_hash IS NOT NULL").select("namespace")
    return replace(
        reduction, tables=rows, deletes=deletes, damaged={**reduction.damaged, SNAPSHOTS: inconsistent},
        refused=lost,
    )  # fmt: skip


def of_pruned(tables: Tables, chosen: DataFrame) -> dict[str, DataFrame]:
    """Return the keys of the rows of pruned operations, with their bucket, by table.

    Reads:  chosen: namespace, record_id.
    """
    stored = tables.read(OPERATIONS)
    theirs = stored.join(_facts(chosen), ["namespace", "fact_id"], "left_semi")
    return {OPERATIONS: theirs.select("bucket", *contract(OPERATIONS).key)}


def without_pruned(rows: ReducedTables, chosen: DataFrame) -> ReducedTables:
    """Return reduced rows without those of pruned operations and the evidence that shows one.

    Reads:  chosen: namespace, record_id.
    """
    if OPERATIONS not in rows:
        return rows
    named, key = _facts(chosen), list(contract(EQUIVOCATIONS).key)
    forks = rows[EQUIVOCATIONS]
    each = forks.select(*key, F.explode("members").alias("record_id"))
    shown = each.join(chosen.select(*KEY), list(KEY), "left_semi").select(*key).distinct()
    return {
        **rows,
        OPERATIONS: rows[OPERATIONS].join(named, ["namespace", "fact_id"], "left_anti"),
        EQUIVOCATIONS: forks.join(shown, key, "left_anti"),
    }


def _facts(chosen: DataFrame) -> DataFrame:
    return chosen.where(is_of("authority")).select("namespace", F.col("record_id").alias("fact_id"))
