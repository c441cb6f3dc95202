"""Chunks: consecutive lines of a text journal in one row, judged together.

A chunk has lines of profile 0.9 with the length and the line ends of good ones. Other lines are rows of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from strandline.dialects.sdmp.codec import ID_CHARS, LINE_BYTES
from strandline.kernels.lines import CappedBytes
from strandline.kernels.pieces import Pieces

PROFILE: Final = "0.9"
CHARS: Final = ID_CHARS[PROFILE]
CHUNK_LINE_BYTES: Final = LINE_BYTES[PROFILE] + 1
"""Bytes of a line n > 1 with its LF."""
FIRST_LINE_BYTES: Final = CHARS + 1
"""Bytes of line 1 with its LF; a chunk can start with it."""

CHUNK_FRAME: Final = -2
"""Value of `frame` for a chunk; its lines have that of lines of a text journal."""

_ID = b"0" * CHARS
_FORM: Final = _ID + b"@" + _ID + b"/" + _ID + b"\n"
_CLASSES: Final = bytes(
    byte if byte in b"@/\n" else ord("0") if byte in b"0123456789abcdef" else ord("?") for byte in range(256)
)
"""Each byte becomes the one that stands for it in `_FORM`."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A chunk in which each line follows the one before: `number` is that of its first line, None for line 1."""

    lines: int
    number: str | None
    last_hash: str


def has_line_ends(chunk: bytes, first: int) -> bool:
    """Return whether each line has the length of its form: line 1 of `first` bytes or none, then lines n > 1.

    No byte is a CR: a lake that is not strict reads a line without the CR at its end, so its length is another one.
    """
    lines = (len(chunk) - first) // CHUNK_LINE_BYTES
    ends = chunk[first + CHUNK_LINE_BYTES - 1 :: CHUNK_LINE_BYTES]
    has_all = len(ends) == lines == chunk.count(b"\n", first) and ends == b"\n" * lines
    return has_all and b"\r" not in chunk


def judge_chunk(chunk: bytes) -> Judged | None:
    """Return what is known of a chunk if every line has its form and follows the one before, else None.

    Source: node journal rules, checks 5, 6 and 8. Line 1 has its form, since the node was read from it.
    """
    first = len(chunk) % CHUNK_LINE_BYTES
    lines = (len(chunk) - first) // CHUNK_LINE_BYTES
    if not lines or chunk[first:].translate(_CLASSES) != _FORM * lines:
        return None
    sha256 = hashlib.sha256
    hashes = [sha256(chunk[: first - 1]).hexdigest()] if first else []
    hashes += [
        sha256(chunk[at : at + CHUNK_LINE_BYTES - 1]).hexdigest()
        for at in range(first, len(chunk), CHUNK_LINE_BYTES)
    ]
    table = np.frombuffer(chunk, np.uint8, offset=first).reshape(lines, CHUNK_LINE_BYTES)
    numbers = table[:, :CHARS].tobytes().decode("ascii")
    claimed = numbers if first else numbers[CHARS:]
    if "".join(hashes[:-1]) != claimed:
        return None
    return Judged(len(hashes), None if first else numbers[:CHARS], hashes[-1])


def chunk_lines(
    batches: Iterable[pa.RecordBatch], frame: int, fields: tuple[pa.Field, ...]
) -> Iterator[pa.RecordBatch]:
    """Yield the lines of chunks as pieces, one row each.

    Reads: file_no, part, offset, size, raw, node.
    Gives: PIECE_FIELDS and `fields`, with this `frame`. The LF that the last line of a file may not have is not in its
            `size`.
    """
    pieces = Pieces(fields)
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in _CHUNK_COLUMNS)
        for file_no, part, offset, size, raw, node in zip(*columns, strict=True):
            added = len(raw) - size
            *before, last = raw[:-1].split(b"\n")
            for line in before:
                pieces.add(
                    file_no, part, frame, offset, len(line) + 1, CappedBytes(line, len(line)), node=node
                )
            pieces.add(
                file_no, part, frame, offset, len(last) + 1 - added, CappedBytes(last, len(last)), node=node
            )
            yield from pieces.full()
    yield from pieces.rest()


_CHUNK_COLUMNS: Final = ("file_no", "part", "offset", "size", "raw", "node")
