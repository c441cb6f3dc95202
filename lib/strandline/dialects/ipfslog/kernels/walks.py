"""The order of logs whose clocks do not follow their links: a walk over integers, one log after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import groupby
from typing import Final

import numpy as np
import pyarrow as pa

WALK_SCHEMA: Final = pa.schema(
    [pa.field("namespace", pa.string()), pa.field("rank", pa.int32()), pa.field("position", pa.int64())]
)
WALK_COLUMNS: Final = ("namespace", "rank", "is_core", "parents")


def walk_positions(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the position of each entry in its log, from 1, oldest first.

    Reads: WALK_COLUMNS, sorted by namespace and rank: rank INT, the place by k from 0; is_core: the whole log is
            core2; parents ARRAY<INT>, the ranks of the stored parents.
    Gives: namespace, rank, position. Every entry has a row, since every entry is reachable from a head.
    Memory: a few numbers per entry and link of one log. Work: O((entries + links) log entries), no recursion.
    """
    log: _Log | None = None
    for batch in batches:
        start = 0
        namespaces = batch.column("namespace").to_pylist()
        for namespace, run in groupby(namespaces):
            length = sum(1 for _ in run)
            if log is None or log.namespace != namespace:
                if log is not None:
                    yield log.positions()
                log = _Log(namespace, bool(batch.column("is_core")[start].as_py()))
            log.add(batch.column("parents").slice(start, length))
            start += length
    if log is not None:
        yield log.positions()


class _Log:
    """The entries of one log in rank order, each with the ranks of its parents."""

    def __init__(self, namespace: str, is_core: bool) -> None:
        self.namespace = namespace
        self._is_core = is_core
        self._counts: list[np.ndarray] = []
        self._parents: list[np.ndarray] = []

    def add(self, parents: pa.ListArray) -> None:
        self._counts.append(parents.value_lengths().to_numpy(zero_copy_only=False))
        self._parents.append(parents.flatten().to_numpy(zero_copy_only=False))

    def positions(self) -> pa.RecordBatch:
        counts = np.concatenate(self._counts)
        parents = np.concatenate(self._parents)
        ends = np.cumsum(counts)
        walked = np.array(_walked((ends - counts).tolist(), ends.tolist(), parents.tolist(), self._is_core))
        size = len(counts)
        return pa.RecordBatch.from_arrays(
            [
                pa.array([self.namespace], pa.string()).take(pa.array(np.zeros(size, dtype=np.int32))),
                pa.array(walked.astype(np.int32)),
                pa.array(np.arange(size, 0, -1, dtype=np.int64)),
            ],
            schema=WALK_SCHEMA,
        )


def _walked(starts: list[int], ends: list[int], parents: list[int], looks_further: bool) -> list[int]:
    """Return the ranks in the order of the walk from the heads, newest first, as `reduce.walk`."""
    size = len(starts)
    is_named = bytearray(size)
    for parent in parents:
        is_named[parent] = 1
    heap = [-rank for rank in range(size) if not is_named[rank]]
    heapify(heap)
    seen, taken = bytearray(size), bytearray(size)
    level: list[int] = []
    out: list[int] = []
    while heap:
        rank = -heappop(heap)
        if taken[rank]:
            continue
        taken[rank] = seen[rank] = 1
        out.append(rank)
        found = parents[starts[rank] : ends[rank]]
        if looks_further:
            for before in level:
                found += parents[starts[before] : ends[before]]
            level = []
        for parent in found:
            if not seen[parent]:
                seen[parent] = 1
                heappush(heap, -parent)
                if looks_further:
                    level.append(parent)
    return out
