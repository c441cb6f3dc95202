"""The parts of a journal row: leaves, forks, pairs and tips, of all lines or of new lines.

A journal whose greatest n equals its number of lines has one line at every n: it has no fork and one leaf, found by
one aggregate. Only other journals need joins of lines with lines.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.sdmp.spark.line_columns import node
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.crowds import crowds
from strandline.frames.states import as_equivocation as shaped


def exact_line() -> Column:
    """Return the bytes of a line as text: the fingerprint, or number, author and resource joined."""
    linked = F.concat("line_number", F.lit("@"), "author_fp", F.lit("/"), "resource_id")
    return F.when(F.col("n") == 1, node()).otherwise(linked)


def counted(lines: DataFrame) -> DataFrame:
    """Count the lines of each journal.

    Reads:  LINE_COLUMNS.  Gives:  namespace, bucket, line_count, top_n.  Rows: one per namespace.
    """
    return lines.groupBy("namespace", "bucket").agg(
        F.count(F.lit(1)).alias("line_count"), F.max("n").alias("top_n")
    )


def at_top(lines: DataFrame, counts: DataFrame) -> DataFrame:
    """Keep the lines at the greatest n of their journals.

    Reads:  lines: LINE_COLUMNS; counts: namespace, top_n.  Rows: one per row of `counts` without a fork.
    """
    return lines.join(counts.select("namespace", F.col("top_n").alias("n")), ["namespace", "n"], "left_semi")


def pair_counts(lines: DataFrame) -> DataFrame:
    """Count the distinct pairs of each journal.

    Reads:  LINE_COLUMNS.  Gives: namespace, pairs.  Rows: one per namespace with a pair.
    """
    pairs = lines.where("n > 1").select("namespace", "author_fp", "resource_id").distinct()
    return pairs.groupBy("namespace").agg(F.count(F.lit(1)).alias("pairs"))


def leaves(candidates: DataFrame, predecessors: DataFrame) -> DataFrame:
    """Keep the candidates without a successor.

    Reads:  candidates: namespace, line_hash, ..; predecessors: namespace, line_number.
    Gives:  the columns of `candidates`.
    Rows:   at most one per row.
    """
    followed = predecessors.where("line_number IS NOT NULL").select(
        "namespace", F.col("line_number").alias("line_hash")
    )
    return candidates.join(followed, ["namespace", "line_hash"], "left_anti")


def leaf_arrays(ends: DataFrame) -> DataFrame:
    """Collect leaves into the array of `node_journal`: by n descending, then record id ascending.

    Reads:  namespace, n, record_id.  Gives: namespace, leaves.  Rows: one per namespace.
    """
    listed = F.collect_list(F.struct((-F.col("n")).alias("minus_n"), "record_id"))
    sorted_leaves = F.transform(
        F.array_sort(listed),
        lambda leaf: F.struct((-leaf["minus_n"]).alias("n"), leaf["record_id"].alias("record_id")),
    )
    return ends.groupBy("namespace").agg(sorted_leaves.alias("leaves"))


def tips(ends: DataFrame) -> DataFrame:
    """Keep the tip of each journal: the leaf with the greatest n and, of these, the least record id.

    Reads:  leaves with namespace, profile, n, record_id, tip_number, tip_line, tip_hash.
    Gives:  namespace, profile, tip_n, tip_number, tip_line, tip_hash.
    Rows:   one per namespace.
    """
    best = F.min(
        F.struct((-F.col("n")).alias("minus_n"), "record_id", "profile", "tip_number", "tip_line", "tip_hash")
    )
    return (
        ends.groupBy("namespace")
        .agg(best.alias("tip"))
        .select(
            "namespace",
            "tip.profile",
            (-F.col("tip.minus_n")).alias("tip_n"),
            "tip.tip_number",
            "tip.tip_line",
            "tip.tip_hash",
        )
    )


def as_tip(lines: DataFrame) -> DataFrame:
    """Add tip_number, tip_line, tip_hash to lines that may be tips."""
    return lines.withColumns(
        {"tip_number": F.col("line_number"), "tip_line": exact_line(), "tip_hash": F.col("line_hash")}
    )


def carried_numbers(lines: DataFrame) -> DataFrame:
    """Count the lines that carry each number of a journal.

    Reads:  namespace, line_number, n.  Gives: namespace, line_number, n, carriers.  Rows: one per followed line.
    """
    carried = lines.where("line_number IS NOT NULL").groupBy("namespace", "line_number")
    return carried.agg(F.max("n").alias("n"), F.count(F.lit(1)).alias("carriers"))


def siblings(lines: DataFrame) -> DataFrame:
    """Keep the numbers that several lines of a journal carry: each names a forked line.

    Reads:  namespace, line_number, n.  Gives: namespace, line_number.  Rows: one per forked line.
    """
    return carried_numbers(lines).where("carriers > 1").select("namespace", "line_number")


def forks(forked: DataFrame, lines: DataFrame) -> DataFrame:
    """Collect the evidence of each fork.

    Reads:  forked: namespace, line_number; lines: LINE_COLUMNS of the lines with these numbers and of their
            predecessors.
    Gives:  namespace, bucket, position (the number), n (of the forked line), members (ids ascending, at most 65,536),
            member_count, bytes_a, bytes_b, predecessor (BINARY).
    Rows:   one per forked line.
    """
    line = exact_line().cast("binary")
    followers = lines.join(forked, ["namespace", "line_number"], "left_semi").withColumn("raw", line)
    members = crowds(followers, ("namespace", "bucket", "line_number"), "raw")
    named = forked.select("namespace", F.col("line_number").alias("line_hash"))
    before = lines.join(named, ["namespace", "line_hash"], "left_semi").select(
        "namespace", F.col("line_hash").alias("line_number"), "n", line.alias("predecessor")
    )
    return members.join(before, ["namespace", "line_number"]).select(
        "namespace",
        "bucket",
        F.col("line_number").alias("position"),
        "n",
        "members",
        "member_count",
        F.col("shown_a").alias("bytes_a"),
        F.col("shown_b").alias("bytes_b"),
        "predecessor",
    )


def as_equivocation(found: DataFrame) -> DataFrame:
    """Shape forks to the contract of `equivocation`.

    Reads:  `forks`.  Gives: the columns of `equivocation`.  Rows: one per row.
    """
    key = node()
    zero = F.lit(b"\x00")
    name = F.concat(
        F.lit(b"strandline/equivocation/1"), zero, F.col("namespace").cast("binary"), zero, F.lit(b"SDMP_FORK"), zero,
        key.cast("binary"), zero, F.col("position").cast("binary"),
    )  # fmt: skip
    columns = {"equivocation_id": F.unhex(F.sha2(name, 256)), "key": key, "evidence": _evidence(key)}
    return as_equivocation_rows(found.withColumns(columns))


def as_equivocation_rows(found: DataFrame) -> DataFrame:
    """Add the columns that all forks share.

    Reads:  as `frames.states.as_equivocation`.  Gives: the columns of `equivocation`.  Rows: one per row.
    """
    return shaped(found, dialect=DIALECT, kind="SDMP_FORK", attributable=False)


def _evidence(key: Column) -> Column:
    """Return the evidence file of a fork, as `core.equivocation` writes it: compact sorted ASCII JSON.

    All texts in it are ids or base64, so they need no escape.
    """

    def record(raw: str) -> Column:
        column = F.col(raw)
        encoded = F.translate(F.base64(column), "\r\n", "")
        return F.concat(F.lit('{"bytes":"'), encoded, F.lit('","id":"'), F.sha2(column, 256), F.lit('"'))

    return F.concat(
        F.lit('{"context":['), record("predecessor"), F.lit(',"role":"predecessor"}],"dialect":"sdmp","key":"'), key,
        F.lit('","kind":"SDMP_FORK","namespace":"'), F.col("namespace"), F.lit('","position":"'), F.col("position"),
        F.lit('","records":['), record("bytes_a"), F.lit("},"), record("bytes_b"), F.lit('}],"strandline_evidence":1}'),
    )  # fmt: skip


def as_node_journal(journals: DataFrame) -> DataFrame:
    """Shape journals to the contract of `node_journal`.

    Reads:  namespace, bucket, profile, tip columns, leaves, fork_count, fork_n (least n of a forked line, or null),
            line_count, pair_count.
    Gives:  the columns of `node_journal`.
    Rows:   one per row.
    """
    return journals.select(
        "namespace", "bucket", "profile", "tip_n", "tip_number", "tip_line", "tip_hash", "leaves", "fork_count",
        F.coalesce("fork_n", "tip_n").alias("common_n"), "line_count", "pair_count",
        (F.col("line_count") - 1 - F.col("pair_count")).alias("duplicate_pairs"),
    )  # fmt: skip


def state_hash() -> Column:
    """Return SHA-256 of the state bytes of a row of `node_journal`; its leaves commit to every line."""
    lines = F.transform(
        "leaves",
        lambda leaf: F.concat(
            leaf["n"].cast("string"), F.lit(" "), F.lower(F.hex(leaf["record_id"])), F.lit("\n")
        ),
    )
    text = F.concat(
        F.lit("strandline/sdmp/state/1\n"), F.col("namespace"), F.lit("\n"), F.col("line_count").cast("string"),
        F.lit("\n"), F.array_join(lines, ""),
    )  # fmt: skip
    return F.unhex(F.sha2(text.cast("binary"), 256))
