"""A row of the quarantine that is judged again, to its document as delivered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from strandline.dialects.devicelog.codec import element_document, line_documents
from strandline.dialects.devicelog.kernels.documents import EntryPieces, read_content
from strandline.kernels.blocks import keep_rejected
from strandline.kernels.documents import faulty_file
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions


def replay(row: Mapping[str, Any], pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the document of a row as delivered; yields often.

    A row with a record id is an entry in its one spelling. Other bytes were a line, or a value of a whole file, which
    is always a message. If a reading gives the reasons of the row, the row stays as it is.
    """
    raw, codes = row["raw"], tuple(row["reasons"].split(","))
    whole = faulty_file(row, pieces, options, read_content)
    if whole is not None:
        yield from whole
        return
    of_line = list(line_documents(raw, ended="TRUNCATED" not in codes))
    of_file = element_document(raw)
    if row["record_id"] is None and any(each.reasons == codes for each in (*of_line, of_file)):
        keep_rejected(row, pieces, options)
        return
    is_of_file = row["record_id"] is None and any(code.startswith("SSB_") for code in codes)
    for document in (of_file,) if is_of_file or not of_line else of_line:
        EntryPieces(row["file_no"], 0, pieces, options).add(replace(document, offset=0), 0)
        yield
