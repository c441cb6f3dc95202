"""Length and digest of the decompressed content of files, in bounded memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.kernels.codecs import FILE_UNREADABLE, StreamDamage
from strandline.kernels.containers import StreamLimits, blocks
from strandline.kernels.inputs import open_input

CONTENT_SCHEMA: Final = pa.schema(
    [
        pa.field("file_no", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("sha256", pa.string(), nullable=False),
        pa.field("damage", pa.string()),
    ]
)


def contents(batches: Iterable[pa.RecordBatch], limits: StreamLimits) -> Iterator[pa.RecordBatch]:
    """Yield length and digest of the decompressed content of files, including byte order marks.

    Reads: file_no, path (BINARY, for `inputs.open_input`).
    Gives: CONTENT_SCHEMA; sha256 in lower-case hex. `damage` is the reason if the stream is damaged; length and digest
    are then those of the content before it.
    """
    for batch in batches:
        for file_no, path in zip(
            batch.column("file_no").to_pylist(), batch.column("path").to_pylist(), strict=True
        ):
            size, digest, damage = _content(path, limits)
            columns = {"file_no": [file_no], "bytes": [size], "sha256": [digest], "damage": [damage]}
            yield pa.RecordBatch.from_pydict(columns, schema=CONTENT_SCHEMA)


def _content(path: bytes, limits: StreamLimits) -> tuple[int, str, str | None]:
    digest, size = hashlib.sha256(), 0
    try:
        with open_input(path) as stream:
            for block in blocks(stream, limits):
                digest.update(block)
                size += len(block)
    except StreamDamage as damage:
        return size, digest.hexdigest(), damage.reason
    except OSError:
        return size, digest.hexdigest(), FILE_UNREADABLE
    return size, digest.hexdigest(), None
