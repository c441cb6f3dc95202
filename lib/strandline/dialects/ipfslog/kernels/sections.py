"""Blocks as sections of a CAR."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.dialects.ipfslog.codec import parse_cid, section
from strandline.dialects.ipfslog.types import Cid
from strandline.kernels.batches import as_batch

SECTION_SCHEMA: Final = pa.schema([pa.field("content", pa.binary()), pa.field("records", pa.int64())])
_PIECE_BYTES: Final = 1024 * 1024


def sections(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield blocks as sections of a CAR, about PIECE_BYTES per row, in the order given.

    Reads: cid (the canonical text of the content address), block.
    Gives: SECTION_SCHEMA; `records` is the number of sections in a row.
    """
    for batch in batches:
        piece, records = bytearray(), 0
        for text, block in zip(
            batch.column("cid").to_pylist(), batch.column("block").to_pylist(), strict=True
        ):
            cid = parse_cid(text)
            if not isinstance(cid, Cid):
                raise ValueError("a stored record must have a content address")
            piece += section(cid.raw, block)
            records += 1
            if len(piece) >= _PIECE_BYTES:
                yield as_batch([(bytes(piece), records)], SECTION_SCHEMA)
                piece, records = bytearray(), 0
        if records:
            yield as_batch([(bytes(piece), records)], SECTION_SCHEMA)
