"""The position up to which two views agree, from rows of `device_log_view`: by point look-ups or by a join.

Both give what `reduce.sync_point` gives over the hashes themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.ids import bucket_of
from strandline.dialect_api.ports import Jobs, LakeSnapshot
from strandline.dialects.devicelog.kernels.headers import group_of
from strandline.dialects.devicelog.reduce import empty_view_hash
from strandline.dialects.devicelog.spark.tables import VIEW
from strandline.frames.listed import is_listed


class StoredHashes:
    """v_0 to v_n of the stored view of a group, as a side of `reduce.sync_point`: it starts a query per look-up.

    A query reads rows of a few positions in one bucket; files are laid out by position, so Delta skips the others.
    """

    def __init__(self, lake: LakeSnapshot, namespace: str, jobs: Jobs) -> None:
        is_theirs = (F.col("bucket") == bucket_of(namespace, lake.buckets)) & (
            F.col("namespace") == namespace
        )
        self._rows = lake.read(VIEW).where(is_theirs & F.col("position").isNotNull())
        self._first = empty_view_hash(group_of(namespace))
        self._jobs = jobs
        last = jobs.row(self._rows.agg(F.max("position").alias("last")))["last"]
        self._length = 0 if last is None else last + 1

    @property
    def length(self) -> int:
        """The number of messages, n."""
        return self._length

    def at(self, ks: AbstractSet[int]) -> Mapping[int, bytes]:
        """Return v_k of each k, which is from 0 to n: at most 64 of them, as many as a message has."""
        positions = sorted(k - 1 for k in ks if k)
        wanted = self._rows.where(is_listed("position", positions)).select("position", "prefix_hash")
        rows = (self._jobs.few(wanted, len(positions)) or []) if positions else []
        found = {row["position"] + 1: bytes(row["prefix_hash"]) for row in rows}
        return {0: self._first, **found} if 0 in ks else found


def common_lengths(mine: DataFrame, theirs: DataFrame) -> DataFrame:
    """Return the position up to which the views of two replicas agree.

    Reads:  rows of `device_log_view` of each.
    Gives:  namespace, common (the number of first rows that are equal; 0 if there is none).
    Rows:   one per group of `mine`. Equal hashes at one position say that all before it is equal.
    """
    hashed = ("namespace", "position", "prefix_hash")
    ours, others = (rows.where("position IS NOT NULL").select(*hashed) for rows in (mine, theirs))
    equal = ours.join(others, list(hashed), "left_semi").groupBy("namespace")
    found = equal.agg((F.max("position") + 1).alias("found"))
    groups = mine.select("namespace").distinct().join(found, "namespace", "left")
    return groups.select("namespace", F.coalesce("found", F.lit(0).cast("bigint")).alias("common"))
