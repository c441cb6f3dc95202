"""News on top of the stored state: logs in mode `sort` that stay in it, at a cost that follows the news and where
they fall in the order.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.ipfslog.spark import dag, documents, logs, order, suffix
from strandline.dialects.ipfslog.spark.folding import Folded, on_every_machine, with_hashes
from strandline.dialects.ipfslog.spark.retained import NODE_COLUMNS, RetainedEntries
from strandline.dialects.ipfslog.spark.tables import DOCUMENTS, HEADS, TAILS, VIEW

KNOWN = (*dag.NODE, "next")


@dataclass(frozen=True, slots=True)
class Arrived:
    """News of some logs, and what they meet there; all settled.

    `configured` are the logs (`states.LOG`, old_blocks, old_groups), `nodes` all of S (dag.NODE), `fresh` the new
    entries whose writer may write. `tails` are the stored partial tails, one row per missing parent; `adopted`
    those of them that a new entry is the parent of. `bonds` are those of `dag.bonds` but HEAD, of every link from or to
    a new entry.
    """

    configured: DataFrame
    nodes: DataFrame
    fresh: DataFrame
    tails: DataFrame
    adopted: DataFrame
    bonds: DataFrame

    def without(self, namespaces: DataFrame) -> Arrived:
        """Return the news of all other logs."""
        configured, fresh, tails, adopted, bonds = (
            frame.join(F.broadcast(namespaces), "namespace", "left_anti")
            for frame in (self.configured, self.fresh, self.tails, self.adopted, self.bonds)
        )
        return Arrived(configured, self.nodes, fresh, tails, adopted, bonds)


def met(
    news: DataFrame,
    held: RetainedEntries,
    configured: DataFrame,
    tables: Tables,
    jobs: Jobs,
    buckets: tuple[int, ...],
) -> Arrived:
    """Look up what the news name and who named them: one scan of the entries, by their ids."""
    fresh = jobs.checkpoint(logs.listed(news.select(*NODE_COLUMNS, "ops"), configured), "news of logs")
    stored = tables.read(TAILS).where(F.col("bucket").isin(*buckets) & (F.col("kind") == "partial"))
    tails = jobs.checkpoint(
        stored.join(F.broadcast(configured.select("namespace")), "namespace", "left_semi")
        .select("namespace", "bucket", "record_id", "cid", F.explode("missing").alias("parent")),
        "stored tails",
    )  # fmt: skip
    ids = fresh.select("namespace", F.col("record_id").alias("parent"))
    adopted = jobs.checkpoint(
        tails.join(ids, ["namespace", "parent"], "left_semi"), "tails that found a parent"
    )
    nodes = held.nodes(configured, (*dag.NODE, "key"))
    links = dag.links(fresh)
    wanted = (
        links.select("namespace", F.col("parent").alias("record_id"))
        .unionByName(adopted.select("namespace", "record_id")).distinct()
    )  # fmt: skip
    named = on_every_machine(jobs.checkpoint(wanted, "entries that news name"), jobs)
    found = jobs.checkpoint(nodes.join(named, ["namespace", "record_id"], "left_semi"), "entries met")
    late_children = found.join(
        adopted.select("namespace", "record_id", "parent"), ["namespace", "record_id"]
    ).select(*dag.NODE, "parent")
    all_links = links.unionByName(late_children)
    known = found.select(*dag.NODE).unionByName(fresh.select(*dag.NODE)).distinct()
    bonds = jobs.checkpoint(dag.link_bonds(all_links, known), "links of news")
    return Arrived(configured, nodes, fresh, tails, adopted, bonds)


def from_news(arrived: Arrived, tables: Tables, jobs: Jobs, buckets: tuple[int, ...]) -> Folded:
    """Reduce logs from their stored state and the news, none of which turns its log to `walk`."""
    fresh, bonds = arrived.fresh, arrived.bonds
    nodes = arrived.nodes.join(F.broadcast(arrived.configured.select("namespace")), "namespace", "left_semi")
    borders = jobs.checkpoint(
        suffix.borders(nodes, arrived.configured, suffix.first_news(fresh)), "where news fall"
    )
    first = jobs.row(
        borders.where("least IS NOT NULL").agg(
            F.min("least.time").alias("time"), F.min("before").alias("before")
        )
    )
    stored_view = _stored(tables, VIEW, borders, buckets)
    has_news = first["time"] is not None
    tail = nodes.where(F.col("clock_time") >= F.lit(first["time"])) if has_news else nodes.limit(0)
    late = dag.not_ok(bonds)
    view = jobs.persist(
        suffix.placed(suffix.from_borders(tail, borders), borders, stored_view, late), "order behind the news"
    )
    heads, deleted_heads = _heads(arrived, _stored(tables, HEADS, borders, buckets), jobs)
    tails, deleted_tails, missing = _tails(arrived, jobs)
    documents_found = _documents(arrived, borders, view, tables, jobs, buckets)
    blocks = order.block_digests(
        suffix.first_block(stored_view, borders).unionByName(
            view.select("namespace", "position", "record_id")
        )
    )
    parts = arrived.configured.join(
        borders.select("namespace", "entries", "kept_blocks", "kept_groups"), "namespace"
    ).withColumn("mode", F.lit("sort"))
    hashed = with_hashes(parts, heads, missing, blocks, documents_found.groups)
    rows = {HEADS: heads, TAILS: tails, VIEW: view, DOCUMENTS: documents_found.rows}
    deletes = {HEADS: deleted_heads, TAILS: deleted_tails}
    hashed = jobs.checkpoint(hashed, "states of logs with news")
    return Folded(rows, deletes, hashed, first_position=first["before"] + 1 if has_news else None)


def _stored(tables: Tables, table: str, borders: DataFrame, buckets: tuple[int, ...]) -> DataFrame:
    stored = tables.read(table).where(F.col("bucket").isin(*buckets))
    return stored.join(F.broadcast(borders.select("namespace")), "namespace", "left_semi")


def _heads(arrived: Arrived, stored: DataFrame, jobs: Jobs) -> tuple[DataFrame, DataFrame]:
    """All heads of the logs, and the keys of those that are none any more."""
    named = (
        dag.links(arrived.fresh).select("namespace", F.col("parent").alias("record_id"))
        .unionByName(arrived.adopted.select("namespace", F.col("parent").alias("record_id")))
    )  # fmt: skip
    key = ["namespace", "record_id"]
    candidates = stored.select(*dag.NODE).unionByName(arrived.fresh.select(*dag.NODE))
    heads = jobs.checkpoint(dag.as_head(candidates.join(named, key, "left_anti")), "heads")
    return heads, stored.select("namespace", "bucket", "record_id").join(named, key, "left_semi")


def _tails(arrived: Arrived, jobs: Jobs) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Tails that changed or are new, the keys of those that are none any more, and all that the logs miss."""
    key, link = ["namespace", "record_id"], ["namespace", "record_id", "parent"]
    left = arrived.tails.join(arrived.adopted.select(*link), link, "left_anti")
    changed = left.join(arrived.adopted.select(*key).distinct(), key, "left_semi")
    lacking = arrived.bonds.where(F.col("kind") == dag.MISSING).select(*arrived.tails.columns)
    partial = dag.partial(changed.unionByName(lacking))
    tails = jobs.checkpoint(dag.as_tail(dag.roots(arrived.fresh).unionByName(partial)), "tails")
    deleted = (
        arrived.adopted.select("namespace", "bucket", "record_id").distinct().join(left, key, "left_anti")
    )
    every = left.unionByName(lacking).groupBy("namespace").agg(F.collect_set("parent").alias("missing"))
    return tails, deleted, every


