"""Rejected rows of the quarantine to documents, each as it was delivered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from strandline.dialects.ipfslog.codec import line_documents
from strandline.dialects.ipfslog.kernels.documents import DOCUMENT_FIELDS, DocumentPieces
from strandline.dialects.ipfslog.types import BlockDocument, JsonDocument, Unreadable
from strandline.kernels.lines import CappedBytes
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions

_OF_A_FILE = frozenset(
    {
        "BLOCK_TOO_LARGE", "BOMB", "CAR_MALFORMED", "CAR_TRUNCATED", "CONTAINER_DAMAGED", "CONTAINER_NESTED",
        "CONTAINER_UNSUPPORTED", "FILE_TOO_LARGE", "LINE_TOO_LARGE",
    }
)  # fmt: skip
"""Reasons of a place that does not open by itself, or whose size decided: it keeps them."""


def replayed(batches: Iterable[pa.RecordBatch], options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Yield the pieces of rejected documents that are judged again, with what they claimed.

    Reads: file_no, namespace, raw, record_id, reasons (joined by commas), evidence.
    Gives: PIECE_FIELDS and DOCUMENT_FIELDS.
    """
    pieces = Pieces(DOCUMENT_FIELDS)
    for batch in batches:
        names = ("file_no", "namespace", "raw", "record_id", "reasons", "evidence")
        for file_no, namespace, raw, record_id, reasons, told in zip(
            *(batch.column(name).to_pylist() for name in names), strict=True
        ):
            adder = DocumentPieces(file_no, 0, pieces, options)
            codes = reasons.split(",")
            evidence: dict[str, Any] = json.loads(told or "{}")
            snapshot_id = evidence.get("LOG_ID_MISMATCH", {}).get("expected")
            is_cut = codes == ["TRUNCATED"] or not _OF_A_FILE.isdisjoint(codes)
            if is_cut:
                kept = CappedBytes(raw, len(raw))
                adder.refuse(tuple(codes), evidence, kept, 0, namespace=namespace, record_id=record_id)
            elif record_id is not None:
                block = BlockDocument(raw, _claimed(evidence), 0, snapshot_id)
                adder.add(block, None, 0)
            else:
                ended = "TRUNCATED" not in codes
                # Read twice rather than held: of one line there may be 65,536.
                found = line_documents(raw, 0, len(raw), ended=ended)
                if all(isinstance(each, Unreadable) and each.reasons == tuple(codes) for each in found):
                    # What stood around it is gone: it keeps the evidence that tells of that.
                    adder.refuse(tuple(codes), evidence, CappedBytes(raw, len(raw)), 0)
                    continue
                for document in line_documents(raw, 0, len(raw), ended=ended):
                    is_plain = isinstance(document, BlockDocument | JsonDocument)
                    adder.add(replace(document, snapshot_id=snapshot_id) if is_plain else document, None, 0)
                    yield from pieces.full()
            yield from pieces.full()
    yield from pieces.rest()


def _claimed(evidence: dict[str, Any]) -> str | None:
    claimed: str | None = evidence.get("HASH_MISMATCH", {}).get("claimed")
    for code in ("CID_MALFORMED", "CID_UNSUPPORTED"):
        if evidence.get(code, {}).get("field") == "cid":
            claimed = evidence[code]["actual"]
    return claimed
