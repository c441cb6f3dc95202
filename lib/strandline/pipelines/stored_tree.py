"""The stored tree of one namespace, of which a proof reads one or two chunks of leaves into the driver."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.errors import FaultError
from strandline.core.merkle import EMPTY_ROOT, leaf_hash, root_of
from strandline.frames import trees
from strandline.kernels.trees import CHUNK_BITS, CHUNK_LEAVES
from strandline.pipelines.spark_jobs import SparkJobs

NEXT: Final = (
    "Keep the tables as they are, run `strandline check`, and restore the versions that have the records."
)


def tree_damaged(namespace: str, what: str) -> FaultError:
    """Return the error of a tree that is not what its checkpoints state."""
    return FaultError("TREE_DAMAGED", f"The tree of {namespace} is damaged: {what}.", NEXT)


class StoredTree:
    """The tree over the published leaves of one namespace.

    Reads:  leaves: namespace, position, record_id.
    Raises: FaultError TREE_DAMAGED (leaves are missing or repeated).
    """

    def __init__(self, namespace: str, leaves: DataFrame, jobs: SparkJobs) -> None:
        self._namespace = namespace
        self._leaves = leaves
        self._jobs = jobs
        self._chunks: dict[int, list[bytes]] = {}
        chunks = trees.chunked(leaves.withColumn("old_size", F.lit(0).cast("bigint")))
        listed = F.array_sort(F.collect_list(F.struct("chunk", "size", "root"))).alias("chunks")
        self._roots: list[bytes] = []
        self.size = 0
        for row in jobs.row(chunks.agg(listed))["chunks"]:
            if row["root"] is None or self.size != row["chunk"] << CHUNK_BITS:
                raise tree_damaged(namespace, f"leaves are missing or repeated behind position {self.size}")
            self._roots.append(bytes(row["root"]))
            self.size += row["size"]

    def root(self, start: int, end: int) -> bytes:
        """Return the root of the leaves from `start` to `end`: of one chunk, or of chunks up to the end of the tree."""
        first, last = start >> CHUNK_BITS, (end - 1) >> CHUNK_BITS
        if start == end:
            return EMPTY_ROOT
        if first != last or (start == first << CHUNK_BITS and end == min(self.size, start + CHUNK_LEAVES)):
            return root_of(self._roots[first : last + 1])
        hashes = self._hashes(first)
        return root_of(hashes[start - (first << CHUNK_BITS) : end - (first << CHUNK_BITS)])

    def position_of(self, record_id: bytes) -> int | None:
        """Return the place of a record, or None if no leaf has it."""
        found = self._leaves.where(F.col("record_id") == F.lit(record_id)).agg(F.min("position").alias("at"))
        at = self._jobs.row(found)["at"]
        return None if at is None else int(at)

    def _hashes(self, chunk: int) -> list[bytes]:
        """Return the hashes of the leaves of a chunk, at most `CHUNK_LEAVES`."""
        if chunk not in self._chunks:
            rows = self._leaves.where(F.shiftright("position", CHUNK_BITS) == chunk)
            listed = F.array_sort(F.collect_list(F.struct("position", "record_id"))).alias("leaves")
            found = self._jobs.row(rows.agg(listed))["leaves"]
            self._chunks[chunk] = [leaf_hash(bytes(row["record_id"])) for row in found]
        return self._chunks[chunk]
