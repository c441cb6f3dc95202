"""Exchange with peers by files: what own nodes ask, and what is answered to a file of requests."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.journals import FoundAnswers
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import exchange_lines, next_lines, peer_rows
from strandline.dialects.sdmp.spark.local_nodes import as_rows, local_nodes, of_nodes
from strandline.dialects.sdmp.spark.positions import LINES
from strandline.frames.lift import map_batches

NAMES_SHOWN = 20


def requests(choices: object, tables: Tables) -> DataFrame:
    """Return `line`: what own nodes ask of their peers, in order, from `peer_status` and `wanted_resource`."""
    nodes = tuple(local_nodes(choices).nodes)
    statuses, wanted = (
        of_nodes(nodes, tables, tables.read(name)) for name in ("peer_status", "wanted_resource")
    )
    return exchange_lines.requests(statuses, wanted)


def answers(choices: object, tables: Tables, jobs: Jobs, path: str) -> FoundAnswers:
    """Return the answers to the requests of a file, from the trunks of own journals as their lines are now.

    A journal request to an own node is answered by one frame, without entries if nothing follows the line; without any
    if no line has the number. Those to others are refused, those for resources passed over.
    """
    own = frozenset(local_nodes(choices).nodes)
    paths = as_rows(tables, pa.table({"path": pa.array([path], pa.string())}))
    asked = jobs.checkpoint(map_batches(paths, kernels.requests, kernels.REQUEST_SCHEMA, own=own), "requests")
    trunks = jobs.persist(_trunks(own, tables), "trunks")
    found = jobs.checkpoint(
        exchange_lines.starts(asked.where("outcome = 'asked'"), trunks), "lines asked for"
    )
    frames = jobs.checkpoint(exchange_lines.answers(found.where("start_n IS NOT NULL"), trunks), "answers")
    outcomes = jobs.row(
        asked.agg(*(F.count(F.when(F.col("outcome") == name, 1)).alias(name) for name in _OUTCOMES))
    ).asDict()
    lines = jobs.row(frames.agg(F.coalesce(F.sum("lines"), F.lit(0)).alias("lines")))["lines"]
    not_found = jobs.row(found.agg(F.count(F.when(F.col("start_n").isNull(), 1)).alias("rows")))["rows"]
    refused = asked.where("outcome = 'refused'").groupBy("to").agg(F.count(F.lit(1)).alias("requests"))
    least = refused.orderBy("to").limit(NAMES_SHOWN)
    names = jobs.row(least.agg(F.collect_list(F.struct("to", "requests")).alias("rows")))["rows"]
    counts = {"lines": lines, "not_found": not_found, **outcomes}
    return FoundAnswers(
        frames.orderBy("request_no"), counts, {row["to"]: row["requests"] for row in sorted(names)}
    )


_OUTCOMES = ("malformed", "refused", "resources")


def _trunks(own: frozenset[str], tables: Tables) -> DataFrame:
    """Return the lines of the trunks of own nodes; what is not reduced yet counts too."""
    lines = of_nodes(own, tables, tables.read(LINES))
    off_trunk_lines = peer_rows.off_trunk(next_lines.forked(lines), lines)
    return lines.join(off_trunk_lines, ["namespace", "line_hash"], "left_anti")