@dataclass(frozen=True, slots=True)
class _Documents:
    """Rows of the keys that the news say something about, and the hashes of the groups that are made anew."""

    rows: DataFrame
    groups: DataFrame | None


def _documents(
    arrived: Arrived,
    borders: DataFrame,
    view: DataFrame,
    tables: Tables,
    jobs: Jobs,
    buckets: tuple[int, ...],
) -> _Documents:
    stores = arrived.configured.where(logs.has_documents()).select("namespace", "store")
    if not jobs.has_rows(stores):
        return _Documents(tables.read(DOCUMENTS).limit(0), None)
    stored = _stored(tables, DOCUMENTS, stores, buckets)
    places = view.select("namespace", "record_id", "position")
    key = ["namespace", "document_key"]
    effects = documents.effects(arrived.fresh, stores).join(places, ["namespace", "record_id"])
    rivals = (
        stored.join(effects.select(*key).distinct(), key, "left_semi")
        .join(places, ["namespace", "record_id"], "left")
        .withColumn("position", F.coalesce("position", F.lit(0).cast("bigint")))
    )  # fmt: skip
    rows = jobs.checkpoint(documents.winners(effects.unionByName(rivals)), "documents")
    group = documents.group_of(F.col("document_key"))
    hashed_anew = rows.select("namespace", group.alias("place")).distinct()
    whole = borders.where("kept_groups IS NULL").select("namespace")
    others = stored.join(rows.select(*key), key, "left_anti").withColumn("place", group)
    of_groups = others.join(hashed_anew, ["namespace", "place"], "left_semi").join(
        whole, "namespace", "left_anti"
    )
    of_logs = others.join(whole, "namespace", "left_semi")
    again = of_groups.unionByName(of_logs).drop("place").unionByName(rows)
    return _Documents(rows, documents.group_digests(again))
