"""Pieces, the rows between reading and judging: one per record, or per part of a file that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from strandline.kernels.batches import as_batch
from strandline.kernels.lines import CappedBytes

PIECE_FIELDS = (
    pa.field("file_no", pa.int64(), nullable=False),
    pa.field("part", pa.int64(), nullable=False),
    pa.field("frame", pa.int64(), nullable=False),
    pa.field("offset", pa.int64(), nullable=False),
    pa.field("size", pa.int64(), nullable=False),
    pa.field("raw", pa.binary(), nullable=False),
    pa.field("raw_bytes", pa.int64(), nullable=False),
    pa.field("raw_sha256", pa.binary()),
    pa.field("damage", pa.string()),
    pa.field("evidence", pa.string()),
)
"""Fields of every piece.

- `file_no`: the file, ascending in the order of paths; `part`: its split; `frame`: the frame in the part.
- `offset`: in the decompressed stream, bytes; `size`: its bytes there, including the LF.
- `raw`: its bytes, complete if `raw_sha256` is null; `raw_bytes`: their number; `raw_sha256`: digest of all bytes.
- `damage`: null for a record; else the reasons, joined by commas, why it cannot be read; `evidence`: the JSON object
  of these reasons.

A dialect appends further fields. Rows of a part have the order of the stream.
"""


def piece_schema(extra: tuple[pa.Field, ...]) -> pa.Schema:
    """Return the schema of pieces with the fields that a dialect appends."""
    return pa.schema((*PIECE_FIELDS, *extra))


DAMAGE_FRAME = 2**62
"""`frame` of a damaged stream: sorts after all frames of its part, which starts at the damage or before it."""

_FLUSH_BYTES = 4 * 1024 * 1024
_FLUSH_ROWS = 20_000


class Pieces:
    """Collects pieces of one task and returns them as record batches of bounded size.

    `first_part` is added to the part of each piece.
    """

    def __init__(self, extra: tuple[pa.Field, ...] = ()) -> None:
        self.first_part = 0
        self.schema = piece_schema(extra)
        self._optional = ("damage", "evidence", *(column.name for column in extra))
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    def add(
        self, file_no: int, part: int, frame: int, offset: int, size: int, kept: CappedBytes, **more: object
    ) -> None:
        """Add one piece; `more` has damage, evidence and the dialect's fields; missing ones are null."""
        values = map(more.get, self._optional)
        part += self.first_part
        self._rows.append((file_no, part, frame, offset, size, kept.raw, kept.length, kept.sha256, *values))
        self._bytes += len(kept.raw) + 64

    def full(self) -> Iterator[pa.RecordBatch]:
        """Yield a batch if enough pieces were added."""
        if self._bytes >= _FLUSH_BYTES or len(self._rows) >= _FLUSH_ROWS:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield the remaining pieces, if any."""
        if self._rows:
            batch = as_batch(self._rows, self.schema)
            self._rows, self._bytes = [], 0
            yield batch
