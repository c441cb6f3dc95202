"""Reduction of logs from their stored state and new entries, for logs that are and stay in mode `sort`.

The cost depends on the number of new entries and on their place in the order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.ipfslog.spark import dag, documents, links, logs, order, suffix
from strandline.dialects.ipfslog.spark.hints import Hint, broadcast_if_small
from strandline.dialects.ipfslog.spark.logs import Present
from strandline.dialects.ipfslog.spark.reduced_rows import ReducedRows, with_hashes
from strandline.dialects.ipfslog.spark.retained import NODE_COLUMNS, RetainedEntries
from strandline.dialects.ipfslog.spark.tables import DOCUMENTS, HEADS, TAILS, VIEW
from strandline.frames.buckets import in_buckets


@dataclass(frozen=True, slots=True)
class IncrementalInput:
    """The new entries of some logs and the stored rows that they affect; all frames are checkpoints.

    - `configured`: the logs (`states.LOG`, old_blocks, old_groups); `nodes`: all their entries that count, and
      skeletons (dag.NODE).
    - `new_entries`: those whose writer is on the write list.
    - `tails`: the stored partial tails, one row per missing parent; `filled`: those whose missing parent is a new
      entry.
    - `edges`: the irregular links from or to a new entry (`dag.link_edges`).
    - `hint`: that of joins with the logs; `has_stores`: the store of one of them may have rows.
    """

    configured: DataFrame
    nodes: DataFrame
    new_entries: DataFrame
    tails: DataFrame
    filled: DataFrame
    edges: DataFrame
    hint: Hint
    has_stores: bool

    def without(self, namespaces: DataFrame) -> IncrementalInput:
        """Return the input without these logs."""
        configured, new_entries, tails, filled, edges = (
            frame.join(self.hint(namespaces), "namespace", "left_anti")
            for frame in (self.configured, self.new_entries, self.tails, self.filled, self.edges)
        )
        hint, has_stores = self.hint, self.has_stores
        return IncrementalInput(configured, self.nodes, new_entries, tails, filled, edges, hint, has_stores)

    def to_reduce_whole(self, retained: RetainedEntries) -> DataFrame:
        """Give the logs that need all of their entries.

        They become `walk`; or a stored entry of a log that stays sorted got a parent that is not before it by k: its
        clock is not ok any more, and its place may be before the first new entry.
        Gives:  namespace.  Rows: one per such log.
        """
        inverted = dag.walked(self.edges)
        if retained.pruned is None:
            return inverted
        late = self.edges.join(self.filled, ["namespace", "record_id", "parent"], "left_semi")
        return retained.may_walk(inverted).unionByName(dag.walked(late)).distinct()


def read_input(
    changes: DataFrame, retained: RetainedEntries, configured: DataFrame, present: Present, tables: Tables, jobs: Jobs,
    buckets: tuple[int, ...],
) -> IncrementalInput:  # fmt: skip
    """Look up the entries that new entries name and those that name them, in one scan of the entries by id.

    `present` is that of the logs in `configured`.
    """
    listed = retained.listed(changes.select(*NODE_COLUMNS, "ops"), configured)
    new_entries = jobs.checkpoint(listed, "new entries")
    stored = tables.read(TAILS).where(in_buckets(buckets) & (F.col("kind") == "partial"))
    tails = jobs.checkpoint(
        stored.join(retained.hint(configured.select("namespace")), "namespace", "left_semi")
        .select("namespace", "bucket", "record_id", "cid", F.explode("missing").alias("parent")),
        "stored tails",
    )  # fmt: skip
    ids = new_entries.select("namespace", F.col("record_id").alias("parent"))
    filled = jobs.checkpoint(tails.join(ids, ["namespace", "parent"], "left_semi"), "tails with a new parent")
    nodes = retained.nodes(configured, (*dag.NODE, "key"))
    named_links = dag.links(new_entries)
    wanted = (
        named_links.select("namespace", F.col("parent").alias("record_id"))
        .unionByName(filled.select("namespace", "record_id")).distinct()
    )  # fmt: skip
    named = broadcast_if_small(wanted, "affected ids", jobs)
    found = jobs.checkpoint(nodes.join(named, ["namespace", "record_id"], "left_semi"), "affected entries")
    late_children = dag.as_links(
        found.join(filled.select("namespace", "record_id", "parent"), ["namespace", "record_id"])
    )
    all_links = named_links.unionByName(late_children)
    known = found.select(*dag.NODE).unionByName(new_entries.select(*dag.NODE)).distinct()
    edges = jobs.checkpoint(dag.link_edges(all_links, known), "changed links")
    hint, has_stores = retained.hint, present.stores
    return IncrementalInput(configured, nodes, new_entries, tails, filled, edges, hint, has_stores)


def from_changes(
    inputs: IncrementalInput, tables: Tables, jobs: Jobs, buckets: tuple[int, ...]
) -> ReducedRows:
    """Reduce logs that are not in `to_reduce_whole` from their stored state and new entries, or refuse them."""
    new_entries, edges, hint = inputs.new_entries, inputs.edges, inputs.hint
    nodes = inputs.nodes.join(hint(inputs.configured.select("namespace")), "namespace", "left_semi")
    borders = jobs.checkpoint(
        suffix.borders(nodes, inputs.configured, suffix.first_new(new_entries), hint), "places of new entries"
    )
    heads, deleted_heads = _heads(inputs, _stored(tables, HEADS, hint(borders), buckets), jobs)
    tails, deleted_tails, missing = _tails(inputs, jobs)
    first = jobs.row(
        borders.join(links.counted(heads, missing), "namespace", "left").agg(
            F.min("least.time").alias("time"), F.min(F.expr("IF(least IS NOT NULL, before, NULL)")).alias("before"),
            F.max(links.may_be_too_many()).alias("has_too_many"),
        )
    )  # fmt: skip
    if first["has_too_many"] and (refused := links.refused_logs(heads, missing, jobs)):
        rest = from_changes(inputs.without(refused.namespaces), tables, jobs, buckets)
        return replace(rest, refused=refused)
    stored_view = _stored(tables, VIEW, hint(borders), buckets)
    has_new = first["time"] is not None
    tail = nodes.where(F.col("clock_time") >= F.lit(first["time"])) if has_new else nodes.limit(0)
    late = dag.not_ok(edges)
    view = jobs.persist(
        suffix.placed(suffix.from_borders(tail, borders, hint), borders, stored_view, late, hint),
        "order from the first new entry",
    )
    documents_found = _documents(inputs, borders, view, tables, jobs, buckets)
    blocks = order.block_digests(
        suffix.first_block(stored_view, borders, hint).unionByName(
            view.select("namespace", "position", "record_id")
        )
    )
    parts = inputs.configured.join(
        borders.select("namespace", "entries", "kept_blocks", "kept_groups"), "namespace"
    ).withColumn("mode", F.lit("sort"))
    hashed = with_hashes(parts, heads, missing, blocks, documents_found.groups)
    rows = {HEADS: heads, TAILS: tails, VIEW: view, DOCUMENTS: documents_found.rows}
    deletes = {HEADS: deleted_heads, TAILS: deleted_tails}
    hashed = jobs.checkpoint(hashed, "states of changed logs")
    return ReducedRows(rows, deletes, hashed, first_position=first["before"] + 1 if has_new else None)


def _stored(tables: Tables, table: str, named: DataFrame, buckets: tuple[int, ...]) -> DataFrame:
    stored = tables.read(table).where(in_buckets(buckets))
    return stored.join(named.select("namespace"), "namespace", "left_semi")


def _heads(inputs: IncrementalInput, stored: DataFrame, jobs: Jobs) -> tuple[DataFrame, DataFrame]:
    """Return all heads of the logs, and the keys of stored heads that are none any more."""
    named = (
        dag.links(inputs.new_entries).select("namespace", F.col("parent").alias("record_id"))
        .unionByName(inputs.filled.select("namespace", F.col("parent").alias("record_id")))
    )  # fmt: skip
    key = ["namespace", "record_id"]
    candidates = stored.select(*dag.NODE).unionByName(inputs.new_entries.select(*dag.NODE))
    heads = jobs.checkpoint(dag.as_head(candidates.join(named, key, "left_anti")), "heads")
    return heads, stored.select("namespace", "bucket", "record_id").join(named, key, "left_semi")


def _tails(inputs: IncrementalInput, jobs: Jobs) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Return new and changed tails, the keys of stored tails that are none, and all links to missing parents."""
    key, link = ["namespace", "record_id"], ["namespace", "record_id", "parent"]
    remaining = inputs.tails.join(inputs.filled.select(*link), link, "left_anti")
    changed = remaining.join(inputs.filled.select(*key).distinct(), key, "left_semi")
    lacking = inputs.edges.where(F.col("kind") == dag.MISSING).select(*inputs.tails.columns)
    partial = dag.partial(changed.unionByName(lacking))
    tails = jobs.checkpoint(dag.as_tail(dag.roots(inputs.new_entries).unionByName(partial)), "tails")
    deleted = (
        inputs.filled.select("namespace", "bucket", "record_id").distinct().join(remaining, key, "left_anti")
    )
    return tails, deleted, remaining.unionByName(lacking).select("namespace", "parent")


