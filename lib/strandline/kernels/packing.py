"""Encoded records as the content of files, about a MiB in a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.kernels.batches import as_batch

FILE_SCHEMA: Final = pa.schema([pa.field("content", pa.binary()), pa.field("records", pa.int64())])
"""`records` is the number of records in `content`."""

_PIECE_BYTES: Final = 1024 * 1024


def packed(records: Iterable[bytes], separator: bytes = b"") -> Iterator[pa.RecordBatch]:
    """Yield records as FILE_SCHEMA, in the order given; `separator` is between two of them in a row."""
    pieces: list[bytes] = []
    size = 0
    for record in records:
        pieces.append(record)
        size += len(record)
        if size >= _PIECE_BYTES:
            yield _row(pieces, separator)
            pieces, size = [], 0
    if pieces:
        yield _row(pieces, separator)


def _row(pieces: list[bytes], separator: bytes) -> pa.RecordBatch:
    return as_batch([(separator.join(pieces), len(pieces))], FILE_SCHEMA)
