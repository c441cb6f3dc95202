"""Untrusted files as a stream of decompressed blocks, with limits that are checked before memory is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Literal

from strandline.kernels.codecs import BLOCK_BYTES, GZIP_MAGIC, ZSTD_MAGIC, Decoder, Gzip, StreamDamage, Zstd

RATIO_FREE_BYTES = 64 * 1024 * 1024
"""Output up to which the ratio of output to input is not limited."""

Container = Literal["plain", "gzip", "zstd", "unsupported"]

_UNSUPPORTED = {
    re.compile(rb"PK\x03\x04"): "zip",
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): "bzip2",
    re.compile(rb"\xfd7zXZ\x00"): "xz",
    re.compile(rb"(?=.{0,256}\x00).{257}ustar", re.DOTALL): "tar",
}
"""How other containers begin, and no text: an id in base64url can begin with `BZh`, or have `ustar` anywhere. So bzip2
is also told by the mark of its first block or of its end, and tar by a NUL, which fills its fields.
"""
SNIFF_BYTES = 512


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Bounds of one decompressed stream: bytes in total, and output bytes per input byte after the first 64 MiB.

    The first one holds for a plain file, too: a sparse file costs its sender as little as a compressed one.
    """

    decompressed_bytes: int
    ratio: int


def container_of(head: bytes) -> tuple[Container, str]:
    """Return the container that the first bytes of a file announce, and its name in words.

    The name of the file does not matter. `head` should have 512 bytes, if the file has so many.
    """
    if head.startswith(GZIP_MAGIC):
        return "gzip", "gzip"
    if head.startswith(ZSTD_MAGIC):
        return "zstd", "zstd"
    for magic, name in _UNSUPPORTED.items():
        if magic.match(head):
            return "unsupported", name
    return "plain", "plain"


def blocks(stream: IO[bytes], limits: StreamLimits) -> Iterator[bytes]:
    """Yield the decompressed content of `stream` in blocks of at most 1 MiB, none of them empty.

    Raises:
        StreamDamage: CONTAINER_UNSUPPORTED (zip, tar, bzip2, xz), CONTAINER_NESTED (compressed inside
            compressed), TRUNCATED (the stream ends inside a member), CONTAINER_DAMAGED (a wrong checksum, or bytes
            after a member that do not start another), BOMB (over a limit). Raised after the good blocks, so that
            records before the damage can be judged.
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
    """Yield the blocks, after a check that the first 512 bytes are not a container."""
    first: list[bytes] = []
    damage: StreamDamage | None = None
    decoded = iter(opened)
    try:
        for block in decoded:
            first.append(block)
            if sum(map(len, first)) >= SNIFF_BYTES:
                break
    except StreamDamage as met:
        damage = met
    container, name = container_of(b"".join(first)[:SNIFF_BYTES])
    if container != "plain":
        raise StreamDamage("CONTAINER_NESTED", name, 0)
    yield from first
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
