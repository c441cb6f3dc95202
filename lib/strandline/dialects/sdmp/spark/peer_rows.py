"""What own nodes know of the journals of their peers, and lack of them."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark.heads import line_hash
from strandline.dialects.sdmp.spark.resources import PAIR
from strandline.frames.lift import map_groups


def off_trunk(journals: DataFrame, lines: DataFrame) -> DataFrame:
    """Find the lines that are on a branch off the trunk; only those of forked journals are looked at.

    Reads:  of `node_journal` namespace, tip_hash, fork_count, common_n; lines.
    Gives:  namespace, line_hash.
    Rows:   one per such line.
    """
    forked = journals.where("fork_count > 0").select("namespace", "tip_hash", "common_n")
    disputed = lines.join(F.broadcast(forked), "namespace").where("n > common_n")
    columns = ("namespace", "tip_hash", "line_hash", "line_number")
    return map_groups(disputed.select(*columns), "namespace", kernels.off_trunk, kernels.OFF_TRUNK_SCHEMA)


def named(links: DataFrame, authors: DataFrame, lines: DataFrame) -> DataFrame:
    """Give every pair that the journal of a peer names, for each own node that has the peer.

    Reads:  links: namespace, peer, peer_namespace, takes_all; authors: namespace, author_fp; lines of the peers.
    Gives:  PAIR, peer, n, record_id, line_hash, taken (BOOLEAN: the own node's `record` takes the author).
    Rows:   one per link and line but line 1, on all branches.
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


def gaps(pairs: DataFrame, recorded: DataFrame, off_trunk_lines: DataFrame) -> DataFrame:
    """Measure what own journals lack of each peer.

    Reads:  `named`; pairs on lines of own nodes; `off_trunk`.
    Gives:  namespace, peer, unrecorded (distinct pairs), gap_n (least n of such a pair on the peer's trunk, or null).
    Rows:   one per own node and peer that lacks something.
    """
    lacking = pairs.where("taken").join(recorded, list(PAIR), "left_anti")
    strays = off_trunk_lines.select(
        F.col("namespace").alias("peer_namespace"), "line_hash", F.lit(True).alias("is_off_trunk")
    )
    placed = lacking.join(strays, ["peer_namespace", "line_hash"], "left")
    on_trunk = F.when(F.col("is_off_trunk").isNull(), F.col("n"))
    distinct = placed.groupBy("namespace", "peer", "author_fp", "resource_id").agg(F.min(on_trunk).alias("n"))
    return distinct.groupBy("namespace", "peer").agg(
        F.count(F.lit(1)).alias("unrecorded"), F.min("n").alias("gap_n")
    )


def as_peer_status(
    links: DataFrame, journals: DataFrame, missing: DataFrame, waiting: DataFrame
) -> DataFrame:
    """Shape links to the contract of `peer_status`.

    Reads:  links: namespace, bucket, peer, peer_namespace, user_fp; `node_journal`; `gaps`; waiting: namespace,
            deferred_lines.
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


def as_wanted_resource(pairs: DataFrame, recorded: DataFrame, held: DataFrame, nodes: DataFrame) -> DataFrame:
    """Shape what own nodes have to ask for to the contract of `wanted_resource`.

    Reads:  `named`; pairs on lines of own nodes; the pairs that they hold; nodes: namespace, bucket.
    Gives:  the columns of `wanted_resource`.
    Rows:   one per pair that the own journal names, or a peer's that the node takes, and that it does not hold.
    """
    no_peer = F.lit(None).cast("string").alias("peer")
    ours = recorded.select(*PAIR, no_peer, F.lit(True).alias("wants"), F.lit(True).alias("recorded"))
    theirs = pairs.select(*PAIR, "peer", F.col("taken").alias("wants"), F.lit(False).alias("recorded"))
    every_pair = ours.unionByName(theirs).groupBy(*PAIR).agg(
        F.array_sort(F.collect_set("peer")).alias("named_by"),
        F.max("wants").alias("wants"),
        F.max("recorded").alias("recorded"),
    )  # fmt: skip
    wanted = every_pair.where("wants").join(held.select(*PAIR), list(PAIR), "left_anti")
    return wanted.join(F.broadcast(nodes.select("namespace", "bucket")), "namespace").select(
        "namespace", "bucket", "author_fp", "resource_id", "named_by", "recorded"
    )
