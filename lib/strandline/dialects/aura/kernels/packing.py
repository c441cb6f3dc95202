"""Stored facts as the content of files: lines of JSON, elements of a journal document, items of a CBOR sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import DocumentFormat, fact_forms, parse_fact_cbor, to_json
from strandline.kernels.batches import as_batch

FILE_SCHEMA: Final = pa.schema([pa.field("content", pa.binary()), pa.field("records", pa.int64())])
SEPARATORS: Final = {"lines": b"", "json": b",\n", "cbor": b""}
"""What is between two facts, by format: those of a document are elements of a list."""

_PIECE_BYTES: Final = 1024 * 1024


def packed(batches: Iterable[pa.RecordBatch], *, form: DocumentFormat) -> Iterator[pa.RecordBatch]:
    """Yield facts in a format, about a MiB per row, in the order given; `SEPARATORS` go between rows.

    Reads: fact_cbor.  Gives: FILE_SCHEMA; `records` is the number of facts of a row.
    Bytes that are no fact become an empty object, which is refused where it is read.
    """
    separator = SEPARATORS[form]
    for batch in batches:
        pieces: list[bytes] = []
        size = 0
        for raw in batch.column("fact_cbor").to_pylist():
            pieces.append(_packed(raw, form))
            size += len(pieces[-1])
            if size >= _PIECE_BYTES:
                yield as_batch([(separator.join(pieces), len(pieces))], FILE_SCHEMA)
                pieces, size = [], 0
        if pieces:
            yield as_batch([(separator.join(pieces), len(pieces))], FILE_SCHEMA)


def _packed(raw: bytes, form: DocumentFormat) -> bytes:
    fact = parse_fact_cbor(raw, fact_forms(None, transitions=True))
    if form == "cbor":
        return b"\xa0" if isinstance(fact, Finding) else raw
    text = "{}" if isinstance(fact, Finding) else to_json(fact)
    return text.encode() + (b"\n" if form == "lines" else b"")
