"""Files to documents: entries in their one spelling, and unreadable input."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import pyarrow as pa

from strandline.core.verdict import Evidence
from strandline.dialects.devicelog.codec import (
    MAX_FILE_BYTES,
    Document,
    block_of,
    json_documents,
    line_documents,
)
from strandline.dialects.devicelog.types import MAX_LINE_BYTES, Refused
from strandline.kernels.blocks import BLOCK_FIELDS, BlockPieces, read_lines
from strandline.kernels.guard import INTERNAL_ERROR, guarded_steps, with_format
from strandline.kernels.lines import CappedReader, StreamLine
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import Content, ReadOptions, Source

DOCUMENT_FIELDS: Final = (*BLOCK_FIELDS, pa.field("sig", pa.binary()))
"""What a document adds to a piece. `judge_id` is the SHA-256 of the block, which is an entry in its one spelling."""


def read_content(source: Source, content: Content, pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the entries of one file, or of a split of a file of lines, in the order of the file."""
    adder = EntryPieces(source.file_no, content.part, pieces, options)
    read = _read_json if source.format == "json" else _read_lines

    def at_fault(evidence: Evidence) -> None:
        shown = with_format(evidence, source.format)
        adder.refuse((INTERNAL_ERROR,), shown, source.kept_content(options), content.offset)

    yield from guarded_steps(read(content, adder), at_fault)


def _read_lines(content: Content, adder: EntryPieces) -> Iterator[None]:
    return read_lines(content, adder, MAX_LINE_BYTES, adder.add_line)


def _read_json(content: Content, adder: EntryPieces) -> Iterator[None]:
    data, rest = bytearray(), iter(content)
    for block in rest:
        data += block
        if len(data) > MAX_FILE_BYTES:
            adder.refuse_file(bytes(data), rest, content.offset)
            yield
            return
    raw = bytes(data)
    data.clear()
    for document in json_documents(raw):
        adder.add(document, content.offset)
        yield


class EntryPieces(BlockPieces):
    """Turns the documents of one file into pieces, numbered in file order."""

    def add_line(self, line: StreamLine) -> Iterator[None]:
        """Add the document of one line, unless it is blank."""
        for document in line_documents(line.kept.raw, line.offset, ended=line.ended):
            self.add(document, 0)
            yield

    def add(self, document: Document, offset: int) -> None:
        """Add a document; `offset` is added to its own offset. An entry is kept in its one spelling."""
        found, at = document.found, document.offset + offset
        if isinstance(found, Refused):
            raw = self.kept(document.raw)
            self.refuse(document.reasons, found.evidence, raw, at, namespace=found.namespace)
            return
        block = block_of(found)
        self.put(
            "block", at, self.kept(block), namespace=found.namespace, record_id=found.record_id,
            judge_id=sha256(block).digest(), sig=found.sig,
        )  # fmt: skip

    def refuse_file(self, held: bytes, rest: Iterator[bytes], offset: int) -> None:
        """Reject a whole file as one record: it is too large."""
        reader = CappedReader(self.options.keep)
        reader.add(held)
        for block in rest:
            reader.add(block)
        kept = reader.kept()
        evidence: Evidence = {"expected": MAX_FILE_BYTES, "actual": kept.length}
        self.refuse(("FILE_TOO_LARGE",), {"FILE_TOO_LARGE": evidence}, kept, offset)
