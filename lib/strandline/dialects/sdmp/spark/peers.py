"""What own nodes know of their peers: links and authors from the operator's file, and the rows that follow.

Source: node journal rules, section "Synchronisation as a table operation".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.ids import bucket_of, namespace
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp.author import LocalNodes
from strandline.dialects.sdmp.spark import peer_rows
from strandline.dialects.sdmp.spark.local_nodes import as_rows, local_nodes, node_rows, of_nodes
from strandline.dialects.sdmp.spark.positions import JOURNALS, LINES
from strandline.dialects.sdmp.spark.resources import PAIR
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.quarantine import deferred


def links(own: LocalNodes, nodes: Collection[str], tables: Tables) -> DataFrame:
    """Return namespace, bucket, peer, peer_namespace, user_fp, takes_all: one row per peer of these own nodes."""
    rows = [
        (namespace("node", node), peer, namespace("node", peer), user, own.nodes[node].record == "all")
        for node in sorted(nodes)
        for peer, user in own.nodes[node].peers.items()
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


def named_by_peers(own: LocalNodes, nodes: Collection[str], tables: Tables, version: int) -> DataFrame:
    """Return what the journals of peers of these own nodes name as of a version (`frames.peers.named`)."""
    rows = [
        (namespace("node", node), author)
        for node in sorted(nodes)
        for author in sorted(own.nodes[node].authors or ())
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
    peers = {peer for node in nodes for peer in own.nodes[node].peers}
    lines = of_nodes(peers, tables, tables.read_version(LINES, version))
    return peer_rows.named(links(own, nodes, tables), authors, lines)


def peers(choices: object, tables: Tables, jobs: Jobs, version: int) -> Mapping[str, DataFrame]:
    """Return all rows of `peer_status` and `wanted_resource`; `node_journal` was reduced from this version."""
    own = local_nodes(choices)
    nodes = tuple(own.nodes)
    every_peer = {peer for node in nodes for peer in own.nodes[node].peers}
    journals = of_nodes(every_peer, tables, tables.read(JOURNALS))
    lines = tables.read_version(LINES, version)
    waiting = (
        of_nodes(every_peer, tables, deferred(tables.read("quarantine"), DIALECT))
        .groupBy("namespace").agg(F.count(F.lit(1)).alias("deferred_lines"))
    )  # fmt: skip
    named = jobs.persist(named_by_peers(own, nodes, tables, version), "named pairs")
    recorded = of_nodes(nodes, tables, lines).where("n > 1").select(*PAIR).distinct()
    off_trunk_lines = peer_rows.off_trunk(journals, of_nodes(every_peer, tables, lines))
    held = of_nodes(nodes, tables, tables.read("node_resource"))
    missing = peer_rows.gaps(named, recorded, off_trunk_lines)
    statuses = peer_rows.as_peer_status(links(own, nodes, tables), journals, missing, waiting)
    wanted = peer_rows.as_wanted_resource(named, recorded, held, node_rows(tables, nodes))
    return {"peer_status": statuses, "wanted_resource": wanted}
