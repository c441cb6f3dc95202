"""Blocks as sections of a CAR."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from strandline.dialects.ipfslog.codec import parse_cid, section
from strandline.dialects.ipfslog.types import Cid
from strandline.kernels import packing


def sections(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return blocks as sections of a CAR, about a MiB per row, in the order given.

    Reads: cid (the canonical text of the content address), block.
    Gives: `FILE_SCHEMA` of `kernels.packing`.
    """
    return packing.packed(
        _section(text, block)
        for batch in batches
        for text, block in zip(
            batch.column("cid").to_pylist(), batch.column("block").to_pylist(), strict=True
        )
    )


def _section(text: str, block: bytes) -> bytes:
    cid = parse_cid(text)
    if not isinstance(cid, Cid):
        raise ValueError("a stored record must have a content address")
    return section(cid.raw, block)