@dataclass(frozen=True, slots=True)
class _Documents:
    """The rows of the keys that new entries affect, and the hashes of the groups that are hashed again."""

    rows: DataFrame
    groups: DataFrame | None


def _documents(
    inputs: IncrementalInput, borders: DataFrame, view: DataFrame, tables: Tables, jobs: Jobs,
    buckets: tuple[int, ...],
) -> _Documents:  # fmt: skip
    if not inputs.has_stores:
        return _Documents(tables.read(DOCUMENTS).limit(0), None)
    stores = inputs.configured.where(logs.has_documents()).select("namespace", "store")
    stored = _stored(tables, DOCUMENTS, inputs.hint(stores), buckets)
    places = view.select("namespace", "record_id", "position")
    key = ["namespace", "document_key"]
    effects = documents.effects(inputs.new_entries, stores, inputs.hint).join(
        places, ["namespace", "record_id"]
    )
    competing = (
        stored.join(effects.select(*key).distinct(), key, "left_semi")
        .join(places, ["namespace", "record_id"], "left")
        .withColumn("position", F.coalesce("position", F.lit(0).cast("bigint")))
    )  # fmt: skip
    rows = jobs.checkpoint(documents.winners(effects.unionByName(competing)), "documents")
    group = documents.group_of(F.col("document_key"))
    changed_groups = rows.select("namespace", group.alias("place")).distinct()
    without_hashes = borders.where("kept_groups IS NULL").select("namespace")
    others = stored.join(rows.select(*key), key, "left_anti").withColumn("place", group)
    of_groups = others.join(changed_groups, ["namespace", "place"], "left_semi").join(
        without_hashes, "namespace", "left_anti"
    )
    of_logs = others.join(without_hashes, "namespace", "left_semi")
    members = of_groups.unionByName(of_logs).drop("place").unionByName(rows)
    return _Documents(rows, documents.group_digests(members))
