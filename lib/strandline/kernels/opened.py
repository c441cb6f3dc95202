"""The content of one open file: its decompressed blocks, and the lines of a split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from strandline.core.encoding.lines import ASCII_SPACE
from strandline.core.encoding.strict_json import BYTE_ORDER_MARK
from strandline.kernels.codecs import BLOCK_BYTES, StreamDamage
from strandline.kernels.lines import RawLimits, StreamLine, stream_lines, without_mark


class Content:
    """The decompressed blocks of a file without its byte order mark, and a look at its first byte.

    `begin` returns the blocks from the start, on each call. `offset` is their start in the decompressed stream, bytes:
    3 after a byte order mark, the start of a split, else 0. `part` is the start of the split; a line
    that begins at `part`, not at 0, belongs to the split before, and one that begins after `until` to the next.

    A damaged stream ends before its `damage`, so that its last line is judged as it is. If a limit stops the reading
    inside a line, the damage is raised, and that line is not judged.
    """

    def __init__(
        self, begin: Callable[[], Iterator[bytes]], *, part: int = 0, until: int | None = None
    ) -> None:
        self._begin = begin
        self._stream = self._until_damage(begin())
        self._peeked: list[bytes] = []
        self._keeps_peeked = True
        self.damage: StreamDamage | None = None
        self.part = part
        self.until = until
        self.offset = part
        if not part:
            self._drop_mark()
        if until is not None:
            # A split that ends inside the mark still includes the first line.
            self.until = max(until, self.offset)

    def _until_damage(self, stream: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from stream
        except StreamDamage as met:
            if met.reason == "BOMB":
                raise
            self.damage = met

    def _drop_mark(self) -> None:
        head = b""
        for block in self._stream:
            head += block
            if len(head) >= len(BYTE_ORDER_MARK):
                break
        self.offset = mark_bytes(head)
        head = head[self.offset :]
        if head:
            self._peeked.append(head)

    def first_mark(self) -> bytes:
        """Return the first byte that is not ASCII white space, or b"", without consuming anything.

        Skips any amount of white space; after more than 1 MiB, the blocks are dropped and the stream is read again.
        """
        skipped = 0
        for block in chain(tuple(self._peeked), self._peek()):
            stripped = block.lstrip(ASCII_SPACE)
            if stripped:
                return stripped[:1]
            skipped += len(block)
            if skipped > BLOCK_BYTES:
                self._keeps_peeked = False
                self._peeked.clear()
        return b""

    def _peek(self) -> Iterator[bytes]:
        for block in self._stream:
            if self._keeps_peeked:
                self._peeked.append(block)
            yield block

    @property
    def empty(self) -> bool:
        """True if the stream has no byte; valid after `first_mark`."""
        return self._keeps_peeked and not self._peeked

    def __iter__(self) -> Iterator[bytes]:
        while self._peeked:
            yield self._peeked.pop(0)
        yield from self._stream if self._keeps_peeked else without_mark(self._until_damage(self._begin()))


def split_lines(content: Content, *, limit: int, keep: RawLimits) -> Iterator[tuple[int, StreamLine]]:
    """Yield the lines of a file, or those that begin in its split, each with its number from that start."""
    blocks, offset = iter(content), content.offset
    if content.part:
        found = after_line(blocks, offset, content.until)
        if found is None:
            return
        rest, offset = found
        blocks = chain((rest,), blocks)
    lines = stream_lines(blocks, limit=limit, keep=keep, offset=offset)
    for number, line in enumerate(lines, start=1 if content.part else 0):
        if content.until is not None and line.offset > content.until:
            return
        yield number, line


def after_line(blocks: Iterator[bytes], offset: int, until: int | None) -> tuple[bytes, int] | None:
    """Return what a block has after the first LF, and where that begins; the blocks begin at `offset`.

    None if there is no LF before byte `until`: then no line begins in the split. Nothing after it is read, since each
    split of a file that is one long line would read the file to its end.
    """
    while until is None or offset < until:
        block = next(blocks, None)
        if block is None:
            return None
        end = block.find(b"\n", 0, None if until is None else until - offset) + 1
        if end:
            return block[end:], offset + end
        offset += len(block)
    return None


def mark_bytes(head: bytes) -> int:
    """Return the length of the byte order mark at the start of `head`: 3 or 0."""
    return len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
