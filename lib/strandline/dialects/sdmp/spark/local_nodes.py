"""The options of local nodes, parsed from what the operator gave, and as rows for joins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.ids import bucket_of, namespace
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.ports import Tables
from strandline.dialects.sdmp.author import LocalNodes
from strandline.dialects.sdmp.codec import named_local_nodes, parse_nodes
from strandline.dialects.sdmp.spark.tables import as_rows
from strandline.dialects.sdmp.types import LocalNode
from strandline.frames.buckets import in_buckets


def read_options(given: Mapping[str, Sequence[GivenOption]]) -> LocalNodes:
    """Return the local nodes and options of a run: `nodes` (a file), `restore` and `force-write` (local nodes).

    Raises:
        UsageError: `NODES_INVALID`, `NODE_NOT_OWN`, `NODE_TWICE`.
    """
    nodes: Mapping[str, LocalNode] = {}
    for file in given.get("nodes", ()):
        nodes = parse_nodes(file.content or b"", file.text)
    restore, force = (
        named_local_nodes(f"--{name}", [each.text for each in given.get(name, ())], nodes)
        for name in ("restore", "force-write")
    )
    return LocalNodes(nodes, restore, force)


def local_nodes(options: object | None) -> LocalNodes:
    """Return the options of a run, as `read_options` returned them; None means that no node is local."""
    if options is None:
        return LocalNodes({})
    if not isinstance(options, LocalNodes):
        raise TypeError("options must be what read_options returned")
    return options


def node_rows(tables: Tables, nodes: Iterable[str]) -> DataFrame:
    """Return node, namespace and bucket of each node."""
    names = [(node, namespace("node", node)) for node in sorted(nodes)]
    return as_rows(
        tables,
        pa.table(
            {
                "node": pa.array([node for node, _ in names], pa.string()),
                "namespace": pa.array([name for _, name in names], pa.string()),
                "bucket": pa.array([bucket_of(name, tables.buckets) for _, name in names], pa.int32()),
            }
        ),
    )


def node_buckets(tables: Tables, nodes: Iterable[str]) -> list[int]:
    """Return the buckets of nodes, sorted; files of other buckets need not be opened for these nodes."""
    return sorted({bucket_of(namespace("node", node), tables.buckets) for node in nodes})


def only_nodes(nodes: Iterable[str], tables: Tables, rows: DataFrame) -> DataFrame:
    """Keep the rows of these nodes; no file of another bucket is opened."""
    nodes = tuple(nodes)
    named = F.broadcast(node_rows(tables, nodes).select("namespace"))
    return rows.where(in_buckets(node_buckets(tables, nodes))).join(named, "namespace", "left_semi")
