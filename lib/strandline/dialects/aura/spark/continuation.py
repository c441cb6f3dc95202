"""Authorities with many operations, continued from their stored state where all new operations descend from it."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.aura import kernels
from strandline.dialects.aura.reduce import REDUCER
from strandline.dialects.aura.spark import snapshots
from strandline.dialects.aura.spark.long_namespaces import may_have_long
from strandline.dialects.aura.spark.tables import AUTHORITIES, HOME
from strandline.frames.lift import map_batches

MANY_FACTS: Final = 5_000
"""Stored facts from which an authority is continued: about a second of one task. Fewer are reduced whole in less."""


def continued(named: DataFrame, changes: DataFrame, tables: Tables, jobs: Jobs) -> DataFrame | None:
    """Reduce the authorities that can be continued; None without any.

    Reads:  named: HOME; changes: the new facts.
    Gives:  `kernels.REDUCED_SCHEMA`, with only the rows of new operations, and record_count.
    Rows:     one per authority with many facts whose new operations descend from its stored state. A snapshot may
            decide earlier forks: an authority with one is not continued.
    """
    if not may_have_long(tables, REDUCER, MANY_FACTS):
        return None
    stored = tables.read(STATES).where(
        (F.col("reducer_version") == REDUCER) & (F.col("record_count") >= MANY_FACTS)
    )
    with_snapshot = (
        snapshots.stored(tables)
        .select("namespace")
        .unionByName(changes.where(F.col("kind") == "Snapshot").select("namespace"))
    )
    many = stored.join(named.select(*HOME), list(HOME), "left_semi").join(
        with_snapshot, "namespace", "left_anti"
    )
    many = jobs.checkpoint(many.select(*HOME, "record_count"), "long authorities")
    if not jobs.has_rows(many):
        return None
    new_facts = changes.join(many, list(HOME), "left_semi")
    states = (
        tables.read(AUTHORITIES)
        .join(many, list(HOME), "left_semi")
        .select(*HOME, "state_cbor", *kernels.COUNTS)
    )
    operations = new_facts.where(F.col("kind") == "AttestedOp")
    both = states.unionByName(
        operations.select(*(name for name in kernels.CONTINUED_COLUMNS if name in operations.columns)),
        allowMissingColumns=True,
    )
    grouped = (
        both.select(*kernels.CONTINUED_COLUMNS).repartition("namespace").sortWithinPartitions("namespace")
    )
    reduced = map_batches(grouped, kernels.continued, kernels.REDUCED_SCHEMA)
    added = new_facts.groupBy(*HOME).agg(F.count(F.lit(1)).alias("added"))
    counts_now = many.join(added, list(HOME)).select(
        "namespace", (F.col("record_count") + F.col("added")).alias("record_count")
    )
    return jobs.checkpoint(reduced.join(counts_now, "namespace"), "continued states")
