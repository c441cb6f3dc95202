"""The writer of local journals: which nodes it stops for, and the lines of one commit.

Source: node journal rules, section "Writing an own journal".
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialect_api.journals import AuthorScope, NextCommit
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import journal_rows
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_rows, only_nodes
from strandline.dialects.sdmp.spark.peers import named_by_peers
from strandline.dialects.sdmp.spark.resources import PAIR
from strandline.dialects.sdmp.spark.tables import LINES, RESOURCES
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.lift import map_batches
from strandline.frames.union import union

ORDER = ("is_new", "peer", "ingest_no", "unordered", "seq", "line", "digest", "pos")
"""The writing order: resources that a node holds, then pairs of peers. The former by run, seq (null last), frame,
place in the frame; the latter by peer, n, record id.
"""


def stopped(options: object, tables: Tables, jobs: Jobs, version: int) -> Mapping[str, tuple[str, ...]]:
    """Return the local nodes whose writer must stop now, by fingerprint, each with its codes, sorted.

    Every local node is checked, with or without pending pairs, except those that the operator forces.
    - `OWN_JOURNAL_FORKED`: the journal has more lines than positions, so it has several leaves;
    - `OWN_JOURNAL_BEHIND`: `quarantine` has a refused or deferred line of the node that is not stored.
    """
    local = local_nodes(options)
    checked = [node for node in local.nodes if node not in local.force]
    if not checked:
        return {}
    nodes = node_rows(tables, checked)
    lines = only_nodes(checked, tables, tables.read_version(LINES, version))
    counted = lines.groupBy("namespace").agg(F.count(F.lit(1)).alias("lines"), F.max("n").alias("top_n"))
    found = counted.where("lines > top_n").select("namespace", F.lit("OWN_JOURNAL_FORKED").alias("code"))
    stops = (F.col("status") == "deferred") | F.array_contains("reasons", "OWN_LINE_NOT_HELD")
    quarantined = (
        tables.read(QUARANTINE).where((F.col("dialect") == DIALECT) & stops)
        .join(F.broadcast(nodes), "namespace", "left_semi").select("namespace", "record_id")
    )  # fmt: skip
    if jobs.has_rows(quarantined):
        stored = lines.select("namespace", "record_id")
        missing = quarantined.join(stored, ["namespace", "record_id"], "left_anti")
        behind = missing.select("namespace", F.lit("OWN_JOURNAL_BEHIND").alias("code")).distinct()
        found = found.unionByName(behind)
    rows = jobs.row(found.agg(F.collect_list(F.struct("namespace", "code")).alias("rows")))["rows"]
    codes: dict[str, list[str]] = {}
    for row in sorted(rows):
        codes.setdefault(row["namespace"].partition(":")[2], []).append(row["code"])
    return {node: tuple(each) for node, each in codes.items()}


def next_commit(options: object, tables: Tables, jobs: Jobs, scope: AuthorScope) -> NextCommit | None:
    """Return the lines that one commit adds to the journals of the nodes that are not stopped, or None.

    At most `limit` lines per node, in writing order, after the tip of its trunk as of `scope.version`. Pairs in
    journals of peers as of `scope.start` come last, and only in profile 0.9: 0.12 forbids writing a pair before its
    resource was received and verified, so such pairs stay in `wanted_resource`.
    """
    local = local_nodes(options)
    writers = [node for node in local.nodes if node not in scope.stopped]
    if not writers:
        return None
    nodes = node_rows(tables, writers)
    lines = only_nodes(writers, tables, tables.read_version(LINES, scope.version))
    resources = only_nodes(writers, tables, tables.read(RESOURCES))
    found = [_pending(resources, lines)]
    with_peers = [node for node in writers if local.nodes[node].profile == "0.9" and local.nodes[node].peers]
    if scope.start is not None and with_peers:
        named = named_by_peers(local, with_peers, tables, scope.start).where("taken")
        found.append(_new_pairs(named, lines, resources))
    # Persisted because of what they come from: joins of all that nodes hold with all that they have written.
    pending = jobs.persist(union(found), "pairs to write")
    counts = pending.groupBy("namespace").agg(F.count(F.lit(1)).alias("pairs"))
    journals = jobs.checkpoint(_ends(nodes, lines).join(counts, "namespace"), "tips")
    total = jobs.row(
        journals.agg(
            F.sum(F.least("pairs", F.lit(local.limit))).alias("authored"),
            F.count(F.when(_has_no_line(), 1)).alias("first"),
            F.collect_set("bucket").alias("buckets"),
            F.min("next_n").alias("low"),
            F.max("next_n").alias("high"),
            F.max(F.col("pairs") > local.limit).alias("is_cut"),
        )
    )
    if not total["authored"]:
        return None
    return NextCommit(
        _new_lines(pending, journals, local.limit), tuple(sorted(total["buckets"])), (total["low"], total["high"]),
        total["authored"] + total["first"], total["authored"], whole=not total["is_cut"],
    )  # fmt: skip


def _pending(resources: DataFrame, lines: DataFrame) -> DataFrame:
    """Keep the resources that are on no line of their node.

    Reads:  resources: the columns of `node_resource`; lines: the pair columns.
    Gives:  PAIR and ORDER.
    Rows:   at most one per row.
    """
    unwritten = resources.join(_pairs(lines), list(PAIR), "left_anti")
    return unwritten.select(
        *PAIR,
        F.lit(False).alias("is_new"),
        F.lit("").alias("peer"),
        "ingest_no",
        F.col("seq").isNull().alias("unordered"),
        "seq",
        F.col("frame_no").alias("line"),
        F.col("frame_hash").alias("digest"),
        "pos",
    )


def _new_pairs(named: DataFrame, lines: DataFrame, resources: DataFrame) -> DataFrame:
    """Keep the pairs of peers that are neither on a line of the local node nor a resource that it holds.

    Reads:  named: PAIR, peer, n, record_id; lines and resources: the pair columns.
    Gives:  PAIR and ORDER.
    Rows:   one per (namespace, pair): that of the least peer, n, record id.
    """
    missing = named.join(_pairs(lines), list(PAIR), "left_anti")
    unknown = missing.join(_pairs(resources), list(PAIR), "left_anti")
    first = unknown.groupBy(*PAIR).agg(F.min(F.struct("peer", "n", "record_id")).alias("first"))
    return first.select(
        *PAIR,
        F.lit(True).alias("is_new"),
        "first.peer",
        F.lit(0).cast("bigint").alias("ingest_no"),
        F.lit(False).alias("unordered"),
        F.lit(None).cast("decimal(20,0)").alias("seq"),
        F.col("first.n").alias("line"),
        F.col("first.record_id").alias("digest"),
        F.lit(0).alias("pos"),
    )


def _pairs(rows: DataFrame) -> DataFrame:
    return rows.where("author_fp IS NOT NULL").select(*PAIR)


def _ends(nodes: DataFrame, lines: DataFrame) -> DataFrame:
    """Give the end of each local journal: the tip of its trunk, or the fingerprint if no line is stored.

    Reads:  nodes: node, namespace, bucket; lines: the lines of these nodes.
    Gives:  namespace, bucket, tip_line (null if no line is stored), next_n (the position after the tip).
    Rows:   one per node.
    """
    tops = lines.groupBy("namespace").agg(F.max("n").alias("n"))
    tips = journal_rows.tips(
        journal_rows.as_tip(lines.join(F.broadcast(tops), ["namespace", "n"], "left_semi"))
    )
    return nodes.join(tips.select("namespace", "tip_n", "tip_line"), "namespace", "left").select(
        "namespace", "bucket", "tip_line", (F.coalesce("tip_n", F.lit(0)) + 1).cast("bigint").alias("next_n")
    )


def _has_no_line() -> Column:
    return F.col("next_n") == 1


def _new_lines(pairs: DataFrame, journals: DataFrame, limit: int) -> DataFrame:
    """Make the lines that continue each journal: those of its first pairs in the writing order, at most `limit`.

    A journal without stored lines begins with line 1, which has no pair.

    Reads:  pairs: PAIR and ORDER; journals: `_ends`.
    Gives:  the columns of `node_journal_line` without those that the writing run adds, and next_n.
    Rows:   those of a bucket in one partition, in the write order of the table.
    """
    first = journals.where(_has_no_line()).select("namespace")
    # A null is less than any value: line 1 comes first.
    rows = pairs.unionByName(first, allowMissingColumns=True).join(F.broadcast(journals), "namespace")
    order = Window.partitionBy("bucket", "namespace").orderBy(*ORDER)
    placed = rows.repartition("bucket").withColumn("place", F.row_number().over(order).cast("bigint"))
    has_pair = F.col("author_fp").isNotNull()
    # Nothing may be shuffled from here on: the kernel needs the rows of a journal one after the other.
    continued = placed.where(F.col("place") <= limit + F.when(_has_no_line(), 1).otherwise(0)).select(
        "namespace", "bucket", (F.col("next_n") + F.col("place") - 1).alias("n"), "author_fp", "resource_id",
        F.when(~has_pair, "implied").when(F.col("is_new"), "synced").otherwise("announced").alias("origin"),
        "next_n", F.when(F.col("place") == 1, F.col("tip_line")).alias("tip_line"),
    )  # fmt: skip
    made = map_batches(continued, kernels.write_lines, kernels.WRITTEN_SCHEMA)
    return made.withColumn("source", F.lit(None).cast("string"))
