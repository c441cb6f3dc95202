"""Placed chunks to the rows of their lines."""

from __future__ import annotations

from binascii import unhexlify
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from strandline.dialects.sdmp.kernels.chunks import CHARS, CHUNK_LINE_BYTES, FIRST_LINE_BYTES, PROFILE

ACCEPTED_SCHEMA: Final = pa.schema(
    {
        "namespace": pa.string(), "bucket": pa.int32(), "record_id": pa.binary(), "profile": pa.string(),
        "n": pa.int64(), "line_number": pa.string(), "line_hash": pa.string(), "author_fp": pa.string(),
        "resource_id": pa.string(), "origin": pa.string(), "source": pa.string(),
    }
)  # fmt: skip
"""The columns of `node_journal_line` without those that the writing run adds."""

_BATCH_LINES = 8192
"""Lines at which a batch is passed on: half a megabyte for each id."""


def accepted_lines(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the lines of chunks that `judge_chunk` accepted, in the order of the chunks.

    Reads: raw, last_hash, namespace, bucket, n (of the first line), source.
    Gives: ACCEPTED_SCHEMA.
    The hash of a line is the number of the next one, so nothing is hashed again.
    """
    placed: list[_Placed] = []
    lines = 0
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in _Placed.__match_args__)
        for row in zip(*columns, strict=True):
            placed.append(_Placed(*row))
            lines += placed[-1].lines
            if lines >= _BATCH_LINES:
                yield _rows(placed)
                placed, lines = [], 0
    if placed:
        yield _rows(placed)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A chunk with the position of its first line, and what is equal in all of its lines."""

    raw: bytes
    last_hash: str
    namespace: str
    bucket: int
    n: int
    source: str | None

    @property
    def has_first_line(self) -> bool:
        return len(self.raw) % CHUNK_LINE_BYTES > 0

    @property
    def lines(self) -> int:
        return len(self.raw) // CHUNK_LINE_BYTES + self.has_first_line

    def ids(self, at: int) -> bytes:
        """Return the id at byte `at` of each line n > 1."""
        first = len(self.raw) % CHUNK_LINE_BYTES
        lines = np.frombuffer(self.raw, np.uint8, offset=first).reshape(-1, CHUNK_LINE_BYTES)
        return lines[:, at : at + CHARS].tobytes()


def _rows(chunks: Sequence[_Placed]) -> pa.RecordBatch:
    counts = np.array([chunk.lines for chunk in chunks])
    starts = np.cumsum(counts) - counts
    chunk_no = np.repeat(np.arange(len(chunks)), counts)
    lines = len(chunk_no)
    first_n = np.array([chunk.n for chunk in chunks])
    is_link = np.ones(lines, dtype=bool)
    is_link[starts[[chunk.has_first_line for chunk in chunks]]] = False

    def same(values: Sequence[str | None]) -> pa.Array:
        return pa.array(values, pa.string()).take(pa.array(chunk_no))

    def of_links(ids: Sequence[bytes]) -> pa.Array:
        """Return the ids of lines n > 1, and null for line 1."""
        texts = _texts(b"".join(ids))
        if is_link.all():
            return texts
        return texts.take(pa.array(np.cumsum(is_link) - 1, mask=~is_link))

    numbers = [chunk.ids(0) for chunk in chunks]
    hashes = b"".join(
        (ids if chunk.has_first_line else ids[CHARS:]) + chunk.last_hash.encode("ascii")
        for chunk, ids in zip(chunks, numbers, strict=True)
    )
    columns = {
        "namespace": same([chunk.namespace for chunk in chunks]),
        "bucket": pa.array(np.array([chunk.bucket for chunk in chunks], np.int32)[chunk_no]),
        "record_id": _binaries(unhexlify(hashes)),
        "profile": pa.repeat(pa.scalar(PROFILE), lines),
        "n": pa.array(first_n[chunk_no] + np.arange(lines) - starts[chunk_no]),
        "line_number": of_links(numbers),
        "line_hash": _texts(hashes),
        "author_fp": of_links([chunk.ids(FIRST_LINE_BYTES) for chunk in chunks]),
        "resource_id": of_links([chunk.ids(2 * FIRST_LINE_BYTES) for chunk in chunks]),
        "origin": pa.repeat(pa.scalar("received"), lines),
        "source": same([chunk.source for chunk in chunks]),
    }
    return pa.RecordBatch.from_pydict(columns, schema=ACCEPTED_SCHEMA)


def _texts(ids: bytes) -> pa.Array:
    count = len(ids) // CHARS
    return pa.StringArray.from_buffers(count, _offsets(count, CHARS), pa.py_buffer(ids))


def _binaries(digests: bytes) -> pa.Array:
    size = CHARS // 2
    count = len(digests) // size
    return pa.BinaryArray.from_buffers(
        pa.binary(), count, [None, _offsets(count, size), pa.py_buffer(digests)]
    )


def _offsets(count: int, size: int) -> pa.Buffer:
    return pa.py_buffer(np.arange(0, (count + 1) * size, size, dtype=np.int32))
