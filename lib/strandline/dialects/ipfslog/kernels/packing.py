"""Stored blocks to files of JSON lines of limited size."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator

import pyarrow as pa

from strandline.dialects.ipfslog.codec import canonical_cid, is_dag_pb
from strandline.dialects.ipfslog.types import BlockDocument, record_id
from strandline.dialects.ipfslog.verify import Foreign, read_element
from strandline.kernels import packing


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return files of about a MiB with the blocks, one per line, in order.

    Reads: block (BINARY).  Gives: `FILE_SCHEMA` of `kernels.packing`.  The address of a block is computed from it.
    """
    return packing.packed(
        _document(block) for batch in batches for block in batch.column("block").to_pylist()
    )


def _document(block: bytes) -> bytes:
    """Return the line of a block. A foreign block gets no address, so it is refused as NOT_AN_ENTRY."""
    document = {"data": b64encode(block).decode("ascii")}
    if not _is_foreign(block):
        document["cid"] = canonical_cid(record_id(block), "v0" if is_dag_pb(block) else "core2")
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True).encode("ascii") + b"\n"


def _is_foreign(block: bytes) -> bool:
    return is_dag_pb(block) and isinstance(read_element(BlockDocument(block, None, 0), "compat"), Foreign)
