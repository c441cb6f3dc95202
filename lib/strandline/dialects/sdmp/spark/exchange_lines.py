"""Requests of own nodes, and answers to the requests of peers, as lines of files."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.sdmp.codec import REQUEST_LIMIT
from strandline.dialects.sdmp.spark import journal_rows


def requests(statuses: DataFrame, wanted: DataFrame) -> DataFrame:
    """Give what own nodes ask: of each peer the lines after the last known, then wanted resources of their least peer.

    Reads:  `peer_status`, `wanted_resource`.
    Gives:  line, ordered by node, to, journal requests before resources, pair.
    Rows:   one per peer, and one per wanted resource that some peer names. A peer with waiting lines is asked again
            from line 1, whose stand-in is its fingerprint.
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
    node = F.substring_index("namespace", ":", -1)
    since = _object(since=F.col("since"), limit=REQUEST_LIMIT)
    pair = _object(author=F.col("author_fp"), resource=F.col("resource_id"))
    ordered = of_journals.unionByName(of_resources).orderBy(
        "namespace", "to", "is_resource", "author_fp", "resource_id"
    )
    asked = F.when(F.col("is_resource"), pair).otherwise(since)
    head = F.concat(F.lit('{"node":"'), node, F.lit('","to":"'), F.col("to"), F.lit('","request":'))
    return ordered.select(F.concat(head, asked, F.lit("}")).alias("line"))


def _object(**members: Column | int) -> Column:
    """A compact JSON object of ids, which need no escape, and integers."""
    parts: list[Column] = []
    for name, value in members.items():
        text = F.lit(str(value)) if isinstance(value, int) else F.concat(F.lit('"'), value, F.lit('"'))
        parts += [F.lit(("," if parts else "{") + f'"{name}":'), text]
    return F.concat(*parts, F.lit("}"))


def starts(asked: DataFrame, trunks: DataFrame) -> DataFrame:
    """Find the lines that requests name: by their number, line 1 by its fingerprint.

    Reads:  asked: request_no, to, since, most; lines of the trunks of own nodes.
    Gives:  the columns of `asked`, namespace, start_n (null: no such line).
    Rows:   one per row.
    """
    named = asked.withColumn("namespace", F.concat(F.lit("node:"), "to"))
    lines = trunks.where("n > 1").select(
        "namespace", F.col("line_number").alias("since"), F.col("n").alias("line_n")
    )
    found = named.join(lines, ["namespace", "since"], "left")
    is_first = F.col("since") == F.col("to")
    return found.withColumn("start_n", F.when(is_first, F.lit(1)).otherwise(F.col("line_n"))).drop("line_n")


def answers(found: DataFrame, trunks: DataFrame) -> DataFrame:
    """Give the frames that answer requests: the lines of the trunk behind the one named, at most `most`.

    Reads:  `starts` with start_n; lines of the trunks of own nodes.
    Gives:  request_no, line (the frame), lines.
    Rows:   one per row.
    """
    texts = trunks.select("namespace", "n", journal_rows.exact_line().alias("text"))
    tops = trunks.groupBy("namespace").agg(F.max("n").alias("tip_n"))
    last = F.least(F.col("start_n") + F.col("most"), F.coalesce("tip_n", F.lit(1)))
    spans = found.join(F.broadcast(tops), "namespace", "left").withColumn("last", last)
    wanted = spans.where(F.col("last") > F.col("start_n")).select(
        "request_no", "namespace", F.explode(F.sequence(F.col("start_n") + 1, F.col("last"))).alias("n")
    )
    entries = wanted.join(texts, ["namespace", "n"]).groupBy("request_no").agg(
        F.array_sort(F.collect_list(F.struct("n", "text"))).alias("entries")
    )  # fmt: skip
    quoted = F.transform("entries", lambda entry: F.concat(F.lit('"'), entry["text"], F.lit('"')))
    line = F.concat(
        F.lit('{"node":"'), F.col("to"), F.lit('","journal":{"since":"'), F.col("since"), F.lit('","entries":['),
        F.coalesce(F.array_join(quoted, ","), F.lit("")), F.lit("]}}"),
    )  # fmt: skip
    return found.join(entries, "request_no", "left").select(
        "request_no", line.alias("line"), F.coalesce(F.size("entries"), F.lit(0)).alias("lines")
    )
