"""The writer of own journals: for which nodes it stops, and what one commit adds.

Source: node journal rules, section "Writing an own journal".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.journals import AuthorScope, NextCommit
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp.spark import next_lines
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, node_rows, of_nodes
from strandline.dialects.sdmp.spark.peers import named_by_peers
from strandline.dialects.sdmp.spark.positions import LINES
from strandline.dialects.sdmp.types import DIALECT

RESOURCES = "node_resource"


def stopped(choices: object, tables: Tables, jobs: Jobs, version: int) -> Mapping[str, tuple[str, ...]]:
    """Return the codes of the own nodes on whose journals nothing may be written now, by fingerprint, ascending.

    Asked of every own node, whether anything is pending or not; those that the operator forces are left out.
    - `OWN_JOURNAL_FORKED`: the journal has several leaves: it has more lines than positions;
    - `OWN_JOURNAL_BEHIND`: `quarantine` shows a line of the node that is not held, refused or waiting.
    """
    own = local_nodes(choices)
    asked = [node for node in own.nodes if node not in own.force]
    if not asked:
        return {}
    nodes = node_rows(tables, asked)
    lines = of_nodes(asked, tables, tables.read_version(LINES, version))
    counted = lines.groupBy("namespace").agg(F.count(F.lit(1)).alias("lines"), F.max("n").alias("top_n"))
    found = counted.where("lines > top_n").select("namespace", F.lit("OWN_JOURNAL_FORKED").alias("code"))
    is_shown = (F.col("status") == "deferred") | F.array_contains("reasons", "OWN_LINE_NOT_HELD")
    shown = (
        tables.read("quarantine").where((F.col("dialect") == DIALECT) & is_shown)
        .join(F.broadcast(nodes), "namespace", "left_semi").select("namespace", "record_id")
    )  # fmt: skip
    if jobs.has_rows(shown):
        unheld = shown.join(lines.select("namespace", "record_id"), ["namespace", "record_id"], "left_anti")
        behind = unheld.select("namespace", F.lit("OWN_JOURNAL_BEHIND").alias("code")).distinct()
        found = found.unionByName(behind)
    rows = jobs.row(found.agg(F.collect_list(F.struct("namespace", "code")).alias("rows")))["rows"]
    codes: dict[str, list[str]] = {}
    for row in sorted(rows):
        codes.setdefault(row["namespace"].partition(":")[2], []).append(row["code"])
    return {node: tuple(each) for node, each in codes.items()}


def next_commit(choices: object, tables: Tables, jobs: Jobs, scope: AuthorScope) -> NextCommit | None:
    """Return the lines that one commit adds to the journals of the nodes that are not stopped, or None.

    At most `limit` lines a node, continuing the tip of its trunk as of the version, in the order of writing. The
    pairs that peers named at the start follow, in profile 0.9 only: 0.12 forbids writing a pair before its resource was
    received and verified, so there they stay in `wanted_resource`.
    """
    own = local_nodes(choices)
    writers = [node for node in own.nodes if node not in scope.stopped]
    if not writers:
        return None
    nodes = node_rows(tables, writers)
    lines = of_nodes(writers, tables, tables.read_version(LINES, scope.version))
    held = of_nodes(writers, tables, tables.read(RESOURCES))
    found = [next_lines.pending(held, lines)]
    taking = [node for node in writers if own.nodes[node].profile == "0.9" and own.nodes[node].peers]
    if scope.start is not None and taking:
        named = named_by_peers(own, taking, tables, scope.start).where("taken")
        found.append(next_lines.new_pairs(named, lines, held))
    placed = jobs.checkpoint(next_lines.placed(reduce(DataFrame.unionByName, found)), "pending resources")
    in_commit = F.col("place") <= own.limit
    totals = jobs.row(placed.agg(F.count(F.lit(1)).alias("all"), F.count(F.when(in_commit, 1)).alias("some")))
    if not totals["all"]:
        return None
    ends = jobs.checkpoint(next_lines.ends(nodes, lines), "tips")
    rows = jobs.checkpoint(next_lines.written(placed.where(in_commit), ends, scope.run_id), "journal lines")
    of_rows = jobs.row(
        rows.agg(
            F.count(F.lit(1)).alias("count"),
            F.collect_set("bucket").alias("buckets"),
            F.min("next_n").alias("low"),
            F.max("next_n").alias("high"),
        )
    )
    return NextCommit(
        rows, tuple(sorted(of_rows["buckets"])), (of_rows["low"], of_rows["high"]), of_rows["count"], totals["some"],
        whole=totals["some"] == totals["all"],
    )  # fmt: skip
