"""Decompresses streams to blocks: gzip members and zstd frames, each sequence as one stream.

Bytes that a codec decoded before it failed are kept: records before a damage are judged.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

BLOCK_BYTES = 1024 * 1024
"""Maximum bytes of a read, and of the output of a codec, in one step."""

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_FIRST_STEP_BYTES = 512
"""Bytes of the first step of a gzip member."""

_SMALL_BLOCK_BYTES = 64 * 1024
_ZSTD_STEP_BYTES = 4096
"""Arrow drops the output of a failing read, so zstd is read in small steps, which are joined."""


FILE_UNREADABLE = "FILE_UNREADABLE"
"""The reason of a file that exists but cannot be opened or read."""


class StreamDamage(Exception):  # noqa: N818 - a verdict on the bytes, not an error of the program
    """The stream cannot be read further; the blocks before are valid.

    Fields: `reason` (a registry code), `cause` (what was found), `offset` (in the decompressed stream, bytes).
    """

    def __init__(self, reason: str, cause: str, offset: int) -> None:
        super().__init__(f"{reason}: {cause} at {offset}")
        self.reason = reason
        self.cause = cause
        self.offset = offset


class Decoder:
    """Iterates over decompressed blocks; `taken` counts the compressed bytes that the codec got so far."""

    taken: int = 0

    def __iter__(self) -> Iterator[bytes]:
        raise TypeError("a codec implements its own iteration")


class Gzip(Decoder):
    """Concatenated gzip members as one stream."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._data = head
        self._at = 0
        self._stream = stream
        self._out = 0
        self.taken = len(head)

    def __iter__(self) -> Iterator[bytes]:
        return _joined(self._blocks())

    def _blocks(self) -> Iterator[bytes]:
        yield from self._member()
        while self._has_bytes(len(GZIP_MAGIC)):
            if not self._data.startswith(GZIP_MAGIC, self._at):
                cause = "bytes after a gzip member that start no other"
                raise StreamDamage("CONTAINER_DAMAGED", cause, self._out)
            yield from self._member()

    def _has_bytes(self, size: int) -> bool:
        """Read ahead to `size` bytes, if the stream has so many. Return whether there is at least one."""
        while len(self._data) - self._at < size:
            block = self._stream.read(BLOCK_BYTES)
            if not block:
                break
            self.taken += len(block)
            self._data, self._at = self._data[self._at :] + block, 0
        return self._at < len(self._data)

    def _member(self) -> Iterator[bytes]:
        """Yield the content of one member and move to its end.

        Input of the codec is copied, and unused input is copied back: so the first step of a member is small, and each
        further one at most twice the size of the one before.
        """
        codec = zlib.decompressobj(31)
        before: zlib._Decompress | None = None
        step = _FIRST_STEP_BYTES
        while not codec.eof:
            is_cut = not self._has_bytes(1)
            data = self._data[self._at : self._at + step]
            try:
                block = codec.decompress(data, BLOCK_BYTES)
            except zlib.error as error:
                for block in _decoded_before_error(before or zlib.decompressobj(31), data):
                    self._out += len(block)
                    yield block
                raise StreamDamage("CONTAINER_DAMAGED", f"gzip: {error}", self._out) from None
            self._at += len(data) - len(codec.unconsumed_tail) - len(codec.unused_data)
            self._out += len(block)
            if block:
                yield block
            elif is_cut:
                # Without input the codec gives what the step before had no room for; then nothing is left.
                raise StreamDamage("TRUNCATED", "ends inside a gzip member", self._out)
            if not codec.eof:
                before, step = codec.copy(), min(2 * step, BLOCK_BYTES)


def _joined(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Join small blocks, since each block has a fixed cost. A damage is raised after the blocks before it."""
    joined = bytearray()
    try:
        for block in blocks:
            if joined and len(joined) + len(block) > _SMALL_BLOCK_BYTES:
                yield bytes(joined)
                joined.clear()
            if len(block) >= _SMALL_BLOCK_BYTES:
                yield block
            else:
                joined += block
    except StreamDamage:
        if joined:
            yield bytes(joined)
        raise
    if joined:
        yield bytes(joined)


def _decoded_before_error(before: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Yield what a failing call had decoded before the byte that failed: zlib itself drops it.

    `before` is a copy of the codec before that call, `data` its input.
    """
    size = len(data)
    while size and data:
        codec = before.copy()
        try:
            block = codec.decompress(data[:size], BLOCK_BYTES)
        except zlib.error:
            size //= 2
            continue
        if block:
            yield block
        before, data = codec, codec.unconsumed_tail + data[size:]


class Zstd(Decoder):
    """Concatenated zstd frames as one stream, read by Arrow's codec."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head = head
        self._stream = stream
        self._source = _Counted(head, stream)

    @property
    def taken(self) -> int:  # type: ignore[override]
        return self._source.taken

    def __iter__(self) -> Iterator[bytes]:
        out = 0
        steps: list[bytes] = []
        damage: OSError | None = None
        try:
            for step in _zstd_steps(self._source, _ZSTD_STEP_BYTES):
                out += len(step)
                steps.append(step)
                if len(steps) * _ZSTD_STEP_BYTES >= BLOCK_BYTES:
                    yield b"".join(steps)
                    steps = []
        except OSError as error:
            if error.errno is not None:
                raise  # a fault of the disk, not of the bytes
            damage = error
        if damage is not None:
            steps.append(self._dropped(out))
            out += len(steps[-1])
        if block := b"".join(steps):
            yield block
        if damage is None:
            return
        text = str(damage)
        if "runcated" in text:
            raise StreamDamage("TRUNCATED", "ends inside a zstd frame", out)
        raise StreamDamage("CONTAINER_DAMAGED", f"zstd: {text[:200]}", out)

    def _dropped(self, out: int) -> bytes:
        """Return the output after byte `out` that Arrow's failing read dropped: reads the stream again up to there."""
        self._stream.seek(len(self._head))
        reader = pa.CompressedInputStream(pa.PythonFile(_Counted(self._head, self._stream), mode="r"), "zstd")
        for _ in range(out // _ZSTD_STEP_BYTES):
            reader.read(_ZSTD_STEP_BYTES)
        tail = bytearray()
        try:
            while len(tail) < _ZSTD_STEP_BYTES and (byte := reader.read(1)):
                tail += byte
        except OSError:
            pass  # the known damage
        return bytes(tail)


def _zstd_steps(source: _Counted, size: int) -> Iterator[bytes]:
    reader = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), "zstd")
    while step := reader.read(size):
        yield step


class _Counted:
    """A readable file object over bytes already read and the rest of a stream."""

    closed = False

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head = head
        self._stream = stream
        self.taken = 0

    def read(self, size: int = -1) -> bytes:
        if self._head:
            block, self._head = self._head, b""
            if 0 <= size < len(block):
                block, self._head = block[:size], block[size:]
        else:
            block = self._stream.read(size if size >= 0 else BLOCK_BYTES)
        self.taken += len(block)
        return block

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def flush(self) -> None:
        return None

    def close(self) -> None:
        self.closed = True
