"""Exchange with peers by files: the requests of local nodes, and the answers to a file of requests."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from strandline.dialect_api.journals import FoundAnswers
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.codec import REQUEST_LIMIT
from strandline.dialects.sdmp.spark import journal_rows
from strandline.dialects.sdmp.spark.line_columns import node
from strandline.dialects.sdmp.spark.local_nodes import local_nodes, only_nodes
from strandline.dialects.sdmp.spark.peers import off_trunk
from strandline.dialects.sdmp.spark.tables import LINES, PEER_STATUSES, WANTED, as_rows
from strandline.frames import file_order
from strandline.frames.lift import map_batches

REQUEST_GROWTH = 8
"""Bytes of the requests for a stored byte of `peer_status` and `wanted_resource`, about: ids compress by little."""
_MAX_REFUSED_NAMES = 20


def requests(options: object, tables: Tables) -> DataFrame:
    """Return the requests of local nodes to their peers, from `peer_status` and `wanted_resource`.

    Gives:  line, in the order of `_request_lines`.
    """
    nodes = tuple(local_nodes(options).nodes)
    statuses, wanted = (only_nodes(nodes, tables, tables.read(name)) for name in (PEER_STATUSES, WANTED))
    stored = sum(map(tables.stored_bytes, (PEER_STATUSES, WANTED)))
    return _request_lines(statuses, wanted, REQUEST_GROWTH * stored)


def answers(options: object, tables: Tables, jobs: Jobs, path: str, most_lines: int) -> FoundAnswers:
    """Return the answers to the requests of a file, from the trunks of local journals as they are now.

    A journal request to a local node gets one frame, which is empty if nothing follows the named line; requests for
    the same lines get one together. There is no answer if no line has the number. Requests to other nodes are refused,
    and those from the first one on with which the answers would have more than `most_lines` lines. Requests for
    resources are ignored.
    """
    nodes = frozenset(local_nodes(options).nodes)
    paths = as_rows(tables, pa.table({"path": pa.array([path], pa.string())}))
    parsed = map_batches(paths, kernels.requests, kernels.REQUEST_SCHEMA, local_nodes=nodes)
    received = jobs.checkpoint(parsed, "requests")
    trunks = jobs.persist(_trunks(nodes, tables), "trunks")
    found = jobs.checkpoint(_starts(_distinct(received), trunks), "requested lines")
    frames = jobs.checkpoint(_answer_frames(_spans(found, trunks, most_lines), trunks), "answers")
    outcomes = jobs.row(
        received.agg(*(F.count(F.when(F.col("outcome") == name, 1)).alias(name) for name in _OUTCOMES))
    ).asDict()
    past_limit = F.sum(F.when(F.col("line").isNull(), F.col("requests")))
    of_frames = jobs.row(frames.agg(F.sum("lines").alias("lines"), past_limit.alias("past_limit")))
    not_found = jobs.row(found.where("start_n IS NULL").agg(F.sum("requests").alias("rows")))["rows"] or 0
    refused = received.where("outcome = 'refused'").groupBy("to").agg(F.count(F.lit(1)).alias("requests"))
    least = refused.orderBy("to").limit(_MAX_REFUSED_NAMES)
    names = jobs.row(least.agg(F.collect_list(F.struct("to", "requests")).alias("rows")))["rows"]
    past = of_frames["past_limit"] or 0
    counts = {"lines": of_frames["lines"] or 0, "not_found": not_found, **outcomes}
    counts["refused"] += past
    written = frames.where("line IS NOT NULL").orderBy("request_no")
    return FoundAnswers(written, counts, {row["to"]: row["requests"] for row in sorted(names)}, past)


_OUTCOMES = ("malformed", "refused", "resources")


def _trunks(nodes: frozenset[str], tables: Tables) -> DataFrame:
    """Return the lines of the trunks of local nodes, with lines that are not reduced yet."""
    lines = only_nodes(nodes, tables, tables.read(LINES))
    return lines.join(off_trunk(_forked(lines), lines), ["namespace", "line_hash"], "left_anti")


def _forked(lines: DataFrame) -> DataFrame:
    """Find the tips of the trunks of forked journals, from their lines alone.

    Reads:  namespace, n and the columns of tips.
    Gives:  namespace, tip_hash, fork_count (1: it is forked), common_n (0: any line may be off the trunk).
    Rows:   one per journal that has more lines than positions.
    """
    counted = lines.groupBy("namespace").agg(F.count(F.lit(1)).alias("lines"), F.max("n").alias("n"))
    tops = F.broadcast(counted.where("lines > n").select("namespace", "n"))
    tips = journal_rows.tips(journal_rows.as_tip(lines.join(tops, ["namespace", "n"], "left_semi")))
    return tips.select("namespace", "tip_hash", F.lit(1).alias("fork_count"), F.lit(0).alias("common_n"))


def _request_lines(statuses: DataFrame, wanted: DataFrame, size: int) -> DataFrame:
    """Write the requests of local nodes: to each peer for lines after the last known one, then for wanted resources.

    Reads:  `peer_status`, `wanted_resource`; `size` is about the bytes of the lines.
    Gives:  line, ordered by node, to, journal requests before resources, pair.
    Rows:   one per peer, and one per wanted resource that a peer names, to the least such peer. A peer with deferred
            lines is asked from line 1, which is named by its fingerprint.
    """
    known = F.when(F.col("deferred_lines") == 0, F.col("last_known_number"))
    of_journals = statuses.select(
        "namespace",
        F.col("peer").alias("to"),
        F.lit(False).alias("is_resource"),
        F.lit("").alias("author_fp"),
        F.lit("").alias("resource_id"),
        F.coalesce(known, "peer").alias("since"),
    )
    of_resources = wanted.where(F.size("named_by") > 0).select(
        "namespace",
        F.col("named_by")[0].alias("to"),
        F.lit(True).alias("is_resource"),
        "author_fp",
        "resource_id",
        F.lit("").alias("since"),
    )
    since = _object(since=F.col("since"), limit=REQUEST_LIMIT)
    pair = _object(author=F.col("author_fp"), resource=F.col("resource_id"))
    order = ("namespace", "to", "is_resource", "author_fp", "resource_id")
    every = of_journals.unionByName(of_resources)
    is_small = size <= file_order.PARTITION_BYTES
    ordered = every.orderBy(*order) if is_small else file_order.in_file_order(every, order, size)
    request = F.when(F.col("is_resource"), pair).otherwise(since)
    head = F.concat(F.lit('{"node":"'), node(), F.lit('","to":"'), F.col("to"), F.lit('","request":'))
    return ordered.select(F.concat(head, request, F.lit("}")).alias("line"))


def _object(**members: Column | int) -> Column:
    """Return a compact JSON object of ids, which need no escape, and integers."""
    parts: list[Column] = []
    for name, value in members.items():
        text = F.lit(str(value)) if isinstance(value, int) else F.concat(F.lit('"'), value, F.lit('"'))
        parts += [F.lit(("," if parts else "{") + f'"{name}":'), text]
    return F.concat(*parts, F.lit("}"))


def _distinct(received: DataFrame) -> DataFrame:
    """Return what journal requests to local nodes ask for, with the number of the first request for it.

    Reads:  `kernels.REQUEST_SCHEMA`.
    Gives:  request_no, to, since, most, requests (how many ask for it).
    Rows:   one per (to, since, most).
    """
    asked = received.where("outcome = 'asked'").groupBy("to", "since", "most")
    return asked.agg(F.min("request_no").alias("request_no"), F.count(F.lit(1)).alias("requests"))


def _starts(journal_requests: DataFrame, trunks: DataFrame) -> DataFrame:
    """Find the lines that requests name: by their number, line 1 by its fingerprint.

    Reads:  journal_requests: request_no, to, since, most; trunks: lines of the trunks of local nodes.
    Gives:  the columns of `journal_requests`, namespace, start_n (null: no such line).
    Rows:   one per row.
    """
    named = journal_requests.withColumn("namespace", F.concat(F.lit("node:"), "to"))
    lines = trunks.where("n > 1").select(
        "namespace", F.col("line_number").alias("since"), F.col("n").alias("line_n")
    )
    found = named.join(lines, ["namespace", "since"], "left")
    is_first = F.col("since") == F.col("to")
    return found.withColumn("start_n", F.when(is_first, F.lit(1)).otherwise(F.col("line_n"))).drop("line_n")


def _spans(found: DataFrame, trunks: DataFrame, most_lines: int) -> DataFrame:
    """Find which lines answer requests: those of the trunk after the named one, at most `most`.

    Reads:  `_starts`; trunks: lines of the trunks of local nodes.
    Gives:  the columns of `_starts`, last (the position of the last line), is_within (this answer and those of all
            requests before it have at most `most_lines` lines).
    Rows:   one per row with start_n, summed by one task: no line of a journal is read.
    """
    tops = trunks.groupBy("namespace").agg(F.max("n").alias("tip_n"))
    last = F.least(F.col("start_n") + F.col("most"), F.coalesce("tip_n", F.lit(1)))
    spans = found.where("start_n IS NOT NULL").join(F.broadcast(tops), "namespace", "left")
    so_far = Window.orderBy("request_no").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    total = F.sum(F.col("last") - F.col("start_n")).over(so_far)
    return spans.withColumn("last", last).drop("tip_n").withColumn("is_within", total <= most_lines)


def _answer_frames(spans: DataFrame, trunks: DataFrame) -> DataFrame:
    """Write the frames that answer requests.

    Reads:  `_spans`; trunks: lines of the trunks of local nodes.
    Gives:  request_no, requests, line (the frame; null: not `is_within`), lines.
    Rows:   one per row.
    """
    texts = trunks.select("namespace", "n", journal_rows.exact_line().alias("text"))
    is_filled = F.col("is_within") & (F.col("last") > F.col("start_n"))
    places = F.when(is_filled, F.sequence(F.col("start_n") + 1, F.col("last")))
    each = ("request_no", "requests", "namespace", "since", "is_within")
    wanted = spans.select(*each, F.explode_outer(places).alias("n"))
    entry = F.when(F.col("text").isNotNull(), F.struct("n", "text"))
    answered = wanted.join(texts, ["namespace", "n"], "left").groupBy(*each).agg(
        F.array_sort(F.collect_list(entry)).alias("entries")
    )  # fmt: skip
    quoted = F.transform("entries", lambda entry: F.concat(F.lit('"'), entry["text"], F.lit('"')))
    line = F.concat(
        F.lit('{"node":"'), node(), F.lit('","journal":{"since":"'), F.col("since"), F.lit('","entries":['),
        F.array_join(quoted, ","), F.lit("]}}"),
    )  # fmt: skip
    return answered.select(
        "request_no",
        "requests",
        F.when(F.col("is_within"), line).alias("line"),
        F.array_size("entries").alias("lines"),
    )
