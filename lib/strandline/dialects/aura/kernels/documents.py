"""Files to documents: canonical facts with their ids, and unreadable input."""

from __future__ import annotations

from collections.abc import Iterator

from strandline.core.encoding.cbor_items import item_end
from strandline.core.encoding.json_slices import stripped
from strandline.core.verdict import Evidence
from strandline.dialects.aura.codec import (
    MAX_FILE_BYTES,
    MAX_LINE_BYTES,
    NESTING,
    cbor_documents,
    line_documents,
)
from strandline.dialects.aura.codec.journals import journal_document
from strandline.dialects.aura.types import Document, Unreadable
from strandline.kernels.blocks import BlockPieces, read_lines
from strandline.kernels.guard import INTERNAL_ERROR, guarded_steps, with_format
from strandline.kernels.lines import BYTE_ORDER_MARK, CappedReader, StreamLine
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import Content, ReadOptions, Source

_FIRST_ITEM_BYTES = 1024 * 1024


def read_content(source: Source, content: Content, pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the facts of one file, or of a split of a file of lines, in the order of the file."""
    adder = FactPieces(source.file_no, content.part, pieces, options)
    read = {"lines": _read_lines, "cbor": _read_cbor}.get(source.format or "", _read_json)

    def at_fault(evidence: Evidence) -> None:
        shown = with_format(evidence, source.format)
        adder.refuse((INTERNAL_ERROR,), shown, source.kept_content(options), content.offset)

    yield from guarded_steps(read(content, adder), at_fault)


def _read_lines(content: Content, adder: FactPieces) -> Iterator[None]:
    return read_lines(content, adder, MAX_LINE_BYTES, adder.add_line)


def _read_json(content: Content, adder: FactPieces) -> Iterator[None]:
    data, rest = bytearray(), iter(content)
    for block in rest:
        data += block
        if len(data) > MAX_FILE_BYTES:
            adder.refuse_rest("FILE_TOO_LARGE", data, rest, content.offset)
            yield
            return
    raw = bytes(data)
    piece = stripped(raw, 0, len(raw))
    if piece.start < piece.end:
        for document in journal_document(raw, piece):
            adder.add(document, content.offset)
            yield


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
            for document in cbor_documents(raw[at:end]):
                adder.add(document, offset + at)
                yield
            at = end
        if at == len(raw) and not is_more:
            return
        if at < len(raw) and (end != "cut" or not is_more or len(raw) - at > MAX_FILE_BYTES):
            cause = "length" if end == "cut" and is_more else str(end)
            adder.refuse_rest("CBOR_INVALID", raw[at:], rest, offset + at, cause)
            yield
            return
        del held[:at]
        offset += at
        wanted = max(_FIRST_ITEM_BYTES, 2 * len(held))


class FactPieces(BlockPieces):
    """Turns the documents of one file into pieces, numbered in file order."""

    def add_line(self, line: StreamLine) -> Iterator[None]:
        """Add the documents of one line; yields after each document so that full batches can leave."""
        raw = line.kept.raw
        for document in line_documents(raw, 0, len(raw), ended=line.ended):
            self.add(document, line.offset)
            yield

    def add(self, document: Document, offset: int) -> None:
        """Add a document; `offset` is added to its own offset. A fact is kept in its canonical encoding."""
        at = document.offset + offset
        if isinstance(document, Unreadable):
            namespace = None if document.namespace is None else document.namespace.text
            raw = self.kept(document.raw)
            self.refuse(document.reasons, document.evidence, raw, at, namespace=namespace)
            return
        fact = document.fact
        self.put(
            "block", at, self.kept(fact.cbor), namespace=fact.namespace.text, record_id=fact.fact_id,
            judge_id=fact.fact_id,
        )  # fmt: skip

    def refuse_rest(
        self,
        reason: str,
        held: bytes | bytearray,
        rest: Iterator[bytes],
        offset: int,
        cause: str | None = None,
    ) -> None:
        """Reject everything from here to the end of the file as one record."""
        reader = CappedReader(self.options.keep)
        reader.add(bytes(held))
        for block in rest:
            reader.add(block)
        kept = reader.kept()
        of_size: Evidence = {"expected": MAX_FILE_BYTES, "actual": kept.length}
        self.refuse((reason,), {reason: of_size if cause is None else {"cause": cause}}, kept, offset)
