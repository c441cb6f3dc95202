"""What local nodes know of the journals of their peers, and what they lack of them.

Source: node journal rules, section "Synchronisation as a table operation".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import QUARANTINE
from strandline.core.ids import bucket_of, namespace
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.author import LocalNodes
from strandline.dialects.sdmp.spark.line_columns import line_hash
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_rows, only_nodes
from strandline.dialects.sdmp.spark.resources import PAIR
from strandline.dialects.sdmp.spark.tables import JOURNALS, LINES, PEER_STATUSES, RESOURCES, WANTED, as_rows
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.lift import map_batches
from strandline.frames.quarantine import deferred


def _links(local: LocalNodes, nodes: Collection[str], tables: Tables) -> DataFrame:
    """Return the peers of these local nodes.

    Gives:  namespace, bucket, peer, peer_namespace, user_fp, takes_all (BOOLEAN: pairs of any author are taken).
    Rows:   one per local node and peer.
    """
    rows = [
        (namespace("node", node), peer, namespace("node", peer), user, local.nodes[node].record == "all")
        for node in sorted(nodes)
        for peer, user in local.nodes[node].peers.items()
    ]
    columns = list(zip(*rows, strict=True)) or [()] * 5
    return as_rows(
        tables,
        pa.table(
            {
                "namespace": pa.array(columns[0], pa.string()),
                "bucket": pa.array([bucket_of(row[0], tables.buckets) for row in rows], pa.int32()),
                "peer": pa.array(columns[1], pa.string()),
                "peer_namespace": pa.array(columns[2], pa.string()),
                "user_fp": pa.array(columns[3], pa.string()),
                "takes_all": pa.array(columns[4], pa.bool_()),
            }
        ),
    )


def named_by_peers(local: LocalNodes, nodes: Collection[str], tables: Tables, version: int) -> DataFrame:
    """Return the pairs in the journals of peers of these local nodes, as of a version of the lines: see `_named`."""
    rows = [
        (namespace("node", node), author)
        for node in sorted(nodes)
        for author in sorted(local.nodes[node].authors or ())
    ]
    authors = as_rows(
        tables,
        pa.table(
            {
                "namespace": pa.array([row[0] for row in rows], pa.string()),
                "author_fp": pa.array([row[1] for row in rows], pa.string()),
            }
        ),
    )
    peers = {peer for node in nodes for peer in local.nodes[node].peers}
    lines = only_nodes(peers, tables, tables.read_version(LINES, version))
    return _named(_links(local, nodes, tables), authors, lines)


def peers(options: object, tables: Tables, jobs: Jobs, version: int) -> Mapping[str, DataFrame]:
    """Return all rows of `peer_status` and `wanted_resource`; `node_journal` was reduced from this version."""
    local = local_nodes(options)
    nodes = tuple(local.nodes)
    every_peer = {peer for node in nodes for peer in local.nodes[node].peers}
    journals = only_nodes(every_peer, tables, tables.read(JOURNALS))
    lines = tables.read_version(LINES, version)
    waiting = (
        only_nodes(every_peer, tables, deferred(tables.read(QUARANTINE), DIALECT))
        .groupBy("namespace").agg(F.count(F.lit(1)).alias("deferred_lines"))
    )  # fmt: skip
    named = jobs.persist(named_by_peers(local, nodes, tables, version), "named pairs")
    recorded = only_nodes(nodes, tables, lines).where("n > 1").select(*PAIR).distinct()
    off_trunk_lines = off_trunk(journals, only_nodes(every_peer, tables, lines))
    resources = only_nodes(nodes, tables, tables.read(RESOURCES))
    missing = _missing(named, recorded, off_trunk_lines)
    statuses = _as_peer_status(_links(local, nodes, tables), journals, missing, waiting)
    wanted = _as_wanted_resource(named, recorded, resources, node_rows(tables, nodes))
    return {PEER_STATUSES: statuses, WANTED: wanted}


def off_trunk(journals: DataFrame, lines: DataFrame) -> DataFrame:
    """Find the lines of forked journals that are not on the trunk.

    Reads:  journals: namespace, tip_hash, fork_count, common_n of `node_journal`; lines of these journals.
    Gives:  namespace, line_hash.
    Rows:   one per such line.
    """
    forked = journals.where("fork_count > 0").select("namespace", "tip_hash", "common_n")
    disputed = lines.join(F.broadcast(forked), "namespace").where("n > common_n")
    columns = ("namespace", "n", "tip_hash", "line_hash", "line_number")
    last_first = (
        disputed.select(*columns).repartition("namespace").sortWithinPartitions("namespace", F.desc("n"))
    )
    return map_batches(last_first, kernels.off_trunk, kernels.OFF_TRUNK_SCHEMA)


def _named(links: DataFrame, authors: DataFrame, lines: DataFrame) -> DataFrame:
    """Give every pair in the journal of a peer, for each local node that has this peer.

    Reads:  links: `_links`; authors: namespace, author_fp; lines of the peers.
    Gives:  PAIR, peer, n, record_id, line_hash, peer_namespace, taken (BOOLEAN: the local node's `record` includes
            the author).
    Rows:   one per link and line except line 1, on all branches.
    """
    of_peers = lines.where("n > 1").select(
        F.col("namespace").alias("peer_namespace"), "author_fp", "resource_id", "n", "record_id", "line_hash"
    )
    linked = F.broadcast(links.select("namespace", "peer", "peer_namespace", "takes_all"))
    known = F.broadcast(authors.withColumn("connected", F.lit(True)))
    return (
        of_peers.join(linked, "peer_namespace")
        .join(known, ["namespace", "author_fp"], "left")
        .select(
            *PAIR, "peer", "n", "record_id", "line_hash", "peer_namespace",
            (F.col("takes_all") | F.coalesce("connected", F.lit(False))).alias("taken"),
        )
    )  # fmt: skip


def _missing(pairs: DataFrame, recorded: DataFrame, off_trunk_lines: DataFrame) -> DataFrame:
    """Count the pairs of each peer that local journals lack.

    Reads:  pairs: `_named`; recorded: pairs on lines of local nodes; off_trunk_lines: `off_trunk`.
    Gives:  namespace, peer, unrecorded (distinct pairs), gap_n (least n of such a pair on the peer's trunk, or null).
    Rows:   one per local node and peer with such a pair.
    """
    lacking = pairs.where("taken").join(recorded, list(PAIR), "left_anti")
    marked = off_trunk_lines.select(
        F.col("namespace").alias("peer_namespace"), "line_hash", F.lit(True).alias("is_off_trunk")
    )
    placed = lacking.join(marked, ["peer_namespace", "line_hash"], "left")
    on_trunk = F.when(F.col("is_off_trunk").isNull(), F.col("n"))
    distinct = placed.groupBy("namespace", "peer", "author_fp", "resource_id").agg(F.min(on_trunk).alias("n"))
    return distinct.groupBy("namespace", "peer").agg(
        F.count(F.lit(1)).alias("unrecorded"), F.min("n").alias("gap_n")
    )


def _as_peer_status(
    links: DataFrame, journals: DataFrame, missing: DataFrame, waiting: DataFrame
) -> DataFrame:
    """Shape links to the contract of `peer_status`.

    Reads:  links: `_links`; journals: `node_journal`; missing: `_missing`; waiting: namespace, deferred_lines.
    Gives:  the columns of `peer_status`.
    Rows:   one per link.
    """
    known = journals.select(
        F.col("namespace").alias("peer_namespace"),
        "tip_n",
        "tip_number",
        "tip_line",
        "tip_hash",
        "fork_count",
    )
    waits = waiting.withColumnRenamed("namespace", "peer_namespace")
    joined = (
        links.join(known, "peer_namespace", "left")
        .join(missing, ["namespace", "peer"], "left")
        .join(waits, "peer_namespace", "left")
    )
    zero = F.lit(0).cast("bigint")
    last_known_n = F.coalesce("tip_n", F.lit(1).cast("bigint"))
    deferred = F.coalesce("deferred_lines", zero)
    return joined.select(
        "namespace",
        "bucket",
        "peer",
        "user_fp",
        last_known_n.alias("last_known_n"),
        F.col("tip_number").alias("last_known_number"),
        F.coalesce("tip_line", "peer").alias("last_known_line"),
        F.coalesce("tip_hash", line_hash(F.col("peer").cast("binary"), F.col("peer"))).alias(
            "last_known_hash"
        ),
        F.coalesce(F.col("gap_n") - 1, last_known_n).alias("recorded_n"),
        F.coalesce("unrecorded", zero).alias("unrecorded"),
        deferred.alias("deferred_lines"),
        ((deferred > 0) | (F.coalesce("fork_count", zero) > 0)).alias("diverged"),
    )


def _as_wanted_resource(
    pairs: DataFrame, recorded: DataFrame, resources: DataFrame, nodes: DataFrame
) -> DataFrame:
    """Shape the resources that local nodes want to the contract of `wanted_resource`.

    Reads:  pairs: `_named`; recorded: pairs on lines of local nodes; resources: pairs that they hold; nodes:
            namespace, bucket.
    Gives:  the columns of `wanted_resource`.
    Rows:   one per pair in the local journal, or in a peer's journal and taken, whose resource the node does not
            hold.
    """
    no_peer = F.lit(None).cast("string").alias("peer")
    ours = recorded.select(*PAIR, no_peer, F.lit(True).alias("wants"), F.lit(True).alias("recorded"))
    theirs = pairs.select(*PAIR, "peer", F.col("taken").alias("wants"), F.lit(False).alias("recorded"))
    every_pair = ours.unionByName(theirs).groupBy(*PAIR).agg(
        F.array_sort(F.collect_set("peer")).alias("named_by"),
        F.max("wants").alias("wants"),
        F.max("recorded").alias("recorded"),
    )  # fmt: skip
    wanted = every_pair.where("wants").join(resources.select(*PAIR), list(PAIR), "left_anti")
    return wanted.join(F.broadcast(nodes.select("namespace", "bucket")), "namespace").select(
        "namespace", "bucket", "author_fp", "resource_id", "named_by", "recorded"
    )
