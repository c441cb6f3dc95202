"""Files to documents: canonical facts with their ids, and unreadable input."""

from __future__ import annotations

from collections.abc import Iterator

from strandline.core.encoding.cbor_items import item_end
from strandline.core.encoding.json_slices import stripped
from strandline.core.encoding.strict_json import BYTE_ORDER_MARK
from strandline.dialects.aura.codec import (
    MAX_FILE_BYTES,
    MAX_LINE_BYTES,
    NESTING,
    cbor_documents,
    line_documents,
)
from strandline.dialects.aura.codec.journals import journal_document
from strandline.dialects.aura.info import reads_transitions
from strandline.dialects.aura.types import Document, Unreadable
from strandline.kernels.blocks import BlockPieces
from strandline.kernels.documents import guarded_file, read_lines, read_whole
from strandline.kernels.lines import CappedBytes, StreamLine
from strandline.kernels.opened import Content
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, Source

_FIRST_ITEM_BYTES = 1024 * 1024


def read_content(source: Source, content: Content, pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the facts of one file, or of a split of a file of lines, in the order of the file."""
    adder = FactPieces(source.file_no, content.part, pieces, options)
    read = {"lines": _read_lines, "cbor": _read_cbor}.get(source.format or "", _read_json)
    return guarded_file(read(content, adder), source, content, adder)


def _read_lines(content: Content, adder: FactPieces) -> Iterator[None]:
    return read_lines(content, adder, MAX_LINE_BYTES, adder.add_line)


def _read_json(content: Content, adder: FactPieces) -> Iterator[None]:
    def add(raw: bytes) -> Iterator[None]:
        piece = stripped(raw, 0, len(raw))
        if piece.start < piece.end:
            for document in journal_document(raw, piece, transitions=adder.transitions):
                adder.add(document, content.offset)
                yield

    return read_whole(content, adder, MAX_FILE_BYTES, add)


def _read_cbor(content: Content, adder: FactPieces) -> Iterator[None]:
    """Add the items of a sequence one by one; only one item of up to 64 MiB is in memory."""
    # Bytes that a text reader skips as a byte order mark are part of a sequence.
    held, rest = bytearray(BYTE_ORDER_MARK if content.offset else b""), iter(content)
    offset, wanted = 0, _FIRST_ITEM_BYTES
    is_more = True
    while True:
        while is_more and len(held) < wanted:
            block = next(rest, None)
            is_more = block is not None
            held += block or b""
        raw = bytes(held)
        at = 0
        while at < len(raw):
            end = item_end(raw, at, NESTING)
            if not isinstance(end, int):
                break
            for document in cbor_documents(raw[at:end], transitions=adder.transitions):
                adder.add(document, offset + at)
                yield
            at = end
        if at == len(raw) and not is_more:
            return
        if at < len(raw) and (end != "cut" or not is_more or len(raw) - at > MAX_FILE_BYTES):
            cause = "length" if end == "cut" and is_more else str(end)
            kept = adder.kept_rest([raw[at:]], rest)
            adder.refuse(("CBOR_INVALID",), {"CBOR_INVALID": {"cause": cause}}, kept, offset + at)
            yield
            return
        del held[:at]
        offset += at
        wanted = max(_FIRST_ITEM_BYTES, 2 * len(held))


class FactPieces(BlockPieces):
    """Turns the documents of one file into pieces, numbered in file order."""

    @property
    def transitions(self) -> bool:
        """Whether AMP transitions are facts in this lake."""
        return reads_transitions(self.options.lake_options)

    def add_line(self, line: StreamLine) -> Iterator[None]:
        """Add the documents of one line; yields after each document so that full batches can leave."""
        raw = line.kept.raw
        found = line_documents(raw, 0, len(raw), ended=line.ended, transitions=self.transitions)
        for document in found:
            self.add(document, line.offset)
            yield

    def add(self, document: Document, offset: int) -> None:
        """Add a document; `offset` is added to its own offset. A fact is kept whole, in its canonical encoding."""
        at = document.offset + offset
        if isinstance(document, Unreadable):
            namespace = None if document.namespace is None else document.namespace.text
            raw = self.kept(document.raw)
            self.refuse(document.reasons, document.evidence, raw, at, namespace=namespace)
            return
        fact = document.fact
        self.put(
            "block", at, CappedBytes(fact.cbor, len(fact.cbor)), namespace=fact.namespace.text,
            record_id=fact.fact_id, judge_id=fact.fact_id,
        )  # fmt: skip
