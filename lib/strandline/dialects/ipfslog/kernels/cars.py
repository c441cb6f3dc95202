"""A CAR of any size to its documents, with the memory of a few blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from strandline.core.encoding.varint import parse_varint
from strandline.core.verdict import Finding, evidence_of
from strandline.dialects.ipfslog.codec import (
    MAX_HEADER_BYTES,
    after_cid,
    car_section,
    malformed,
    parse_car_header,
    parse_cid_bytes,
    root_claims,
    section_document,
    truncated,
)
from strandline.dialects.ipfslog.types import MAX_BLOCK_BYTES, BlockDocument, Cid, Document, Unreadable
from strandline.kernels.lines import CappedBytes, CappedReader, RawLimits

WINDOW_BYTES: Final = max(MAX_HEADER_BYTES, MAX_BLOCK_BYTES) + 4096
"""Bytes of a stream in memory: a header, or a section within the limit, and its length and address."""


def car_documents(blocks: Iterable[bytes], keep: RawLimits) -> Iterator[tuple[Document, CappedBytes]]:
    """Yield the documents of a CAR as `read_documents` does, each with its bytes within the limits of kept bytes.

    An `Unreadable` has no bytes of its own. A section over the limit, and the rest of a damaged file, are skipped
    without being in memory.
    """
    window = _Window(blocks)
    window.fill()
    header = parse_car_header(window.data)
    if isinstance(header, Unreadable):
        yield _without_bytes(header, 0), window.rest(keep)
        return
    for claim in root_claims(header):
        yield claim, CappedBytes(b"", 0)
    window.at = header.end
    while window.fill():
        section = car_section(window.data, window.at)
        offset = window.offset
        if not isinstance(section, Unreadable):
            document = section_document(window.data, section)
            raw = window.data[section.start : section.end]
            window.at = section.end
            if isinstance(document, Unreadable):
                document = _without_bytes(document, offset)
            yield document, _kept(raw, keep)
        elif section.reasons == ("CAR_TRUNCATED",) and not window.ended:
            oversized = _beyond(window, keep)
            yield oversized
            if isinstance(oversized[0], Unreadable) and oversized[0].reasons != ("BLOCK_TOO_LARGE",):
                return
        else:
            yield _without_bytes(section, offset), window.rest(keep)
            return


def _beyond(window: _Window, keep: RawLimits) -> tuple[Document, CappedBytes]:
    """Skip the section at the window's place, which is larger than the window, and return its document."""
    offset, data = window.offset, window.data[window.at :]
    length = parse_varint(data, 0)
    size, start = (0, 0) if isinstance(length, str) else length
    block_at = after_cid(data, start, start + size)
    cid = data[start : block_at or 0]
    of_section, of_block = CappedReader(keep), CappedReader(keep)
    left = start + size
    for part in window.parts(left):
        of_section.add(part)
        skipped = left - start - size + (block_at or 0)
        of_block.add(part[max(0, skipped) :])
        left -= len(part)
    if left:
        return _without_bytes(truncated(b"", 0), offset), of_section.kept()
    if block_at is None:
        return _without_bytes(malformed(b"", 0, "cid"), offset), window.rest(keep, of_section)
    if not isinstance(parse_cid_bytes(cid), Cid):
        return BlockDocument(b"", cid, offset), CappedBytes(b"", 0)
    evidence = {"expected": MAX_BLOCK_BYTES, "actual": start + size - block_at}
    found = evidence_of([Finding("BLOCK_TOO_LARGE", evidence)])
    return Unreadable(("BLOCK_TOO_LARGE",), b"", offset, found), of_block.kept()


def _without_bytes(damage: Unreadable, offset: int) -> Unreadable:
    return Unreadable(damage.reasons, b"", offset, damage.evidence)


def _kept(raw: bytes, keep: RawLimits) -> CappedBytes:
    if len(raw) <= keep.whole_bytes:
        return CappedBytes(raw, len(raw))
    keeper = CappedReader(keep)
    keeper.add(raw)
    return keeper.kept()


class _Window:
    """A moving window over a stream: `data` from index `at`, which is `offset` bytes from the start of the stream."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._base = 0
        self.data = b""
        self.at = 0
        self.ended = False

    @property
    def offset(self) -> int:
        """The place of `at` in the stream."""
        return self._base + self.at

    def fill(self) -> bool:
        """Read until WINDOW_BYTES are available or the stream ends; return whether any byte is left."""
        if not self.ended and len(self.data) - self.at < WINDOW_BYTES:
            parts = [self.data[self.at :]]
            size = len(parts[0])
            while size < 2 * WINDOW_BYTES:
                block = next(self._blocks, None)
                if block is None:
                    self.ended = True
                    break
                parts.append(block)
                size += len(block)
            self._base += self.at
            self.data, self.at = b"".join(parts), 0
        return self.at < len(self.data)

    def parts(self, size: int) -> Iterator[bytes]:
        """Yield and skip the next `size` bytes, or the rest of the stream if it is shorter."""
        while size > 0 and self.fill():
            part = self.data[self.at : self.at + size]
            self.at += len(part)
            size -= len(part)
            yield part

    def rest(self, keep: RawLimits, keeper: CappedReader | None = None) -> CappedBytes:
        """Skip the rest of the stream; return what is kept of it, after what `keeper` has."""
        keeper = keeper or CappedReader(keep)
        while self.fill():
            keeper.add(self.data[self.at :])
            self.at = len(self.data)
        return keeper.kept()
