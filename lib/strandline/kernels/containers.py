"""Untrusted files as a stream of decompressed blocks, with limits that hold before anything is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Literal

from strandline.kernels.codecs import BLOCK_BYTES, GZIP_MAGIC, ZSTD_MAGIC, Decoder, Gzip, StreamDamage, Zstd

RATIO_FREE_BYTES = 64 * 1024 * 1024
"""Output below which the ratio of output to input is not judged."""

Container = Literal["plain", "gzip", "zstd", "unsupported"]

_UNSUPPORTED = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
SNIFF_BYTES = 512


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Bounds of one decompressed stream: bytes in all, and output bytes per input byte past the first 64 MiB."""

    decompressed_bytes: int
    ratio: int


def container_of(head: bytes) -> tuple[Container, str]:
    """Return the container that the first bytes of a file announce, and its name in words.

    The name of the file plays no part. `head` should hold 512 bytes where the file has them.
    """
    if head.startswith(GZIP_MAGIC):
        return "gzip", "gzip"
    if head.startswith(ZSTD_MAGIC):
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


def _guarded(opened: Decoder, limits: StreamLimits) -> Iterator[bytes]:
    out = 0
    for block in _not_nested(opened):
        out += len(block)
        if out > limits.decompressed_bytes:
            raise StreamDamage("BOMB", f"over {limits.decompressed_bytes} bytes", out - len(block))
        if out > RATIO_FREE_BYTES and out > limits.ratio * opened.taken:
            raise StreamDamage("BOMB", f"more than {limits.ratio} bytes out for one in", out - len(block))
        yield block


def _not_nested(opened: Decoder) -> Iterator[bytes]:
    """Yield the blocks, none of them before the first 512 bytes have shown that they are no container."""
    held: list[bytes] = []
    damage: StreamDamage | None = None
    decoded = iter(opened)
    try:
        for block in decoded:
            held.append(block)
            if sum(map(len, held)) >= SNIFF_BYTES:
                break
    except StreamDamage as met:
        damage = met
    container, name = container_of(b"".join(held)[:SNIFF_BYTES])
    if container != "plain":
        raise StreamDamage("CONTAINER_NESTED", name, 0)
    yield from held
    if damage is not None:
        raise damage
    yield from decoded


def _inner(head: bytes, stream: IO[bytes], container: Container) -> Decoder:
    return Gzip(head, stream) if container == "gzip" else Zstd(head, stream)


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = stream.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
