"""Stored facts as lines of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import parse_fact_cbor, to_json
from strandline.kernels.batches import as_batch

FILE_SCHEMA: Final = pa.schema([pa.field("content", pa.binary()), pa.field("records", pa.int64())])
_PIECE_BYTES: Final = 1024 * 1024


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield facts as lines of JSON, about a MiB per row, in the order given.

    Reads: fact_cbor.  Gives: FILE_SCHEMA; `records` is the number of lines of a row.
    Bytes that are no fact become an empty object, which is refused where it is read.
    """
    for batch in batches:
        lines: list[bytes] = []
        size = 0
        for raw in batch.column("fact_cbor").to_pylist():
            fact = parse_fact_cbor(raw)
            line = b"{}\n" if isinstance(fact, Finding) else to_json(fact).encode() + b"\n"
            lines.append(line)
            size += len(line)
            if size >= _PIECE_BYTES:
                yield as_batch([(b"".join(lines), len(lines))], FILE_SCHEMA)
                lines, size = [], 0
        if lines:
            yield as_batch([(b"".join(lines), len(lines))], FILE_SCHEMA)
