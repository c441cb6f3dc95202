"""CARv1: a header with roots, then sections of a content address and its block."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from cbor2 import CBORTag

from strandline.core.encoding.strict_cbor import CborRefused
from strandline.core.encoding.varint import parse_varint, varint
from strandline.core.verdict import Finding, evidence_of
from strandline.dialects.ipfslog.codec.cids import after_cid, link
from strandline.dialects.ipfslog.codec.dag_cbor import dag_cbor, parse_dag_cbor
from strandline.dialects.ipfslog.types import MAX_BLOCK_BYTES, Unreadable

CarCause: TypeAlias = Literal["header", "version", "varint", "empty", "cid"]

MAX_HEADER_BYTES: Final = MAX_BLOCK_BYTES
MAX_ROOTS_WRITTEN: Final = 50_000
"""The number of roots with which a header stays below MAX_HEADER_BYTES; a link takes 41 bytes."""


@dataclass(frozen=True, slots=True)
class CarSection:
    """One section: the bytes of its content address, and the place of its block in the file."""

    cid: bytes
    start: int
    end: int
    offset: int


@dataclass(frozen=True, slots=True)
class CarHeader:
    """The roots as bytes of content addresses, and the offset of the first section."""

    roots: tuple[bytes, ...]
    end: int


def parse_car_header(data: bytes) -> CarHeader | Unreadable:
    """Return the header of a CARv1, or a `CAR_MALFORMED` record of the whole file.

    A header is a minimal varint, then that many bytes of dag-cbor: a map of exactly `roots`, a list of links, and
    `version`, the integer 1.
    """
    length = parse_varint(data, 0)
    if isinstance(length, str):
        return malformed(data, 0, "varint")
    size, start = length
    if size > MAX_HEADER_BYTES or start + size > len(data):
        return malformed(data, 0, "header")
    try:
        header: Any = parse_dag_cbor(data[start : start + size]).value
    except CborRefused:
        return malformed(data, 0, "header")
    if not isinstance(header, dict) or "version" not in header:
        return malformed(data, 0, "header")
    if type(header["version"]) is not int or header["version"] != 1:
        return malformed(data, 0, "version")
    roots = header.get("roots")
    if header.keys() != {"roots", "version"} or not isinstance(roots, list):
        return malformed(data, 0, "header")
    if not all(isinstance(root, CBORTag) for root in roots):
        return malformed(data, 0, "header")
    return CarHeader(tuple(root.value[1:] for root in roots), start + size)


def car_sections(data: bytes, at: int) -> Iterator[CarSection | Unreadable]:
    """Yield the sections from offset `at`; after a damaged one, the rest of the file is one record."""
    while at < len(data):
        section = car_section(data, at)
        yield section
        if isinstance(section, Unreadable):
            return
        at = section.end


def car_section(data: bytes, at: int) -> CarSection | Unreadable:
    """Return the section at offset `at`, or a record of the rest of the file.

    - a section that ends beyond the file: `CAR_TRUNCATED`; no memory is allocated for its claimed length;
    - an empty section, a varint that is not minimal or over 9 bytes, no content address: `CAR_MALFORMED`.
    """
    length = parse_varint(data, at)
    if isinstance(length, str):
        return truncated(data, at) if length == "cut" else malformed(data, at, "varint")
    size, start = length
    if size == 0:
        return malformed(data, at, "empty")
    if start + size > len(data):
        return truncated(data, at)
    block_at = after_cid(data, start, start + size)
    if block_at is None:
        return malformed(data, at, "cid")
    return CarSection(data[start:block_at], block_at, start + size, at)


def malformed(data: bytes, at: int, cause: CarCause) -> Unreadable:
    """Return the `CAR_MALFORMED` record of the rest of a CAR, from offset `at`."""
    return _rest(data, at, "CAR_MALFORMED", cause)


def truncated(data: bytes, at: int) -> Unreadable:
    """Return the `CAR_TRUNCATED` record of the last section of a CAR, from offset `at`."""
    return _rest(data, at, "CAR_TRUNCATED", "cut")


def _rest(data: bytes, at: int, reason: str, cause: str) -> Unreadable:
    return Unreadable((reason,), data[at:], at, evidence_of([Finding(reason, {"cause": cause})]))


def car_header(roots: Iterable[bytes]) -> bytes:
    """Return the header of a CARv1 with these content addresses as roots."""
    header = dag_cbor({"roots": [link(root) for root in roots], "version": 1})
    return varint(len(header)) + header


def section(cid: bytes, block: bytes) -> bytes:
    """Return the section of a block, with the bytes of its content address."""
    return varint(len(cid) + len(block)) + cid + block


def car(roots: Iterable[bytes], blocks: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the CARv1 of blocks, each with the bytes of its content address, in the order given."""
    return b"".join((car_header(roots), *(section(cid, block) for cid, block in blocks)))
