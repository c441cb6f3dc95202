"""JSON to documents: a line, a whole file, and the elements of snapshots. A bad element does not affect the others."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strandline.core.encoding.base_n import parse_base64
from strandline.core.encoding.json_slices import Member, Parts, Slice, members_of, parts_of, stripped
from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.limits import most_elements
from strandline.core.verdict import Evidence, Finding, evidence_of
from strandline.dialects.ipfslog.codec.cids import parse_cid
from strandline.dialects.ipfslog.codec.dag_cbor import NESTING
from strandline.dialects.ipfslog.codec.identities import has_identity_members
from strandline.dialects.ipfslog.codec.manifests import manifest_kind
from strandline.dialects.ipfslog.types import (
    BlockDocument,
    Cid,
    Document,
    HeadClaim,
    JsonDocument,
    Unreadable,
)

# For a snapshot id that is not a text: no log has the empty id, so every entry gets LOG_ID_MISMATCH.
_NO_LOG: Final = ""
_ARRAYS: Final = ("heads", "values")
"""The arrays of a snapshot, in the order in which their elements are documents."""


def line_documents(data: bytes, start: int, stop: int, *, ended: bool) -> Iterator[Document]:
    """Yield the documents of the line from `start` to `stop`; `ended`: an LF follows it."""
    piece = stripped(data, start, stop)
    if piece.start < piece.end:
        for document in _document(data, piece):
            yield document if ended else _with_truncated(document)


def _with_truncated(document: Document) -> Document:
    if isinstance(document, Unreadable) and document.reasons == ("JSON_INVALID",):
        return Unreadable(("JSON_INVALID", "TRUNCATED"), document.raw, document.offset, document.evidence)
    return document


def json_documents(data: bytes, start: int = 0) -> Iterator[Document]:
    """Yield the content of the JSON document from `start` (after a byte order mark), or each element of an array."""
    whole = stripped(data, start, len(data))
    if data[whole.start : whole.start + 1] != b"[":
        if whole.start < whole.end:
            yield from _document(data, whole)
        return
    try:
        parts = parts_of(data, whole.start, whole.end, most_elements(whole.end - whole.start))
    except JsonRefused as refused:
        yield _no_json(data, whole, refused)
        return
    for piece in parts.pieces:
        yield from _document(data, piece)
    if parts.end is None:
        after = parts.pieces[-1].end if parts.pieces else whole.start + 1
        yield _no_json(data, stripped(data, after, whole.end), JsonRefused("syntax"))
    elif parts.end < whole.end:
        yield _no_json(data, stripped(data, parts.end, whole.end), JsonRefused("trailing"))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a JSON object is: alone or in a snapshot, whose id may be missing."""

    in_snapshot: bool = False
    log_id: str | None = None
    is_head: bool = False


_ALONE: Final = _Place()


def _document(data: bytes, piece: Slice, place: _Place = _ALONE) -> Iterator[Document]:
    raw = data[piece.start : piece.end]
    try:
        value = strict_json(raw, numbers="js", nesting=NESTING)
    except JsonRefused as refused:
        members = {} if place.in_snapshot else _members(data, piece)
        if "values" in members and members["values"].parts is not None:
            yield from _snapshot(data, piece, members)
        else:
            yield _no_json(data, piece, refused)
        return
    if isinstance(value, dict) and isinstance(value.get("cid"), str) and isinstance(value.get("data"), str):
        yield _raw_block(value, raw, piece.start, place)
    elif isinstance(value, dict) and isinstance(value.get("values"), list) and not place.in_snapshot:
        if members := _members(data, piece):
            yield from _snapshot(data, piece, members)
        else:
            yield _no_json(data, piece, JsonRefused("values", most_elements(len(raw))))
    elif isinstance(value, dict) and _has_a_shape(value):
        yield JsonDocument(value, raw, piece.start, place.log_id, place.is_head)
    else:
        yield unreadable(("NOT_AN_ENTRY",), raw, piece.start, {"cause": "no shape fits"})


def _members(data: bytes, piece: Slice) -> dict[str, Member]:
    """Return the members of an object, whatever their values; empty if it is not an object or has too many.

    The arrays of a snapshot come with their elements.
    """
    if data[piece.start : piece.start + 1] != b"{":
        return {}
    try:
        return members_of(data, piece, most_elements(piece.end - piece.start), _ARRAYS)
    except JsonRefused:
        return {}


def _has_a_shape(value: dict[str, Any]) -> bool:
    if "payload" in value and "v" in value:
        return True
    rest = without_hash(value)
    return has_identity_members(rest) or manifest_kind(rest) is not None


def without_hash(value: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON identity or manifest without its claimed content address."""
    return {name: member for name, member in value.items() if name != "hash"}


def _raw_block(value: dict[str, Any], raw: bytes, offset: int, place: _Place) -> Document:
    block = parse_base64(value["data"])
    if block is None:
        return unreadable(("BASE64_MALFORMED",), raw, offset, {"field": "data"})
    return BlockDocument(block, value["cid"], offset, place.log_id, place.is_head)


def _snapshot(data: bytes, piece: Slice, members: dict[str, Member]) -> Iterator[Document]:
    """Yield the elements of a log snapshot; the rest of it must be strict JSON."""
    log_id = _snapshot_id(data, members["id"].value) if "id" in members else None
    arrays: dict[str, Parts] = {}
    for name in _ARRAYS:
        parts = members[name].parts if name in members else None
        if isinstance(parts, JsonRefused):
            yield _no_json(data, piece, parts)
            return
        if parts is not None:
            arrays[name] = parts
    for name, parts in arrays.items():
        for element in parts.pieces:
            yield from _element(data, element, _Place(True, log_id, name == "heads"))
    try:
        strict_json(_envelope(data, piece, members, arrays), numbers="js", nesting=NESTING)
    except JsonRefused as refused:
        yield _no_json(data, piece, refused)


def _envelope(data: bytes, piece: Slice, members: dict[str, Member], arrays: Mapping[str, Parts]) -> bytes:
    """Return a snapshot without its elements, with empty arrays."""
    kept: list[bytes] = []
    at = piece.start
    for name in sorted(arrays, key=lambda name: members[name].value.start):
        value, closed = members[name].value, arrays[name].end
        kept += (
            data[at : value.start],
            b"[" if closed is None else b"[]",
            data[closed or value.end : value.end],
        )
        at = value.end
    return b"".join((*kept, data[at : piece.end]))


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
            yield _no_json(data, piece, refused)
            return
        yield HeadClaim(cid.digest if isinstance(cid, Cid) else None)
        return
    yield from _document(data, piece, place)


def _no_json(data: bytes, piece: Slice, refused: JsonRefused) -> Unreadable:
    return unreadable(("JSON_INVALID",), data[piece.start : piece.end], piece.start, refused.evidence)


def unreadable(reasons: tuple[str, ...], raw: bytes, offset: int, evidence: Evidence) -> Unreadable:
    """Return the record of bytes that cannot be opened, with evidence for the first reason."""
    return Unreadable(reasons, raw, offset, evidence_of([Finding(reasons[0], evidence)]))
