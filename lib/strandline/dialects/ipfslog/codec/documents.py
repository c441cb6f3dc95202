"""Files to documents: lines of JSON, one JSON document, a CAR. What cannot be opened becomes a `Unreadable`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from strandline.core.encoding.base_n import parse_base64
from strandline.core.encoding.strict_json import BYTE_ORDER_MARK, JsonRefused, strict_json
from strandline.core.verdict import Evidence, Finding, evidence_of
from strandline.dialects.ipfslog.codec.car import CarHeader, CarSection, car_sections, parse_car_header
from strandline.dialects.ipfslog.codec.cids import parse_cid, parse_cid_bytes
from strandline.dialects.ipfslog.codec.dag_cbor import NESTING
from strandline.dialects.ipfslog.codec.identities import has_identity_members
from strandline.dialects.ipfslog.codec.manifests import manifest_kind
from strandline.dialects.ipfslog.codec.slices import Slice, members_of, parts_of
from strandline.dialects.ipfslog.types import (
    MAX_BLOCK_BYTES,
    BlockDocument,
    Cid,
    Document,
    HeadClaim,
    JsonDocument,
    Unreadable,
)

DocumentFormat: TypeAlias = Literal["lines", "json", "car"]
DOCUMENT_FORMATS: Final[tuple[DocumentFormat, ...]] = ("lines", "json", "car")

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
MAX_FILE_BYTES: Final = 256 * 1024 * 1024
_SPACE: Final = b" \t\n\r"
# A snapshot's id that is no text: no log has the empty id, so none of its entries can be right.
_NO_LOG: Final = ""


def read_documents(data: bytes, format: DocumentFormat) -> Iterator[Document]:  # noqa: A002 - the option's name
    """Yield what one decompressed file holds, in file order; nothing raises.

    - `lines`: one JSON document a line, LF or CRLF; a mark at the start and blank lines are skipped. A line over
      16 MiB is `LINE_TOO_LARGE`. `TRUNCATED` is added where the last line lacks its LF and is no JSON;
    - `json`: one JSON document; an array is a list of documents. Over 256 MiB: `FILE_TOO_LARGE`;
    - `car`: CARv1. A damaged section ends it, the rest of the file is one record.

    Of JSON objects the first of these shapes fits, else `NOT_AN_ENTRY`: texts `cid` and `data`, a block; an array
    `values`, a log snapshot, whose elements are documents; members `payload` and `v`, an entry; exactly those of
    an identity or manifest, and perhaps `hash`. A bad element costs itself alone.
    """
    if format == "car":
        yield from _car(data)
        return
    start = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    if format == "lines":
        yield from _lines(data, start)
    elif len(data) - start > MAX_FILE_BYTES:
        evidence: Evidence = {"expected": MAX_FILE_BYTES, "actual": len(data) - start}
        yield _damage(("FILE_TOO_LARGE",), data[start:], start, evidence)
    else:
        yield from json_documents(data, start)


def _lines(data: bytes, start: int) -> Iterator[Document]:
    while start < len(data):
        end = data.find(b"\n", start)
        stop = len(data) if end < 0 else end
        if stop - start > MAX_LINE_BYTES:
            evidence: Evidence = {"expected": MAX_LINE_BYTES, "actual": stop - start}
            reasons = ("LINE_TOO_LARGE",) if end >= 0 else ("LINE_TOO_LARGE", "TRUNCATED")
            yield _damage(reasons, data[start:stop], start, evidence)
        else:
            yield from line_documents(data, start, stop, ended=end >= 0)
        start = stop + 1


def line_documents(data: bytes, start: int, stop: int, *, ended: bool) -> Iterator[Document]:
    """Yield what one line holds, which stands at `start` to `stop`; `ended` says that an LF follows."""
    piece = _trimmed(data, start, stop)
    if piece.start < piece.end:
        for document in _document(data, piece):
            yield document if ended else _cut(document)


def _cut(document: Document) -> Document:
    if isinstance(document, Unreadable) and document.reasons == ("JSON_INVALID",):
        return Unreadable(("JSON_INVALID", "TRUNCATED"), document.raw, document.offset, document.evidence)
    return document


def json_documents(data: bytes, start: int = 0) -> Iterator[Document]:
    """Yield what one JSON document holds, or each element of an array; it begins at `start`, behind a mark."""
    whole = _trimmed(data, start, len(data))
    if data[whole.start : whole.start + 1] != b"[":
        if whole.start < whole.end:
            yield from _document(data, whole)
        return
    parts = parts_of(data, whole.start, whole.end)
    for piece in parts.pieces:
        yield from _document(data, piece)
    if parts.end is None:
        yield _no_json(data, Slice(whole.end, whole.end), "syntax")
    elif parts.end < whole.end:
        yield _no_json(data, _trimmed(data, parts.end, whole.end), "trailing")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a JSON object stands: by itself, or inside a snapshot, whose id may be absent."""

    in_snapshot: bool = False
    log_id: str | None = None
    is_head: bool = False


_ALONE: Final = _Place()


