"""Merkle roots over sorted batches: one per chunk of leaves, then one per tree.

A chunk is a full subtree of a tree, or the rest at its end, so that one task holds the hashes of one chunk only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa

from strandline.core.merkle import EMPTY_ROOT, root_of
from strandline.kernels.batches import as_batch
from strandline.kernels.digests import run_starts

CHUNK_BITS: Final = 16
CHUNK_LEAVES: Final = 1 << CHUNK_BITS

CHUNK_SCHEMA: Final = pa.schema(
    {"namespace": pa.string(), "chunk": pa.int64(), "size": pa.int64(), "root": pa.binary(), "old_root": pa.binary()}
)  # fmt: skip
ROOT_SCHEMA: Final = pa.schema(
    {"namespace": pa.string(), "size": pa.int64(), "root": pa.binary(), "old_root": pa.binary()}
)


@dataclass(slots=True)
class _Chunk:
    namespace: str
    number: int
    old_leaves: int
    is_whole: bool = True
    hashes: list[bytes] = field(default_factory=list)

    def row(self) -> tuple[str, int, int, bytes | None, bytes | None]:
        if not self.is_whole:
            return self.namespace, self.number, len(self.hashes), None, None
        root = root_of(self.hashes)
        if self.old_leaves >= len(self.hashes):
            # Leaves may be missing at the end: then no old tree has this root.
            return (
                self.namespace, self.number, len(self.hashes), root,
                root if self.old_leaves == len(self.hashes) else None,
            )  # fmt: skip
        old = root_of(self.hashes[: self.old_leaves]) if self.old_leaves else None
        return self.namespace, self.number, len(self.hashes), root, old


def chunk_roots(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the root of each chunk of `CHUNK_LEAVES` leaves, and that of its leaves that an older tree has, too.

    Reads: namespace, chunk (BIGINT), position (BIGINT), record_id (BINARY), old_size (BIGINT, leaves of the older
           tree), sorted by the first three, a chunk in one partition.
    Gives: CHUNK_SCHEMA. The root is null if positions repeat or are missing; `old_root` is null, too, if the older
           tree has no leaf of the chunk.
    """
    here: _Chunk | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        done: list[tuple[Any, ...]] = []
        namespaces, chunks, old_sizes = (batch.column(name) for name in ("namespace", "chunk", "old_size"))
        ids, positions = batch.column("record_id"), batch.column("position").to_numpy()
        starts = run_starts(batch, ("namespace", "chunk"))
        for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
            namespace, number = namespaces[start].as_py(), chunks[start].as_py()
            if here is None or (here.namespace, here.number) != (namespace, number):
                if here is not None:
                    done.append(here.row())
                first = number << CHUNK_BITS
                old_leaves = min(max(old_sizes[start].as_py() - first, 0), CHUNK_LEAVES)
                here = _Chunk(namespace, number, old_leaves)
            expected = (number << CHUNK_BITS) + len(here.hashes)
            ahead = np.arange(expected, expected + end - start)
            here.is_whole = here.is_whole and bool(np.array_equal(positions[start:end], ahead))
            here.hashes += _leaf_hashes(ids.slice(start, end - start))
        if done:
            yield as_batch(done, CHUNK_SCHEMA)
    if here is not None:
        yield as_batch([here.row()], CHUNK_SCHEMA)


def tree_roots(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the root of each tree, and that of the older tree, from those of chunks.

    Reads: CHUNK_SCHEMA sorted by namespace and chunk, a namespace in one partition.
    Gives: ROOT_SCHEMA. A root is null if leaves are missing; the older tree's is that of the empty tree without leaves.
    """
    here: _Tree | None = None
    for batch in batches:
        done: list[tuple[Any, ...]] = []
        columns = (batch.column(name).to_pylist() for name in CHUNK_SCHEMA.names)
        for namespace, number, size, root, old_root in zip(*columns, strict=True):
            if here is None or here.namespace != namespace:
                if here is not None:
                    done.append(here.row())
                here = _Tree(namespace)
            here.add(number, size, root, old_root)
        if done:
            yield as_batch(done, ROOT_SCHEMA)
    if here is not None:
        yield as_batch([here.row()], ROOT_SCHEMA)


@dataclass(slots=True)
class _Tree:
    namespace: str
    size: int = 0
    is_whole: bool = True
    roots: list[bytes] = field(default_factory=list)
    old_roots: list[bytes] = field(default_factory=list)

    def add(self, number: int, size: int, root: bytes | None, old_root: bytes | None) -> None:
        # A chunk that is not full must be the last one.
        follows = number == len(self.roots) and self.size == number << CHUNK_BITS
        self.is_whole = self.is_whole and follows and root is not None
        self.size += size
        if root is not None:
            self.roots.append(root)
        if old_root is not None:
            self.old_roots.append(old_root)

    def row(self) -> tuple[str, int, bytes | None, bytes | None]:
        if not self.is_whole:
            return self.namespace, self.size, None, None
        old = root_of(self.old_roots) if self.old_roots else EMPTY_ROOT
        return self.namespace, self.size, root_of(self.roots), old


def _leaf_hashes(ids: pa.Array) -> list[bytes]:
    sha256 = hashlib.sha256
    return [sha256(b"\0" + each).digest() for each in ids.to_pylist()]
