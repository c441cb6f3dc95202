"""Reduction of logs from all of their entries."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialect_api.refusals import Refusal, Refused, refused, together
from strandline.dialects.ipfslog.spark import dag, documents, links, logs, order
from strandline.dialects.ipfslog.spark.logs import Present
from strandline.dialects.ipfslog.spark.reduced_rows import ReducedRows, stored_strays, with_hashes
from strandline.dialects.ipfslog.spark.retained import RetainedEntries
from strandline.dialects.ipfslog.spark.tables import DOCUMENTS, HEADS, TAILS, VIEW


def from_all(
    retained: RetainedEntries, configured: DataFrame, present: Present, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> ReducedRows:  # fmt: skip
    """Reduce logs from all of their entries.

    Reads:  configured: `states.LOG`, is_known (rows of the log may be stored), of these logs, as a checkpoint; present:
            of these logs, or of more.
    A log with more heads and missing parents than one task hashes, or with more entries than may be walked, is left out
    and refused.
    """
    nodes = retained.nodes(configured)
    edges, counted, found = _counted(dag.edges(nodes), jobs)
    if found["is_unsure"]:
        edges, counted, found = _counted(dag.settled(edges, nodes), jobs)
    inverted = counted.where("is_inverted").select("namespace")
    walked = jobs.checkpoint(retained.may_walk(inverted), "logs to walk")
    has_walks = bool(found["is_inverted"]) and (retained.pruned is None or jobs.has_rows(walked))
    left_out = None
    if found["has_too_many"]:
        of_heads, of_missing = (edges.where(F.col("kind") == kind) for kind in (dag.HEAD, dag.MISSING))
        left_out = links.refused_logs(of_heads, of_missing, jobs)
    if has_walks:
        walks = walked if left_out is None else left_out.others(walked)
        left_out = together((left_out, _too_long(nodes, retained.hint(walks), jobs, scope)))
    if left_out is not None:
        nodes, edges, walked, configured = map(left_out.others, (nodes, edges, walked, configured))
    view = jobs.persist(_view(nodes, edges, retained.hint(walked) if has_walks else None), "order")
    heads = jobs.checkpoint(dag.as_head(edges.where(F.col("kind") == dag.HEAD)), "heads")
    lacking = edges.where(F.col("kind") == dag.MISSING)
    tails = jobs.checkpoint(dag.as_tail(dag.roots(nodes).unionByName(dag.partial(lacking))), "tails")
    rows = {HEADS: heads, TAILS: tails, VIEW: view}
    stores = configured.where(logs.has_documents()).select("namespace", "store", "list_id")
    groups = None
    if present.stores:
        columns = ("namespace", "bucket", "record_id", "writer", "key", "ops")
        listed = retained.listed(retained.entries.select(*columns), stores)
        effects = documents.effects(listed, stores, retained.hint)
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
    missing = lacking.select("namespace", "parent")
    hashed = with_hashes(parts, heads, missing, order.block_digests(view), groups)
    deletes = stored_strays(rows, configured, tables, retained.hint) if present.stored else {}
    return ReducedRows(rows, deletes, jobs.checkpoint(hashed, "states of logs"), left_out)


def _counted(edges: DataFrame, jobs: Jobs) -> tuple[DataFrame, DataFrame, Row]:
    """Return the edges and `dag.counted` as checkpoints, and what there is among these."""
    edges = jobs.checkpoint(edges, "links")
    counted = jobs.checkpoint(dag.counted(edges), "links of logs")
    found = jobs.row(
        counted.agg(
            F.max("is_inverted").alias("is_inverted"), F.max("is_unsure").alias("is_unsure"),
            F.max(links.may_be_too_many()).alias("has_too_many"),
        )
    )  # fmt: skip
    return edges, counted, found


def _too_long(nodes: DataFrame, walked: DataFrame, jobs: Jobs, scope: ReduceScope) -> Refused | None:
    """Refuse the logs with more entries than may be walked."""

    def refusal(log: Row) -> Refusal:
        return Refusal(
            log["namespace"],
            f"The log {log['namespace']} has {log['entries']:,} entries, and clocks of some contradict their links: "
            f"its order needs a walk, and limits.walk_entries allows {scope.walk_entries:,} entries.",
        )

    of_walked = nodes.join(walked, "namespace", "left_semi")
    sizes = of_walked.groupBy("namespace").agg(F.count(F.lit(1)).alias("entries"))
    return refused(sizes.where(F.col("entries") > scope.walk_entries), jobs, refusal)


def _view(nodes: DataFrame, edges: DataFrame, walked: DataFrame | None) -> DataFrame:
    late = dag.not_ok(edges).withColumn("clock_ok", F.lit(False))
    places = order.ranked(nodes).join(late, ["namespace", "record_id"], "left")
    places = places.withColumn("clock_ok", F.coalesce("clock_ok", F.lit(True)))
    if walked is None:
        return order.as_view(places.withColumns({"position": F.col("rank"), "mode": F.lit("sort")}))
    by_rank = places.join(walked, "namespace", "left_anti")
    others = places.join(walked, "namespace", "left_semi")
    positions = order.walk_positions(nodes.join(walked, "namespace", "left_semi"), others)
    walks = others.join(positions, ["namespace", "rank"])
    return order.as_view(by_rank.withColumns({"position": F.col("rank"), "mode": F.lit("sort")})).unionByName(
        order.as_view(walks.withColumn("mode", F.lit("walk")))
    )


def _modes(configured: DataFrame, walked: DataFrame) -> DataFrame:
    marked = walked.withColumn("mode", F.lit("walk"))
    return (
        configured.select("namespace").join(marked, "namespace", "left")
        .withColumn("mode", F.coalesce("mode", F.lit("sort")))
    )  # fmt: skip
