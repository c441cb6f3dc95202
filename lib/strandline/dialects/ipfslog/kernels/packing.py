"""Stored blocks to CARs, as many in one as a task may hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from strandline.dialects.ipfslog.codec import car, parse_cid
from strandline.dialects.ipfslog.types import Cid
from strandline.kernels.batches import as_batch

CAR_SCHEMA = pa.schema([pa.field("content", pa.binary())])
MAX_CAR_BYTES = 2 * 1024 * 1024


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield CARs without roots that hold the blocks, in their order.

    Reads: cid (text), block (BINARY).  Gives: CAR_SCHEMA.  A stored address is one: it was verified.
    """
    held: list[tuple[bytes, bytes]] = []
    size = 0
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("cid", "block"))
        for text, block in zip(*columns, strict=True):
            cid = parse_cid(text)
            if not isinstance(cid, Cid):
                raise ValueError(f"{text} is stored as a content address and is none")
            held.append((cid.raw, block))
            size += len(block)
            if size >= MAX_CAR_BYTES:
                yield as_batch([(car((), held),)], CAR_SCHEMA)
                held, size = [], 0
    if held:
        yield as_batch([(car((), held),)], CAR_SCHEMA)
