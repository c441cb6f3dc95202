"""What reductions of logs have in common: their parts, how parts become rows, and logs reduced from all entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction, Refusal
from strandline.dialects.ipfslog.spark import dag, documents, forks, logs, order, states
from strandline.dialects.ipfslog.spark.retained import RetainedEntries
from strandline.dialects.ipfslog.spark.tables import DOCUMENTS, EQUIVOCATIONS, HEADS, TAILS, VIEW
from strandline.dialects.ipfslog.types import DIALECT
from strandline.frames.states import as_namespace_state

FEW_ROWS = 100_000
"""Rows that fit into every task beside its own: some megabytes."""

LAST_POSITION = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Folded:
    """Rows of some logs by table, keys of their rows that are no more (where there can be any), and their states.

    `first_position` is the least position whose row may change, where that is known.
    """

    rows: Mapping[str, DataFrame]
    deletes: Mapping[str, DataFrame]
    states: DataFrame
    refused: tuple[Refusal, ...] = ()
    first_position: int | None = None


def from_all(
    held: RetainedEntries, configured: DataFrame, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> Folded:
    """Reduce logs from all of their entries.

    Reads: configured: `states.LOG`, is_known (whether rows of the log may be stored), of these logs; settled. Logs
    that are too long to be walked are left out.
    """
    nodes = held.nodes(configured)
    bonds = jobs.checkpoint(dag.bonds(nodes), "links")
    walked = jobs.checkpoint(held.may_walk(dag.walked(bonds)), "logs to walk")
    has_walks = jobs.has_rows(walked)
    refused = _refused(nodes, walked, jobs, scope) if has_walks else ()
    if refused:
        named = ~F.col("namespace").isin([each.namespace for each in refused])
        nodes, bonds, walked, configured = (
            frame.where(named) for frame in (nodes, bonds, walked, configured)
        )
    view = jobs.persist(_view(nodes, bonds, walked if has_walks else None), "order")
    heads = jobs.checkpoint(dag.as_head(bonds.where(F.col("kind") == dag.HEAD)), "heads")
    lacking = bonds.where(F.col("kind") == dag.MISSING)
    tails = jobs.checkpoint(dag.as_tail(dag.roots(nodes).unionByName(dag.partial(lacking))), "tails")
    rows = {HEADS: heads, TAILS: tails, VIEW: view}
    stores = configured.where(logs.has_documents()).select("namespace", "store", "write")
    groups = None
    if jobs.has_rows(stores):
        columns = ("namespace", "bucket", "record_id", "writer", "key", "ops")
        effects = documents.effects(logs.listed(held.entries.select(*columns), stores), stores)
        placed = effects.join(view.select("namespace", "record_id", "position"), ["namespace", "record_id"])
        rows[DOCUMENTS] = jobs.persist(documents.winners(placed), "documents")
        groups = documents.group_digests(rows[DOCUMENTS])
    else:
        rows[DOCUMENTS] = tables.read(DOCUMENTS).limit(0)
    sizes = view.groupBy("namespace").agg(F.count(F.lit(1)).alias("entries"))
    parts = (
        configured.join(sizes, "namespace", "left")
        .withColumn("entries", F.coalesce("entries", F.lit(0)))
        .withColumns({"kept_blocks": F.lit(None).cast("binary"), "kept_groups": F.lit(None).cast("binary")})
        .join(_modes(configured, walked), "namespace")
    )
    hashed = with_hashes(
        parts, heads, tails.select("namespace", "missing"), order.block_digests(view), groups
    )
    known = configured.where("is_known").select("namespace")
    deletes = (
        {table: _deletes(tables, table, known, rows[table]) for table in rows} if jobs.has_rows(known) else {}
    )
    return Folded(rows, deletes, jobs.checkpoint(hashed, "states of logs"), refused)


def _refused(nodes: DataFrame, walked: DataFrame, jobs: Jobs, scope: ReduceScope) -> tuple[Refusal, ...]:
    sizes = nodes.join(F.broadcast(walked), "namespace", "left_semi").groupBy("namespace").count()
    long = sizes.where(F.col("count") > scope.walk_entries)
    found = jobs.row(long.agg(F.sort_array(F.collect_list(F.struct("namespace", "count"))).alias("logs")))
    return tuple(
        Refusal(
            each["namespace"],
            f"The log {each['namespace']} has {each['count']:,} entries, some with clocks that do not follow their "
            f"links: its order is a walk, and limits.walk_entries allows {scope.walk_entries:,}.",
        )
        for each in found["logs"]
    )


def _view(nodes: DataFrame, bonds: DataFrame, walked: DataFrame | None) -> DataFrame:
    late = dag.not_ok(bonds).withColumn("clock_ok", F.lit(False))
    places = order.ranked(nodes).join(late, ["namespace", "record_id"], "left")
    places = places.withColumn("clock_ok", F.coalesce("clock_ok", F.lit(True)))
    if walked is None:
        return order.as_view(places.withColumns({"position": F.col("rank"), "mode": F.lit("sort")}))
    theirs = F.broadcast(walked)
    sorted_ = places.join(theirs, "namespace", "left_anti")
    others = places.join(theirs, "namespace", "left_semi")
    positions = order.walk_positions(nodes.join(theirs, "namespace", "left_semi"), others)
    walks = others.join(positions, ["namespace", "rank"])
    return order.as_view(sorted_.withColumns({"position": F.col("rank"), "mode": F.lit("sort")})).unionByName(
        order.as_view(walks.withColumn("mode", F.lit("walk")))
    )


def _modes(configured: DataFrame, walked: DataFrame) -> DataFrame:
    marked = walked.withColumn("mode", F.lit("walk"))
    return (
        configured.select("namespace").join(marked, "namespace", "left")
        .withColumn("mode", F.coalesce("mode", F.lit("sort")))
    )  # fmt: skip


def with_hashes(
    parts: DataFrame, heads: DataFrame, missing: DataFrame, blocks: DataFrame, groups: DataFrame | None
) -> DataFrame:
    """Hash the states of logs from their parts.

    Reads:  parts: `states.LOG`, entries, mode, kept_blocks, kept_groups; heads: namespace, record_id of all heads;
            missing: namespace, missing; blocks, groups: namespace and the hashes that were made anew.
    Gives:  what `states.hashed` gives.
    Rows:   one per log.
    """
    none = F.lit(None).cast("array<struct<place:int,digest:binary>>")
    joined = (
        parts.join(states.head_digests(heads), "namespace", "left")
        .join(states.missing_digests(missing), "namespace", "left")
        .join(blocks, "namespace", "left")
    )
    with_groups = (
        joined.withColumn("groups", none) if groups is None else joined.join(groups, "namespace", "left")
    )
    return states.hashed(with_groups)


def _deletes(tables: Tables, table: str, known: DataFrame, rows: DataFrame) -> DataFrame:
    """Keys of stored rows of these logs that `rows` lacks."""
    key = list(contract(table).key)
    stored = tables.read(table).select("bucket", *key).join(F.broadcast(known), "namespace", "left_semi")
    return stored.join(rows.select(*key), key, "left_anti")


def equivocations(entries: DataFrame, suspects: DataFrame, jobs: Jobs) -> DataFrame | None:
    """Return the rows of `equivocation` that witnesses at suspect clocks prove, or None."""
    suspects = jobs.checkpoint(suspects, "clocks of several entries")
    if not jobs.has_rows(suspects):
        return None
    claims = jobs.checkpoint(forks.claims(entries, suspects), "claims at one clock")
    return jobs.checkpoint(forks.forks(claims, entries), "forks")


def reduction(folded: Sequence[Folded], found_forks: DataFrame | None, scope: ReduceScope) -> Reduction:
    """Return parts as one reduction."""
    rows = {table: _union([part.rows[table] for part in folded]) for table in (HEADS, TAILS, VIEW, DOCUMENTS)}
    deletes = {
        table: _union([part.deletes[table] for part in folded if table in part.deletes])
        for table in rows
        if any(table in part.deletes for part in folded)
    }
    if found_forks is not None:
        rows[EQUIVOCATIONS] = found_forks
    shaped = as_namespace_state(
        _union([part.states for part in folded]), dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id,
    )  # fmt: skip
    refused = tuple(each for part in folded for each in part.refused)
    firsts = [part.first_position for part in folded if part.first_position is not None]
    bounds = {VIEW: {"position": (min(firsts), LAST_POSITION)}} if len(firsts) == len(folded) else {}
    return Reduction(rows, shaped, deletes, bounds, refused)


def on_every_machine(frame: DataFrame, jobs: Jobs) -> DataFrame:
    """Return a settled frame as the small side of a join, as long as it is small: news have no bound."""
    few = jobs.row(frame.agg(F.count(F.lit(1)).alias("rows")))["rows"] <= FEW_ROWS
    return F.broadcast(frame) if few else frame


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)
