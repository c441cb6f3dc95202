"""A row of the quarantine that is judged again, to its documents as delivered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from strandline.dialects.ipfslog.codec import line_documents
from strandline.dialects.ipfslog.kernels.documents import DocumentPieces, read_content
from strandline.dialects.ipfslog.types import BlockDocument, JsonDocument, Unreadable
from strandline.kernels.blocks import keep_rejected
from strandline.kernels.documents import faulty_file
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions

_FILE_REASONS = frozenset({"BLOCK_TOO_LARGE", "CAR_MALFORMED", "CAR_TRUNCATED"})
"""Reasons that depend on the whole CAR or on the size of a block; they stay as they are."""


def replay(row: Mapping[str, Any], pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the documents of a row as delivered, with their claims; yields often."""
    raw, codes = row["raw"], row["reasons"].split(",")
    adder = DocumentPieces(row["file_no"], 0, pieces, options)
    evidence: dict[str, Any] = json.loads(row["evidence"] or "{}")
    snapshot_id = evidence.get("LOG_ID_MISMATCH", {}).get("expected")
    if not _FILE_REASONS.isdisjoint(codes):
        keep_rejected(row, pieces, options)
        return
    whole = faulty_file(row, pieces, options, read_content)
    if whole is not None:
        yield from whole
        return
    if row["record_id"] is not None:
        adder.add(BlockDocument(raw, _claimed(evidence), 0, snapshot_id), None, 0)
        return
    ended = "TRUNCATED" not in codes
    # Parsed twice instead of kept in memory: a line can have 65,536 documents.
    found = line_documents(raw, 0, len(raw), ended=ended)
    if all(isinstance(each, Unreadable) and each.reasons == tuple(codes) for each in found):
        # The file around it is not stored, so it keeps its evidence.
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
