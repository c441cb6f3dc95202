"""Files to documents: entries in their one spelling, and unreadable input."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import pyarrow as pa

from strandline.dialects.devicelog.codec import (
    MAX_FILE_BYTES,
    Document,
    block_of,
    json_documents,
    line_documents,
)
from strandline.dialects.devicelog.types import MAX_LINE_BYTES, Refused
from strandline.kernels.blocks import BLOCK_FIELDS, BlockPieces
from strandline.kernels.documents import guarded_file, read_lines, read_whole
from strandline.kernels.lines import CappedBytes, StreamLine
from strandline.kernels.opened import Content
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, Source

DOCUMENT_FIELDS: Final = (*BLOCK_FIELDS, pa.field("sig", pa.binary()))
"""What a document adds to a piece. `judge_id` is the SHA-256 of the block, which is an entry in its one spelling."""


def read_content(source: Source, content: Content, pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the entries of one file, or of a split of a file of lines, in the order of the file."""
    adder = EntryPieces(source.file_no, content.part, pieces, options)
    read = _read_json if source.format == "json" else _read_lines
    return guarded_file(read(content, adder), source, content, adder)


def _read_lines(content: Content, adder: EntryPieces) -> Iterator[None]:
    return read_lines(content, adder, MAX_LINE_BYTES, adder.add_line)


def _read_json(content: Content, adder: EntryPieces) -> Iterator[None]:
    def add(raw: bytes) -> Iterator[None]:
        for document in json_documents(raw):
            adder.add(document, content.offset)
            yield

    return read_whole(content, adder, MAX_FILE_BYTES, add)


class EntryPieces(BlockPieces):
    """Turns the documents of one file into pieces, numbered in file order."""

    def add_line(self, line: StreamLine) -> Iterator[None]:
        """Add the document of one line, unless it is blank."""
        for document in line_documents(line.kept.raw, line.offset, ended=line.ended):
            self.add(document, 0)
            yield

    def add(self, document: Document, offset: int) -> None:
        """Add a document; `offset` is added to its own offset. An entry is kept whole, in its one spelling."""
        found, at = document.found, document.offset + offset
        if isinstance(found, Refused):
            raw = self.kept(document.raw)
            self.refuse(document.reasons, found.evidence, raw, at, namespace=found.namespace)
            return
        block = block_of(found)
        self.put(
            "block", at, CappedBytes(block, len(block)), namespace=found.namespace, record_id=found.record_id,
            judge_id=sha256(block).digest(), sig=found.sig,
        )  # fmt: skip
