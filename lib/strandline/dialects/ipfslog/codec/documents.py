"""Files to documents: lines of JSON, one JSON document, a CAR. What cannot be opened becomes an `Unreadable`."""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from strandline.core.encoding.lines import lines_of
from strandline.core.encoding.strict_json import BYTE_ORDER_MARK
from strandline.core.verdict import Evidence
from strandline.dialects.ipfslog.codec.car import CarHeader, CarSection, car_sections, parse_car_header
from strandline.dialects.ipfslog.codec.cids import parse_cid_bytes
from strandline.dialects.ipfslog.codec.json_documents import json_documents, line_documents, unreadable
from strandline.dialects.ipfslog.types import (
    MAX_BLOCK_BYTES,
    BlockDocument,
    Cid,
    Document,
    HeadClaim,
    Unreadable,
)

DocumentFormat: TypeAlias = Literal["lines", "json", "car"]
DOCUMENT_FORMATS: Final[tuple[DocumentFormat, ...]] = ("lines", "json", "car")

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
MAX_FILE_BYTES: Final = 256 * 1024 * 1024


def read_documents(data: bytes, format: DocumentFormat) -> Iterator[Document]:  # noqa: A002 - the option's name
    """Yield the documents of one decompressed file, in file order; never raises.

    - `lines`: one JSON document per line, LF or CRLF; a byte order mark at the start and blank lines are skipped. A
      line over 16 MiB is `LINE_TOO_LARGE`. `TRUNCATED` is added if the last line has no LF and is not JSON;
    - `json`: one JSON document; an array is a list of documents. Over 256 MiB: `FILE_TOO_LARGE`;
    - `car`: CARv1. A damaged section ends it; the rest of the file is one record.

    A JSON object is the first of these that fits, else `NOT_AN_ENTRY`: texts `cid` and `data`: a block; an array
    `values`: a log snapshot, whose elements are documents; members `payload` and `v`: an entry; exactly the members
    of an identity or manifest, optionally with `hash`. A bad element does not affect other elements; an array with
    more elements than a document of its size may have is one `JSON_INVALID` (`values`) record.
    """
    if format == "car":
        yield from _car(data)
        return
    start = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    if format == "lines":
        yield from _lines(data, start)
    elif len(data) - start > MAX_FILE_BYTES:
        evidence: Evidence = {"expected": MAX_FILE_BYTES, "actual": len(data) - start}
        yield unreadable(("FILE_TOO_LARGE",), data[start:], start, evidence)
    else:
        yield from json_documents(data, start)


def _lines(data: bytes, start: int) -> Iterator[Document]:
    for at, stop, ended in lines_of(data, start):
        if stop - at > MAX_LINE_BYTES:
            evidence: Evidence = {"expected": MAX_LINE_BYTES, "actual": stop - at}
            reasons = ("LINE_TOO_LARGE",) if ended else ("LINE_TOO_LARGE", "TRUNCATED")
            yield unreadable(reasons, data[at:stop], at, evidence)
        else:
            yield from line_documents(data, at, stop, ended=ended)


def _car(data: bytes) -> Iterator[Document]:
    header = parse_car_header(data)
    if isinstance(header, Unreadable):
        yield header
        return
    yield from root_claims(header)
    for section in car_sections(data, header.end):
        yield section if isinstance(section, Unreadable) else section_document(data, section)


def root_claims(header: CarHeader) -> Iterator[HeadClaim]:
    """Yield a head claim for each root of a CAR."""
    for root in header.roots:
        cid = parse_cid_bytes(root)
        yield HeadClaim(cid.digest if isinstance(cid, Cid) else None)


def section_document(data: bytes, section: CarSection) -> BlockDocument | Unreadable:
    """Return the block of a section, or a record that it is too large."""
    size = section.end - section.start
    if size > MAX_BLOCK_BYTES and isinstance(parse_cid_bytes(section.cid), Cid):
        evidence: Evidence = {"expected": MAX_BLOCK_BYTES, "actual": size}
        return unreadable(("BLOCK_TOO_LARGE",), data[section.start : section.end], section.offset, evidence)
    return BlockDocument(data[section.start : section.end], section.cid, section.offset)