def _document(data: bytes, piece: Slice, place: _Place = _ALONE) -> Iterator[Document]:
    raw = data[piece.start : piece.end]
    try:
        value = strict_json(raw, numbers="js", nesting=NESTING)
    except JsonRefused as refused:
        members = dict(members_of(data, piece)) if raw[:1] == b"{" and not place.in_snapshot else {}
        values = members.get("values")
        if values is None or data[values.start : values.start + 1] != b"[":
            yield _no_json(data, piece, refused.cause)
        else:
            yield from _snapshot(data, piece, members)
        return
    if isinstance(value, dict) and isinstance(value.get("cid"), str) and isinstance(value.get("data"), str):
        yield _raw_block(value, raw, piece.start, place)
    elif isinstance(value, dict) and isinstance(value.get("values"), list) and not place.in_snapshot:
        yield from _snapshot(data, piece, dict(members_of(data, piece)))
    elif isinstance(value, dict) and _has_a_shape(value):
        yield JsonDocument(value, raw, piece.start, place.log_id, place.is_head)
    else:
        yield _damage(("NOT_AN_ENTRY",), raw, piece.start, {"cause": "no shape fits"})


def _has_a_shape(value: dict[str, Any]) -> bool:
    if "payload" in value and "v" in value:
        return True
    rest = without_hash(value)
    return has_identity_members(rest) or manifest_kind(rest) is not None


def without_hash(value: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON identity or manifest without the content address that it may claim."""
    return {name: member for name, member in value.items() if name != "hash"}


def _raw_block(value: dict[str, Any], raw: bytes, offset: int, place: _Place) -> Document:
    block = parse_base64(value["data"])
    if block is None:
        return _damage(("BASE64_MALFORMED",), raw, offset, {"field": "data"})
    return BlockDocument(block, value["cid"], offset, place.log_id, place.is_head)


def _snapshot(data: bytes, piece: Slice, members: dict[str, Slice]) -> Iterator[Document]:
    """Yield the elements of a log snapshot; what is around them must be strict JSON on its own."""
    log_id = _snapshot_id(data, members["id"]) if "id" in members else None
    envelope = data[piece.start : piece.end]
    held = {name: members[name] for name in ("heads", "values") if name in members}
    for name, value in sorted(held.items()):
        if data[value.start : value.start + 1] == b"[":
            for element in parts_of(data, value.start, value.end).pieces:
                yield from _element(data, element, _Place(True, log_id, name == "heads"))
    for value in sorted(held.values(), key=lambda value: value.start, reverse=True):
        if data[value.start : value.start + 1] == b"[":
            closed = parts_of(data, value.start, value.end).end
            inside = (b"[]" if closed is not None else b"[") + data[closed or value.end : value.end]
            envelope = envelope[: value.start - piece.start] + inside + envelope[value.end - piece.start :]
    try:
        strict_json(envelope, numbers="js", nesting=NESTING)
    except JsonRefused as refused:
        yield _no_json(data, piece, refused.cause)


def _snapshot_id(data: bytes, piece: Slice) -> str:
    try:
        log_id = strict_json(data[piece.start : piece.end], numbers="js")
    except JsonRefused:
        return _NO_LOG
    return log_id if isinstance(log_id, str) else _NO_LOG


def _element(data: bytes, piece: Slice, place: _Place) -> Iterator[Document]:
    if place.is_head and data[piece.start : piece.start + 1] == b'"':
        try:
            cid = parse_cid(strict_json(data[piece.start : piece.end]))
        except JsonRefused as refused:
            yield _no_json(data, piece, refused.cause)
            return
        yield HeadClaim(cid.digest if isinstance(cid, Cid) else None)
        return
    yield from _document(data, piece, place)


def _car(data: bytes) -> Iterator[Document]:
    header = parse_car_header(data)
    if isinstance(header, Unreadable):
        yield header
        return
    yield from root_claims(header)
    for section in car_sections(data, header.end):
        yield section if isinstance(section, Unreadable) else section_document(data, section)


def root_claims(header: CarHeader) -> Iterator[HeadClaim]:
    """Yield the heads that a CAR claims."""
    for root in header.roots:
        cid = parse_cid_bytes(root)
        yield HeadClaim(cid.digest if isinstance(cid, Cid) else None)


def section_document(data: bytes, section: CarSection) -> BlockDocument | Unreadable:
    """Return the block of a section, or that it is too large."""
    size = section.end - section.start
    if size > MAX_BLOCK_BYTES and isinstance(parse_cid_bytes(section.cid), Cid):
        evidence: Evidence = {"expected": MAX_BLOCK_BYTES, "actual": size}
        return _damage(("BLOCK_TOO_LARGE",), data[section.start : section.end], section.offset, evidence)
    return BlockDocument(data[section.start : section.end], section.cid, section.offset)


def _trimmed(data: bytes, start: int, stop: int) -> Slice:
    raw = data[start:stop]
    lead = len(raw) - len(raw.lstrip(_SPACE))
    return Slice(start + lead, max(start + lead, start + len(raw.rstrip(_SPACE))))


def _no_json(data: bytes, piece: Slice, cause: str) -> Unreadable:
    return _damage(("JSON_INVALID",), data[piece.start : piece.end], piece.start, {"cause": cause})


def _damage(reasons: tuple[str, ...], raw: bytes, offset: int, evidence: Evidence) -> Unreadable:
    return Unreadable(reasons, raw, offset, evidence_of([Finding(reasons[0], evidence)]))
