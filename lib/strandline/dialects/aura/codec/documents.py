"""Files to facts: lines of JSON, one journal document, a CBOR sequence. A bad fact does not affect the others."""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from strandline.core.encoding.cbor_items import item_end
from strandline.core.encoding.json_slices import Slice, stripped
from strandline.core.encoding.lines import lines_of
from strandline.core.encoding.strict_json import BYTE_ORDER_MARK, JsonRefused, strict_json
from strandline.core.verdict import Evidence, Finding
from strandline.dialects.aura.codec.facts import (
    NESTING,
    fact_forms,
    own_namespace,
    parse_fact_cbor,
    parse_fact_json,
)
from strandline.dialects.aura.codec.journals import has_facts, journal_document, unreadable
from strandline.dialects.aura.types import Document, Fact, FactDocument, Namespace, Unreadable

DocumentFormat: TypeAlias = Literal["lines", "json", "cbor"]
DOCUMENT_FORMATS: Final[tuple[DocumentFormat, ...]] = ("lines", "json", "cbor")

MAX_LINE_BYTES: Final = 4 * 1024 * 1024
MAX_FILE_BYTES: Final = 64 * 1024 * 1024


def read_documents(
    data: bytes,
    format: DocumentFormat,  # noqa: A002 - the option's name
    *,
    transitions: bool = False,
) -> Iterator[Document]:
    """Yield the facts of one decompressed file, in file order; never raises.

    - `lines`: a fact or a journal document per line, LF or CRLF; a byte order mark at the start and blank lines are
      skipped. A line over 4 MiB is `LINE_TOO_LARGE`. `TRUNCATED` is added if the last line has no LF and is too
      large or not JSON;
    - `json`: one journal document. Over 64 MiB: `FILE_TOO_LARGE`;
    - `cbor`: facts one after another. From the first byte that begins no well-formed item, all remaining bytes are one
      `CBOR_INVALID`.

    `transitions`: AMP transitions are facts; without it their variants are unknown.
    """
    if format == "cbor":
        yield from cbor_documents(data, transitions=transitions)
        return
    start = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    if format == "lines":
        yield from _lines(data, start, transitions=transitions)
    elif len(data) - start > MAX_FILE_BYTES:
        yield _too_large("FILE_TOO_LARGE", MAX_FILE_BYTES, data[start:], start)
    else:
        piece = stripped(data, start, len(data))
        if piece.start < piece.end:
            yield from journal_document(data, piece, transitions=transitions)


def _lines(data: bytes, start: int, *, transitions: bool) -> Iterator[Document]:
    for at, stop, ended in lines_of(data, start):
        if stop - at > MAX_LINE_BYTES:
            found = _too_large("LINE_TOO_LARGE", MAX_LINE_BYTES, data[at:stop], at)
            yield found if ended else truncated(found)
        else:
            yield from line_documents(data, at, stop, ended=ended, transitions=transitions)


def _too_large(reason: str, most: int, raw: bytes, offset: int) -> Unreadable:
    evidence: Evidence = {"expected": most, "actual": len(raw)}
    return unreadable(Finding(reason, evidence), raw, offset)


def truncated(document: Unreadable) -> Unreadable:
    """Return the rejected last line of a file, which may be cut: no LF follows it."""
    reasons = (*document.reasons, "TRUNCATED")
    return Unreadable(reasons, document.raw, document.offset, document.evidence, document.namespace)


def line_documents(
    data: bytes, start: int, stop: int, *, ended: bool, transitions: bool
) -> Iterator[Document]:
    """Yield the facts of the line from `start` to `stop`; `ended`: an LF follows; `transitions` as in `fact_forms`."""
    piece = stripped(data, start, stop)
    if piece.start == piece.end:
        return
    raw = data[piece.start : piece.end]
    try:
        value = strict_json(raw, nesting=NESTING)
    except JsonRefused as refused:
        if has_facts(data, piece):
            for document in journal_document(data, piece, transitions=transitions):
                yield _cut(document, piece, ended=ended)
        else:
            found = unreadable(Finding("JSON_INVALID", refused.evidence), raw, piece.start)
            yield found if ended else truncated(found)
        return
    if type(value) is dict and "facts" in value:
        yield from journal_document(data, piece, transitions=transitions)
    else:
        form = fact_forms(None, transitions=transitions)
        yield fact_document(parse_fact_json(value, form), raw, piece.start, own_namespace(value))


def _cut(document: Document, piece: Slice, *, ended: bool) -> Document:
    if ended or not isinstance(document, Unreadable) or len(document.raw) != piece.end - piece.start:
        return document
    return truncated(document) if document.reasons == ("JSON_INVALID",) else document


def fact_document(
    fact: Fact | Finding, raw: bytes, offset: int, namespace: Namespace | None
) -> FactDocument | Unreadable:
    """Return a fact at its place, or its first fault with its bytes."""
    if isinstance(fact, Finding):
        return unreadable(fact, raw, offset, namespace)
    return FactDocument(fact, offset)


def cbor_documents(data: bytes, *, transitions: bool) -> Iterator[Document]:
    """Yield the facts of a CBOR sequence. `transitions` as in `fact_forms`."""
    form, at = fact_forms(None, transitions=transitions), 0
    while at < len(data):
        end = item_end(data, at, NESTING)
        if not isinstance(end, int):
            yield unreadable(Finding("CBOR_INVALID", {"cause": end}), data[at:], at)
            return
        raw = data[at:end]
        yield fact_document(parse_fact_cbor(raw, form), raw, at, None)
        at = end
