"""Local snapshots: the newest and the applied one of each namespace, what they list, and whether they are damaged."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.core.hashing import set_hash
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches
from strandline.frames.sets import set_hashes
from strandline.kernels.snapshots import SNAPSHOT_COLUMNS, SNAPSHOT_ID_SCHEMA, snapshot_ids

STATED: Final = (
    "snapshot_id", "sequence", "base", "state_hash", "members_digest", "prune_digest", "carry", "skip_window",
    "reducer_version", "record_count", "inputs",
)  # fmt: skip
"""The columns of a snapshot that decide whether it can be applied."""


def local(snapshots: DataFrame) -> DataFrame:
    """Keep the snapshots that lakes take themselves.  Reads: rows of `snapshot`.  Gives: namespace, STATED."""
    return snapshots.where("origin = 'local'").select("namespace", *STATED)


def newest(locals_: DataFrame) -> DataFrame:
    """Return the newest snapshot of each namespace.

    Reads:  `local`.  Gives: namespace, STATED.  Rows: one per namespace with a snapshot.
    """
    order = F.struct("sequence", "snapshot_id")
    return (
        locals_.groupBy("namespace")
        .agg(F.max_by(F.struct(*STATED), order).alias("s"))
        .select("namespace", "s.*")
    )


def applied(pruned: DataFrame) -> DataFrame:
    """Return the applied snapshot of each namespace with pruned records.

    Reads:  namespace, snapshot_id, gc_number.  Gives: namespace, applied_id.  Rows: one per such namespace.
    """
    return pruned.groupBy("namespace").agg(F.max_by("snapshot_id", "gc_number").alias("applied_id"))


def applied_carries(pruned: DataFrame, snapshots: DataFrame) -> DataFrame:
    """Return the carry of the applied snapshot of each namespace with pruned records.

    It is empty, which is no carry, if that snapshot is gone, or is not the one that its id names.
    Reads:  pruned: namespace, bucket, snapshot_id, gc_number; snapshots: namespace, snapshot_id, SNAPSHOT_COLUMNS.
    Gives:  namespace, bucket, carry.  Rows: one per such namespace.
    """
    key = ["namespace", "snapshot_id"]
    ids = applied(pruned).withColumnRenamed("applied_id", "snapshot_id")
    stated = snapshots.join(ids, key, "left_semi").select("snapshot_id", *SNAPSHOT_COLUMNS)
    made = map_batches(stated.select(*SNAPSHOT_COLUMNS), snapshot_ids, SNAPSHOT_ID_SCHEMA)
    whole = stated.join(made, key, "left_semi").select(*key, "carry")
    homes = pruned.select("namespace", "bucket").distinct()
    found = homes.join(ids, "namespace").join(whole, key, "left")
    return found.select("namespace", "bucket", F.coalesce("carry", F.expr("X''")).alias("carry"))


def listed(members: DataFrame, locals_: DataFrame, newest_: DataFrame) -> DataFrame:
    """Return the records that the newest snapshot of each namespace covers.

    A snapshot lists what no earlier one lists. One with as many rows as it covers lists all: earlier ones, which may be
    damaged, do not count then.

    Reads:  members: rows of `snapshot_member`; `local`; `newest`.
    Gives:  namespace, record_id.
    Rows:   one per record.
    """
    last = newest_.select("namespace", F.col("snapshot_id").alias("last_id"), F.col("sequence").alias("last"))
    is_before = (F.col("sequence") < F.col("last")) | (F.col("snapshot_id") == F.col("last_id"))
    counted = locals_.select("namespace", "snapshot_id", "sequence", "record_count").join(last, "namespace")
    own = members.select("namespace", "snapshot_id", "record_id").join(
        counted.where(is_before), ["namespace", "snapshot_id"]
    )
    sizes = own.groupBy("namespace", "sequence", "snapshot_id", "record_count").agg(
        F.count(F.lit(1)).alias("own")
    )
    whole = sizes.where("own = record_count").groupBy("namespace").agg(F.max("sequence").alias("first"))
    is_counted = F.col("first").isNull() | (F.col("sequence") >= F.col("first"))
    return own.join(whole, "namespace", "left").where(is_counted).select(*KEY).distinct()


def listed_to_prune(members: DataFrame, newest_: DataFrame) -> DataFrame:
    """Return the records that the newest snapshot of each namespace would prune.

    Reads:  rows of `snapshot_member`; `newest`.  Gives: namespace, record_id.  Rows: one per record.
    """
    ids = newest_.select("namespace", "snapshot_id")
    return members.where("prune").join(ids, ["namespace", "snapshot_id"], "left_semi").select(*KEY)


def damaged(newest_: DataFrame, covered: DataFrame, to_prune: DataFrame) -> DataFrame:
    """Return the namespaces whose newest snapshot is not what its id, its digests and its rows say.

    Reads:  `newest`, `listed`, `listed_to_prune`.
    Gives:  namespace.
    Rows:   one per such namespace.
    """
    made = map_batches(newest_.select(*SNAPSHOT_COLUMNS), snapshot_ids, SNAPSHOT_ID_SCHEMA)
    found = (
        newest_.join(made.withColumnRenamed("snapshot_id", "made_id"), "namespace")
        .join(digests(covered, "members"), "namespace", "left")
        .join(digests(to_prune, "to_prune"), "namespace", "left")
    )  # fmt: skip
    is_whole = (
        (F.col("made_id") == F.col("snapshot_id"))
        & (or_empty("members") == F.col("members_digest"))
        & (or_empty("to_prune") == F.col("prune_digest"))
    )
    return found.where(~is_whole).select("namespace")


def digests(records: DataFrame, name: str) -> DataFrame:
    """Return the set hash and number of the record ids of each namespace.

    Reads:  namespace, record_id.  Gives: namespace, `<name>`, `<name>_count`.  Rows: one per namespace with records.
    """
    found = set_hashes(records.select("namespace", F.col("record_id").alias("value")))
    return found.select("namespace", F.col("set_hash").alias(name), F.col("size").alias(f"{name}_count"))


def or_empty(name: str) -> Column:
    """Return a column of `digests` after a left join: the set hash of nothing where there are no records."""
    return F.coalesce(F.col(name), F.lit(set_hash(())))
