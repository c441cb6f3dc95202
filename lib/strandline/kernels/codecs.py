"""Compressed streams as decompressed blocks: gzip members and zstd frames, each sequence as one stream.

What a codec had decoded before it failed is not lost: records that stand before a damage are judged.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

BLOCK_BYTES = 1024 * 1024
"""Most bytes that are read, or come out of a codec, in one step."""

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_STEP_BYTES = 4096
"""Arrow drops what one failing read had decoded, so zstd is read in small steps that are put together again."""


class StreamDamage(Exception):  # noqa: N818 - a verdict on the bytes, no error of the program
    """The stream cannot be read on from here; what came before stands.

    Fields: `reason` (a registry code), `cause` (what was found), `offset` (in the decompressed stream, bytes).
    """

    def __init__(self, reason: str, cause: str, offset: int) -> None:
        super().__init__(f"{reason}: {cause} at {offset}")
        self.reason = reason
        self.cause = cause
        self.offset = offset


class Decoder:
    """Iterates over decompressed blocks; `taken` counts the compressed bytes handed to the codec so far."""

    taken: int = 0

    def __iter__(self) -> Iterator[bytes]:
        raise TypeError("a codec iterates by itself")


class Gzip(Decoder):
    """Concatenated gzip members as one stream."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._pending = head
        self._stream = stream
        self.taken = len(head)

    def _more(self) -> bytes:
        block = self._stream.read(BLOCK_BYTES)
        self.taken += len(block)
        return block

    def __iter__(self) -> Iterator[bytes]:
        out = 0
        codec = zlib.decompressobj(31)
        data = self._pending
        while True:
            if not data:
                data = self._more()
                if not data:
                    raise StreamDamage("TRUNCATED", "ends inside a gzip member", out)
            before = codec.copy()
            try:
                block = codec.decompress(data, BLOCK_BYTES)
            except zlib.error as error:
                for block in _decoded_before_error(before, data):
                    out += len(block)
                    yield block
                raise StreamDamage("CONTAINER_DAMAGED", f"gzip: {error}", out) from None
            data = codec.unconsumed_tail
            if block:
                out += len(block)
                yield block
            if not codec.eof:
                continue
            data = codec.unused_data
            while len(data) < len(GZIP_MAGIC):
                more = self._more()
                if not more:
                    break
                data += more
            if not data:
                return
            if not data.startswith(GZIP_MAGIC):
                raise StreamDamage("CONTAINER_DAMAGED", "bytes after a gzip member that start no other", out)
            codec = zlib.decompressobj(31)


def _decoded_before_error(before: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Yield what a failing call had decoded up to the byte that failed: zlib itself drops it.

    `before` is the codec as it was at that call, `data` what it was given.
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
                raise  # of the disk, not of the bytes
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
        """Return what Arrow's failing read had decoded behind byte `out`: the stream is read again up to there."""
        self._stream.seek(len(self._head))
        again = pa.CompressedInputStream(pa.PythonFile(_Counted(self._head, self._stream), mode="r"), "zstd")
        for _ in range(out // _ZSTD_STEP_BYTES):
            again.read(_ZSTD_STEP_BYTES)
        tail = bytearray()
        try:
            while len(tail) < _ZSTD_STEP_BYTES and (byte := again.read(1)):
                tail += byte
        except OSError:
            pass  # the damage that is known already
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
