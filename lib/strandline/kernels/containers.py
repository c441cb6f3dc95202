"""Untrusted files as a stream of decompressed blocks, with limits that hold before anything is kept."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Literal

import pyarrow as pa

BLOCK_BYTES = 1024 * 1024
"""Most bytes that are read, or come out of a codec, in one step."""

RATIO_FREE_BYTES = 64 * 1024 * 1024
"""Output below which the ratio of output to input is not judged."""

Container = Literal["plain", "gzip", "zstd", "unsupported"]

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_UNSUPPORTED = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
SNIFF_BYTES = 512
_ZSTD_STEP_BYTES = 4096
"""Arrow drops what one failing read had decoded, so zstd is read in small steps that are put together again."""


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Bounds of one decompressed stream: bytes in all, and output bytes per input byte past the first 64 MiB."""

    decompressed_bytes: int
    ratio: int


class StreamDamage(Exception):
    """The stream cannot be read on from here; what came before stands.

    Fields: `reason` (a registry code), `cause` (what was found), `offset` (in the decompressed stream, bytes).
    """

    def __init__(self, reason: str, cause: str, offset: int) -> None:
        super().__init__(f"{reason}: {cause} at {offset}")
        self.reason = reason
        self.cause = cause
        self.offset = offset


def container_of(head: bytes) -> tuple[Container, str]:
    """Return the container that the first bytes of a file announce, and its name in words.

    The name of the file plays no part. `head` should hold 512 bytes where the file has them.
    """
    if head.startswith(_GZIP):
        return "gzip", "gzip"
    if head.startswith(_ZSTD):
        return "zstd", "zstd"
    for magic, name in _UNSUPPORTED.items():
        if head.startswith(magic):
            return "unsupported", name
    if head[257:262] == b"ustar":
        return "unsupported", "tar"
    return "plain", "plain"


def blocks(stream: IO[bytes], limits: StreamLimits) -> Iterator[bytes]:
    """Yield the decompressed content of `stream` in blocks of at most 1 MiB, none of them empty.

    Raises:
        StreamDamage: CONTAINER_UNSUPPORTED (zip, tar, bzip2, xz), CONTAINER_NESTED (compressed inside
            compressed), TRUNCATED (the stream ends inside a member), CONTAINER_DAMAGED (a failing check sum or
            bytes after a member that start no other), BOMB (over a limit). It comes after the blocks that were
            good, so that what precedes the damage can be judged.
    """
    head = _read_exactly(stream, SNIFF_BYTES)
    container, name = container_of(head)
    if container == "unsupported":
        raise StreamDamage("CONTAINER_UNSUPPORTED", name, 0)
    if container == "plain":
        yield from _plain(head, stream, limits)
        return
    opened = _inner(head, stream, container)
    yield from _guarded(opened, limits)


def _plain(head: bytes, stream: IO[bytes], limits: StreamLimits) -> Iterator[bytes]:
    out = 0
    block = head
    while block:
        out += len(block)
        if out > limits.decompressed_bytes:
            raise StreamDamage("BOMB", f"over {limits.decompressed_bytes} bytes", out - len(block))
        yield block
        block = stream.read(BLOCK_BYTES)


def _guarded(opened: _Decoder, limits: StreamLimits) -> Iterator[bytes]:
    out = 0
    first = b""
    for block in opened:
        if len(first) < SNIFF_BYTES:
            first += block[: SNIFF_BYTES - len(first)]
            if container_of(first)[0] != "plain":
                raise StreamDamage("CONTAINER_NESTED", container_of(first)[1], 0)
        out += len(block)
        if out > limits.decompressed_bytes:
            raise StreamDamage("BOMB", f"over {limits.decompressed_bytes} bytes", out - len(block))
        if out > RATIO_FREE_BYTES and out > limits.ratio * opened.taken:
            raise StreamDamage("BOMB", f"more than {limits.ratio} bytes out for one in", out - len(block))
        yield block


class _Decoder:
    """Iterates over decompressed blocks; `taken` counts the compressed bytes handed to the codec so far."""

    taken: int = 0

    def __iter__(self) -> Iterator[bytes]:
        raise TypeError("a codec iterates by itself")


def _inner(head: bytes, stream: IO[bytes], container: Container) -> _Decoder:
    return _Gzip(head, stream) if container == "gzip" else _Zstd(head, stream)


class _Gzip(_Decoder):
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
            try:
                block = codec.decompress(data, BLOCK_BYTES)
            except zlib.error as error:
                raise StreamDamage("CONTAINER_DAMAGED", f"gzip: {error}", out) from None
            data = codec.unconsumed_tail
            if block:
                out += len(block)
                yield block
            if not codec.eof:
                continue
            data = codec.unused_data
            while len(data) < len(_GZIP):
                more = self._more()
                if not more:
                    break
                data += more
            if not data:
                return
            if not data.startswith(_GZIP):
                raise StreamDamage("CONTAINER_DAMAGED", "bytes after a gzip member that start no other", out)
            codec = zlib.decompressobj(31)


class _Zstd(_Decoder):
    """Concatenated zstd frames as one stream, read by Arrow's codec."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._source = _Counted(head, stream)

    @property
    def taken(self) -> int:  # type: ignore[override]
        return self._source.taken

    def __iter__(self) -> Iterator[bytes]:
        out = 0
        reader = pa.CompressedInputStream(pa.PythonFile(self._source, mode="r"), "zstd")
        steps: list[bytes] = []
        damage: StreamDamage | None = None
        ended = False
        while not ended:
            try:
                step = reader.read(_ZSTD_STEP_BYTES)
                ended = not step
            except OSError as error:
                text = str(error)
                ended, step = True, b""
                if "runcated" in text:
                    damage = StreamDamage("TRUNCATED", "ends inside a zstd frame", out)
                else:
                    damage = StreamDamage("CONTAINER_DAMAGED", f"zstd: {text[:200]}", out)
            out += len(step)
            steps.append(step)
            if steps and (ended or len(steps) * _ZSTD_STEP_BYTES >= BLOCK_BYTES):
                block = b"".join(steps)
                steps = []
                if block:
                    yield block
        if damage is not None:
            raise damage


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


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = stream.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
