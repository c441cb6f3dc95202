"""Splits blocks into lines for all dialects, for untrusted streams of any size."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from strandline.core.encoding.strict_json import BYTE_ORDER_MARK


@dataclass(frozen=True, slots=True)
class CappedBytes:
    """The stored bytes of one record.

    `raw` is the whole record if `length == len(raw)`, else its head; `sha256` is then the digest of the whole record.
    """

    raw: bytes
    length: int
    sha256: bytes | None = None

    @property
    def whole(self) -> bool:
        """True if `raw` is the whole record."""
        return self.sha256 is None


@dataclass(frozen=True, slots=True)
class StreamLine:
    """One line without its LF. `offset` in the decompressed stream, bytes; `ended` is true if an LF followed."""

    offset: int
    kept: CappedBytes
    ended: bool
    over_limit: bool


@dataclass(frozen=True, slots=True)
class RawLimits:
    """How much of a rejected record is stored: all up to `whole_bytes`, of a larger one the first `head_bytes`."""

    whole_bytes: int
    head_bytes: int


class CappedReader:
    """Collects bytes of a record of unknown length in bounded memory."""

    def __init__(self, limits: RawLimits) -> None:
        self._limits = limits
        self._parts: list[bytes] = []
        self._stored = 0
        self._length = 0
        self._digest = hashlib.sha256()

    def add(self, data: bytes | memoryview) -> None:
        """Add the next bytes of the record."""
        self._length += len(data)
        self._digest.update(data)
        if self._length <= self._limits.whole_bytes:
            self._parts.append(bytes(data))
            self._stored += len(data)
        elif self._stored < self._limits.head_bytes:
            self._parts.append(bytes(data[: self._limits.head_bytes - self._stored]))
            self._stored += len(self._parts[-1])

    def kept(self) -> CappedBytes:
        """Return the stored bytes of the record."""
        raw = b"".join(self._parts)
        if self._length <= self._limits.whole_bytes:
            return CappedBytes(raw, self._length)
        return CappedBytes(raw[: self._limits.head_bytes], self._length, self._digest.digest())


def without_mark(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks without a byte order mark at the start of the stream.

    Removes one mark, only at the start.
    """
    head = b""
    rest = iter(blocks)
    for block in rest:
        head += block
        if len(head) >= len(BYTE_ORDER_MARK):
            break
    head = head.removeprefix(BYTE_ORDER_MARK)
    if head:
        yield head
    yield from rest


def stream_lines(
    blocks: Iterable[bytes], *, limit: int, keep: RawLimits, offset: int = 0
) -> Iterator[StreamLine]:
    """Yield the lines of a stream: the bytes before each LF, and the bytes after the last LF if there are any.

    A line of more than `limit` bytes is read to its LF without storing all of it; its `over_limit` is true. Memory is
    bounded by the limit, the stored head and one block.
    """
    carry: list[bytes] = []
    carried = 0
    keeper: CappedReader | None = None
    at = offset
    for block in blocks:
        start = 0
        while True:
            end = block.find(b"\n", start)
            if end < 0:
                break
            if keeper is not None:
                keeper.add(memoryview(block)[start:end])
                kept = keeper.kept()
                yield StreamLine(at, kept, True, True)
                length = kept.length
                keeper = None
            else:
                raw = b"".join((*carry, block[start:end])) if carry else block[start:end]
                length = len(raw)
                yield _line(at, raw, limit, keep, ended=True)
                carry, carried = [], 0
            at += length + 1
            start = end + 1
        if start == len(block):
            continue
        tail = block[start:]
        if keeper is not None:
            keeper.add(tail)
            continue
        carry.append(tail)
        carried += len(tail)
        if carried > limit:
            keeper = CappedReader(keep)
            for part in carry:
                keeper.add(part)
            carry, carried = [], 0
    if keeper is not None:
        yield StreamLine(at, keeper.kept(), False, True)
    elif carry:
        yield _line(at, b"".join(carry), limit, keep, ended=False)


def _line(at: int, raw: bytes, limit: int, keep: RawLimits, *, ended: bool) -> StreamLine:
    if len(raw) <= limit:
        return StreamLine(at, CappedBytes(raw, len(raw)), ended, False)
    keeper = CappedReader(keep)
    keeper.add(raw)
    return StreamLine(at, keeper.kept(), ended, True)
