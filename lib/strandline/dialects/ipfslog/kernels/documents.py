"""Files to documents: blocks with their claims, head claims, and unreadable input."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pyarrow as pa

from strandline.core.encoding.strict_json import BYTE_ORDER_MARK
from strandline.dialects.ipfslog.codec import (
    MAX_FILE_BYTES,
    MAX_LINE_BYTES,
    json_documents,
    line_documents,
    parse_cid_bytes,
    peek_log_id,
)
from strandline.dialects.ipfslog.kernels.cars import car_documents
from strandline.dialects.ipfslog.kernels.claims import (
    claimed_log,
    claimed_text,
    is_address_of,
    is_log_id,
    judge_id,
)
from strandline.dialects.ipfslog.types import (
    MAX_BLOCK_BYTES,
    BlockDocument,
    Cid,
    Document,
    HeadClaim,
    JsonDocument,
    Unreadable,
    log_namespace,
    record_id,
)
from strandline.dialects.ipfslog.verify import Refused, as_block, claimed_digest
from strandline.kernels.blocks import BLOCK_FIELDS, BlockPieces
from strandline.kernels.documents import guarded_file, read_lines, read_whole
from strandline.kernels.lines import CappedBytes, StreamLine
from strandline.kernels.opened import Content
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions, Source

DOCUMENT_FIELDS = (*BLOCK_FIELDS, pa.field("claimed", pa.string()), pa.field("snapshot_id", pa.string()))
"""What a document of a log adds to a piece.

Kind `shared` is a block of a CAR, `claim` a head claim. `judge_id` is the record id if block and claims match.
Otherwise `claimed` is the content address, or `snapshot_id` the id of the snapshot, that does not match the block, or
as much of it as `claims` keeps, and the verdict is about block and claim together. A document also has `entry`, the
entry that its block was built from, or None: it is no column, and only `judge` in the same task reads it.
"""


def read_content(source: Source, content: Content, pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the documents of one file, or of a split of a file of lines, in the order of the file."""
    adder = DocumentPieces(source.file_no, content.part, pieces, options)
    read = {"lines": _read_lines, "car": _read_car}.get(source.format or "", _read_json)
    return guarded_file(read(content, adder), source, content, adder)


def _read_car(content: Content, adder: DocumentPieces) -> Iterator[None]:
    # Bytes that a text reader skips as a byte order mark are part of a CAR.
    mark = [BYTE_ORDER_MARK] if content.offset else []
    blocks = chain(mark, content)
    first = next(blocks, b"")
    if content.damage is not None and not first:
        return  # a container that gives no byte has its damage alone
    for document, kept in car_documents(chain([first], blocks), adder.options.keep):
        adder.add(document, kept, 0)
        yield


def _read_lines(content: Content, adder: DocumentPieces) -> Iterator[None]:
    return read_lines(content, adder, MAX_LINE_BYTES, adder.add_line)


def _read_json(content: Content, adder: DocumentPieces) -> Iterator[None]:
    def add(raw: bytes) -> Iterator[None]:
        for document in json_documents(raw):
            adder.add(document, None, content.offset)
            yield

    return read_whole(content, adder, MAX_FILE_BYTES, add)


class DocumentPieces(BlockPieces):
    """Turns the documents of one file into pieces, numbered in file order."""

    def add_line(self, line: StreamLine) -> Iterator[None]:
        """Add the documents of one line; yields after each document so that full batches can leave."""
        raw = line.kept.raw
        for document in line_documents(raw, 0, len(raw), ended=line.ended):
            self.add(document, None, line.offset)
            yield

    def add(self, document: Document, kept: CappedBytes | None, offset: int) -> None:
        """Add a document; `offset` is added to its own offset, `kept` are its bytes if it has none itself."""
        if isinstance(document, HeadClaim):
            self._claim(document.digest)
        elif isinstance(document, Unreadable):
            raw = kept or self.kept(document.raw)
            self.refuse(document.reasons, document.evidence, raw, document.offset + offset)
        else:
            self._add_block(document, offset)

    def _add_block(self, document: BlockDocument | JsonDocument, offset: int) -> None:
        at = document.offset + offset
        found = as_block(document) if isinstance(document, JsonDocument) else (document, None)
        if document.is_head:
            computed = found.record_id if isinstance(found, Refused) else record_id(found[0].block)
            self._claim(claimed_digest(document) or computed)
        if isinstance(found, Refused):
            raw = self.kept(found.raw)
            self.refuse(
                found.reasons, found.evidence, raw, at, namespace=found.namespace, record_id=found.record_id
            )
            return
        block, entry = found
        claimed = block.claimed
        if isinstance(claimed, bytes) and not isinstance(parse_cid_bytes(claimed), Cid):
            self.put("foreign", at, CappedBytes(b"", 0))
            return
        digest = record_id(block.block) if entry is None else entry.record_id
        if len(block.block) > MAX_BLOCK_BYTES:
            evidence = {"BLOCK_TOO_LARGE": {"expected": MAX_BLOCK_BYTES, "actual": len(block.block)}}
            self.refuse(("BLOCK_TOO_LARGE",), evidence, self.kept(block.block), at, record_id=digest)
            return
        log_id = peek_log_id(block.block) if entry is None else entry.shaped.fields["id"]
        wrong_cid = None if is_address_of(claimed, digest) else claimed_text(claimed)
        wrong_log = claimed_log(block.snapshot_id, log_id)
        self.put(
            "shared" if isinstance(claimed, bytes) else "block",
            at,
            CappedBytes(block.block, len(block.block)),
            namespace=None if log_id is None or not is_log_id(log_id) else log_namespace(log_id),
            record_id=digest,
            judge_id=judge_id(digest, wrong_cid, wrong_log),
            claimed=wrong_cid,
            snapshot_id=wrong_log,
            entry=entry,
        )

    def _claim(self, digest: bytes | None) -> None:
        self.put("claim", 0, CappedBytes(b"", 0), record_id=digest)
