"""Stored facts as the content of files: lines of JSON, elements of a journal document, items of a CBOR sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.core.verdict import Finding
from strandline.dialects.aura.codec import DocumentFormat, fact_forms, parse_fact_cbor, to_json
from strandline.kernels import packing

SEPARATORS: Final = {"lines": b"", "json": b",\n", "cbor": b""}
"""What is between two facts, by format: those of a document are elements of a list."""


def packed(batches: Iterable[pa.RecordBatch], *, form: DocumentFormat) -> Iterator[pa.RecordBatch]:
    """Yield facts in a format, about a MiB per row, in the order given; `SEPARATORS` go between rows.

    Reads: fact_cbor.  Gives: `FILE_SCHEMA` of `kernels.packing`.
    Bytes that are no fact become an empty object, which is refused where it is read.
    """
    separator = SEPARATORS[form]
    for batch in batches:
        facts = batch.column("fact_cbor").to_pylist()
        yield from packing.packed((_packed(raw, form) for raw in facts), separator)


def _packed(raw: bytes, form: DocumentFormat) -> bytes:
    fact = parse_fact_cbor(raw, fact_forms(None, transitions=True))
    if form == "cbor":
        return b"\xa0" if isinstance(fact, Finding) else raw
    text = "{}" if isinstance(fact, Finding) else to_json(fact)
    return text.encode() + (b"\n" if form == "lines" else b"")
