"""Snapshot facts as rows of `snapshot`: `reduce` judges those of the namespaces that it reduces.

A namespace is judged by one task, from its snapshots and what they name: a status depends on whole reductions of what a
snapshot covers, at most 64 a namespace, and no join says which of them are needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import PRUNED, SNAPSHOTS
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialects.aura import kernels
from strandline.dialects.aura.spark.contexts.retained import PrunedFacts
from strandline.dialects.aura.spark.namespaces import is_of
from strandline.dialects.aura.spark.retained_operations import PrunedOperations, with_remains
from strandline.dialects.aura.spark.tables import HOME
from strandline.dialects.aura.types import DIALECT, NamespaceKind
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches
from strandline.frames.strays import strays

_SHAPE: Final = "Snapshot STRUCT<superseded_facts: ARRAY<ARRAY<STRING>>>"
_NULLABLE: Final = {
    "known_status": "string", "relied": "array<binary>", "authority": "string", "commitment": "binary",
    "pruned_id": "binary",
}  # fmt: skip
_ALWAYS: Final = ("AttestedOp", "Snapshot")


@dataclass(frozen=True, slots=True)
class Judged:
    """Judged Snapshot facts of the namespaces of a run: rows of `snapshot`, keys of stored ones to delete, forks."""

    rows: DataFrame
    strays: DataFrame
    forks: DataFrame


def stored(tables: Tables) -> DataFrame:
    """Return the judged Snapshot facts of the lake.  Gives: the columns of `snapshot`."""
    return tables.read(SNAPSHOTS).where((F.col("dialect") == DIALECT) & (F.col("origin") == "fact"))


def are_stored(tables: Tables, jobs: Jobs) -> bool:
    """Return whether the lake has judged Snapshot facts."""
    few = tables.few_rows(SNAPSHOTS)
    if few is None:
        return jobs.has_rows(stored(tables))
    return bool(pc.any(pc.equal(few.column("origin"), "fact")).as_py())


def known_statuses(tables: Tables) -> DataFrame:
    """Return the statuses of judged Snapshot facts.  Gives: namespace, record_id, known_status."""
    return stored(tables).select(
        "namespace", F.col("snapshot_id").alias("record_id"), F.col("status").alias("known_status")
    )


def judged_authorities(
    facts: DataFrame, relied: DataFrame | None, pruned: PrunedOperations | None, tables: Tables, jobs: Jobs
) -> DataFrame:
    """Judge the Snapshot facts of authorities.

    Reads:  facts: all accepted facts of the authorities that are not pruned; relied: namespace, relied (states), one
            row each, or None.
    Gives:  `kernels.JUDGED_SCHEMA`, computed.  Rows: one per authority with a Snapshot fact.
    """
    columns = [*HOME, "fact_cbor"]
    rows = _needed(facts, ("variant", *(kernels.DERIVED if pruned is not None else ())))
    if relied is not None:
        rows = with_relied(rows, relied)
        columns.append("relied")
    if pruned is not None:
        rows = rows.join(known_statuses(tables), list(KEY), "left")
        columns += ["known_status", *kernels.DERIVED]
    return _judged(rows.select(*columns), jobs, pruned)


def with_relied(facts: DataFrame, relied: DataFrame) -> DataFrame:
    """Add the states that collections relied on to the first operation of each authority; other facts get null.

    Each collection can add a state, and a list of them in every row would be carried with every fact.
    Reads:  namespace, variant; relied: namespace, relied, one row each. Spark chooses the join: it has a row per
            authority that a collection ever relied on.
    Gives:  the columns of `facts`, relied.  Rows: one per row of `facts`.
    """
    is_first = F.col("variant") == "Genesis"
    return facts.join(relied, "namespace", "left").withColumn("relied", F.when(is_first, F.col("relied")))


def judged_contexts(
    records: DataFrame, pruned: PrunedFacts | None, chains: DataFrame, tables: Tables, jobs: Jobs
) -> DataFrame:
    """Judge the Snapshot facts of contexts.

    Reads:  records: all accepted facts of the contexts that are not pruned; chains: authority, commitment.
    Gives:  `kernels.JUDGED_SCHEMA`, computed.  Rows: one per context with a Snapshot fact.
    """
    rows = jobs.checkpoint(_needed(records), "what snapshots name")
    attested = rows.select(*HOME, F.explode("attest").alias("by")).select(
        *HOME, "by.authority", "by.commitment"
    )
    states = attested.distinct().join(chains, ["authority", "commitment"], "left_semi")
    facts = rows.select(*HOME, "record_id", "fact_cbor")
    if pruned is not None:
        facts = facts.join(known_statuses(tables), list(KEY), "left").unionByName(
            _pruned_named(rows, pruned.rows), allowMissingColumns=True
        )
    return _judged(facts.drop("record_id").unionByName(states, allowMissingColumns=True), jobs)


def _needed(facts: DataFrame, more: Iterable[str] = ()) -> DataFrame:
    """Keep the facts that decide about snapshots: those that snapshots name, and the operations of their chains."""
    found = facts.where(F.col("kind") == "Snapshot")
    kinds = F.col("kind").isin(*_ALWAYS) | (F.col("variant") == "ContextGenesis")
    always = facts.where(kinds).join(found.select(*HOME).distinct(), list(HOME), "left_semi")
    others = named_facts(facts, ~kinds)
    columns = (*HOME, "record_id", "kind", "content_json", "attest", "fact_cbor", *more)
    return always.select(*columns).unionByName(others.select(*columns))


def named_facts(facts: DataFrame, is_wanted: Column) -> DataFrame:
    """Keep those of the wanted facts that snapshots among all of them name."""
    return facts.where(is_wanted).join(_named(facts), list(KEY), "left_semi")


def _named(facts: DataFrame) -> DataFrame:
    """Return the facts that snapshots name.  Gives: namespace, record_id."""
    pairs = F.from_json("content_json", _SHAPE)["Snapshot"]["superseded_facts"]
    each = facts.where(F.col("kind") == "Snapshot").select("namespace", F.explode(pairs).alias("pair"))
    return each.select("namespace", F.unhex(F.col("pair")[1]).alias("record_id"))


def _pruned_named(rows: DataFrame, pruned: DataFrame) -> DataFrame:
    """Return the pruned facts that snapshots name, and one of each namespace.  Gives: HOME, pruned_id."""
    theirs = pruned.join(rows.select(*HOME).distinct(), list(HOME), "left_semi")
    named = theirs.join(_named(rows), list(KEY), "left_semi").select(
        *HOME, F.col("record_id").alias("pruned_id")
    )
    return named.unionByName(theirs.groupBy(*HOME).agg(F.min("record_id").alias("pruned_id"))).distinct()


def _judged(rows: DataFrame, jobs: Jobs, pruned: PrunedOperations | None = None) -> DataFrame:
    missing = {name: F.lit(None).cast(kind) for name, kind in _NULLABLE.items() if name not in rows.columns}
    grouped = with_remains(rows.withColumns(missing), pruned, kernels.SNAPSHOT_INPUT_COLUMNS)
    return jobs.checkpoint(
        map_batches(grouped, kernels.judged_snapshots, kernels.JUDGED_SCHEMA), "judged snapshots"
    )


def as_judged(
    found: DataFrame,
    kind: NamespaceKind,
    namespaces: DataFrame,
    reducer: str,
    tables: Tables,
    scope: ReduceScope,
) -> Judged:
    """Return judged Snapshot facts as rows of tables.

    Reads:  found: `kernels.JUDGED_SCHEMA`, of namespaces of one kind; namespaces: those that the run reduces.
    """
    each = statuses(found)
    described = contract(SNAPSHOTS)
    types = {column.name: column.physical_type for column in described.columns}
    given: dict[str, Column] = {
        "origin": F.lit("fact"), "dialect": F.lit(DIALECT), "prune_count": F.lit(0),
        "record_version": F.lit(scope.version), "pruned_version": F.lit(tables.version(PRUNED)),
        "reducer_version": F.lit(reducer), "run_id": F.lit(scope.run_id), "inputs": F.array(),
    }  # fmt: skip
    empty = {name: F.lit(None) for name in described.names if name not in {*each.columns, *given}}
    typed = {name: column.cast(types[name]) for name, column in {**given, **empty}.items()}
    rows = each.withColumns(typed).select(*described.names)
    forks = found.select(*HOME, F.explode("forks").alias("row")).select(*HOME, "row.*")
    return Judged(rows, strays(SNAPSHOTS, stored(tables).where(is_of(kind)), rows, namespaces), forks)


def statuses(found: DataFrame) -> DataFrame:
    """Return the statuses of judged Snapshot facts.

    Reads:  `kernels.JUDGED_SCHEMA`.  Gives: HOME, snapshot_id, status, sequence, state_hash, record_count.
    Rows:   one per Snapshot fact.
    """
    return found.select(*HOME, F.explode("statuses").alias("row")).select(*HOME, "row.*")


def in_force(rows: DataFrame) -> DataFrame:
    """Return the snapshots in force.

    Reads:  HOME, snapshot_id, status.  Gives: HOME, record_id.  Rows: at most one per namespace.
    """
    return rows.where(F.col("status") == "in_force").select(*HOME, F.col("snapshot_id").alias("record_id"))
