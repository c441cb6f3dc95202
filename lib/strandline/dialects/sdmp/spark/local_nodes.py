"""The options of own nodes, read from what the operator gave, and as rows that frames can join."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.ids import bucket_of, namespace
from strandline.dialect_api.info import GivenOption
from strandline.dialect_api.ports import Tables
from strandline.dialects.sdmp.author import LocalNodes
from strandline.dialects.sdmp.codec import named_own_nodes, parse_nodes
from strandline.dialects.sdmp.types import OwnNode


def read_options(given: Mapping[str, Sequence[GivenOption]]) -> LocalNodes:
    """Return what the options say: `nodes` (a file), `restore` and `force-write` (own nodes).

    Raises:
        UsageError: `NODES_INVALID`, `NODE_NOT_OWN`, `NODE_TWICE`.
    """
    nodes: Mapping[str, OwnNode] = {}
    for file in given.get("nodes", ()):
        nodes = parse_nodes(file.content or b"", file.text)
    restore, force = (
        named_own_nodes(f"--{name}", [each.text for each in given.get(name, ())], nodes)
        for name in ("restore", "force-write")
    )
    return LocalNodes(nodes, restore, force)


def local_nodes(choices: object | None) -> LocalNodes:
    """Return the choices of a run, as `read_options` made them; without any no node is own."""
    if choices is None:
        return LocalNodes({})
    if not isinstance(choices, LocalNodes):
        raise TypeError("choices are what this dialect made of its options")
    return choices


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
    """Return the buckets of nodes, ascending: no file of another bucket need be opened for them."""
    return sorted({bucket_of(namespace("node", node), tables.buckets) for node in nodes})


def of_nodes(nodes: Iterable[str], tables: Tables, rows: DataFrame) -> DataFrame:
    """Keep the rows of these nodes; no file of another bucket is opened."""
    nodes = tuple(nodes)
    named = F.broadcast(node_rows(tables, nodes).select("namespace"))
    return rows.where(F.col("bucket").isin(*node_buckets(tables, nodes))).join(
        named, "namespace", "left_semi"
    )


def as_rows(tables: Tables, values: pa.Table) -> DataFrame:
    """Return a few values of the operator as rows."""
    return tables.read("node_resource").sparkSession.createDataFrame(values)
