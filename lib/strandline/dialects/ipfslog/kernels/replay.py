"""A row of the quarantine that is judged again to documents, as it was delivered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from strandline.dialects.ipfslog.codec import line_documents
from strandline.dialects.ipfslog.kernels.documents import DocumentPieces, read_content
from strandline.dialects.ipfslog.types import BlockDocument, JsonDocument, Unreadable
from strandline.kernels.blocks import keep_rejected
from strandline.kernels.guard import INTERNAL_ERROR
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, read_one

_OF_A_FILE = frozenset({"BLOCK_TOO_LARGE", "CAR_MALFORMED", "CAR_TRUNCATED"})
"""Reasons of a place in a CAR that does not open by itself, or whose size decided: it keeps them."""


def replay(row: Mapping[str, Any], pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the documents of a row as they were delivered, with what they claimed, yielding often."""
    raw, codes = row["raw"], row["reasons"].split(",")
    adder = DocumentPieces(row["file_no"], 0, pieces, options)
    evidence: dict[str, Any] = json.loads(row["evidence"] or "{}")
    snapshot_id = evidence.get("LOG_ID_MISMATCH", {}).get("expected")
    if not _OF_A_FILE.isdisjoint(codes):
        keep_rejected(row, pieces, options)
        return
    fault = evidence.get(INTERNAL_ERROR, {})
    if "format" in fault:
        # A whole file met a fault of ours.
        yield from read_one(row["file_no"], raw, pieces, options, read_content, fault["format"])
        return
    if row["record_id"] is not None:
        adder.add(BlockDocument(raw, _claimed(evidence), 0, snapshot_id), None, 0)
        return
    ended = "TRUNCATED" not in codes
    # Read twice rather than held: of one line there may be 65,536.
    found = line_documents(raw, 0, len(raw), ended=ended)
    if all(isinstance(each, Unreadable) and each.reasons == tuple(codes) for each in found):
        # What stood around it is gone: it keeps the evidence that tells of that.
        keep_rejected(row, pieces, options)
        return
    for document in line_documents(raw, 0, len(raw), ended=ended):
        is_plain = isinstance(document, BlockDocument | JsonDocument)
        adder.add(replace(document, snapshot_id=snapshot_id) if is_plain else document, None, 0)
        yield


def _claimed(evidence: dict[str, Any]) -> str | None:
    claimed: str | None = evidence.get("HASH_MISMATCH", {}).get("claimed")
    for code in ("CID_MALFORMED", "CID_UNSUPPORTED"):
        if evidence.get(code, {}).get("field") == "cid":
            claimed = evidence[code]["actual"]
    return claimed
