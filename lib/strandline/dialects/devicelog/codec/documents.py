"""Files to entries: lines of either profile, and whole files of Scuttlebutt messages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from strandline.core.encoding.json_skip import after_brackets
from strandline.core.encoding.json_slices import after_blanks, stripped
from strandline.core.encoding.lines import lines_of
from strandline.core.encoding.strict_json import BYTE_ORDER_MARK, JsonRefused
from strandline.core.verdict import Finding
from strandline.dialects.devicelog.codec.entries import read_entry, write_entry
from strandline.dialects.devicelog.codec.messages import read_message
from strandline.dialects.devicelog.codec.ssb import read_value
from strandline.dialects.devicelog.types import MAX_LINE_BYTES, Entry, Refused

DocumentFormat: TypeAlias = Literal["lines", "json"]
DOCUMENT_FORMATS: Final[tuple[DocumentFormat, ...]] = ("lines", "json")

MAX_SSB_LINE_BYTES: Final = 128 * 1024
MAX_FILE_BYTES: Final = 256 * 1024 * 1024

_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^ \t\n\r,\[\]{}":]++', re.DOTALL)
_NOTHING: Final = object()


@dataclass(frozen=True, slots=True)
class Document:
    """One record of a file: an entry, or the reasons of a refused record. `offset` is in the decompressed file.

    `is_cut`: the last line of a file, refused and without LF, perhaps because the file was cut.
    """

    found: Entry | Refused
    raw: bytes
    offset: int
    is_cut: bool = False

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons of a refused record, ascending."""
        found = () if isinstance(self.found, Entry) else self.found.reasons
        return tuple(sorted((*found, "TRUNCATED"))) if self.is_cut else found


def read_documents(data: bytes, format: DocumentFormat) -> Iterator[Document]:  # noqa: A002 - the option's name
    """Yield the records of one decompressed file, in file order; never raises.

    - `lines`: one entry or message a line, LF or CRLF; a byte order mark at the start and lines of blanks are skipped.
      A line over 1 MiB, or a message over 128 KiB, is LINE_TOO_LARGE. TRUNCATED is added if the last line has no LF
      and is too large or not JSON;
    - `json`: messages, as `json_documents`. Over 256 MiB: FILE_TOO_LARGE.
    """
    start = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    if format == "lines":
        yield from _lines(data, start)
    elif len(data) - start > MAX_FILE_BYTES:
        yield _too_large("FILE_TOO_LARGE", MAX_FILE_BYTES, data[start:], start)
    else:
        yield from json_documents(data, start)


def _lines(data: bytes, start: int) -> Iterator[Document]:
    for at, stop, ended in lines_of(data, start):
        if stop - at > MAX_LINE_BYTES:
            found = _too_large("LINE_TOO_LARGE", MAX_LINE_BYTES, data[at:stop], at)
            yield found if ended else _truncated(found)
        else:
            yield from line_documents(data[at:stop], at, ended=ended)


def line_documents(line: bytes, offset: int = 0, *, ended: bool = True) -> Iterator[Document]:
    """Yield the record of a line of at most 1 MiB, unless it is blank; `ended`: an LF follows it."""
    piece = stripped(line, 0, len(line))
    if piece.start < piece.end:
        raw = line[piece.start : piece.end]
        found = Document(read_line(raw), raw, offset + piece.start)
        yield found if ended else _truncated(found)


def read_line(line: bytes) -> Entry | Refused:
    """Return the entry of a line of either profile; its own bytes decide which.

    It is `ssb` if, as JSON.parse reads it, it is an object with the member `previous` or `value`; else `native`.
    """
    value = _message(line)
    if value is _NOTHING:
        return read_entry(line)
    if len(line) > MAX_SSB_LINE_BYTES:
        return _too_large("LINE_TOO_LARGE", MAX_SSB_LINE_BYTES, line, 0).found
    return _of_value(value)


def block_of(entry: Entry) -> bytes:
    """Return an entry in its one spelling: the line of `native`, T of `ssb`; `read_line` gives the same entry."""
    return write_entry(entry) if entry.raw is None else entry.raw


def json_documents(data: bytes, start: int = 0) -> Iterator[Document]:
    """Yield the messages of a whole file, from `start` (after a byte order mark).

    The file is one array, or values divided by white space. A value that is no message is one refused record. From the
    first byte that is no JSON, the remaining bytes are one JSON_INVALID; so are the bytes after the `]` of an array,
    and those at the end of an array without `]`, even if there are none.
    """
    at = after_blanks(data, start)
    if data[at : at + 1] == b"[":
        return _array(data, at + 1)
    return _stream(data, at)


def _stream(data: bytes, at: int) -> Iterator[Document]:
    while at < len(data):
        found, end = _value_at(data, at)
        if found is None:
            yield _rest(data, at)
            return
        yield found
        at = after_blanks(data, end)
        if at == end < len(data):
            yield _rest(data, at)  # no white space divides it from the value before
            return


def _array(data: bytes, at: int) -> Iterator[Document]:
    at = after_blanks(data, at)
    if data[at : at + 1] != b"]":
        while True:
            found, end = _value_at(data, at)
            if found is None:
                yield _rest(data, at)
                return
            yield found
            at = after_blanks(data, end)
            if data[at : at + 1] != b",":
                break
            at = after_blanks(data, at + 1)
    if data[at : at + 1] != b"]":
        yield _rest(data, at)
        return
    at = after_blanks(data, at + 1)
    if at < len(data):
        yield _rest(data, at)


def _value_at(data: bytes, at: int) -> tuple[Document | None, int]:
    """Return the record of the value at `at`, and its end; None if no JSON value begins there."""
    if data[at : at + 1] in (b"{", b"["):
        end = after_brackets(data, at, len(data))
    else:
        match = _TOKEN.match(data, at)
        end = match.end() if match else at
    raw = data[at:end]
    try:
        value = read_value(raw)
    except JsonRefused:
        return None, end
    return Document(_of_value(value), raw, at), end


def element_document(raw: bytes) -> Document:
    """Return the record of one value of a whole file."""
    found, end = _value_at(raw, 0)
    return found if found is not None and end == len(raw) else _rest(raw, 0)


def _rest(data: bytes, at: int) -> Document:
    """Return everything from `at` on as one record that is no JSON."""
    raw = data[at : stripped(data, at, len(data)).end]
    try:
        read_value(raw)
        cause: dict[str, str | int] = {"cause": "trailing"}
    except JsonRefused as refused:
        cause = refused.evidence
    return Document(Refused((Finding("JSON_INVALID", cause),)), raw, at)


def _message(line: bytes) -> Any:
    """Return the value of a line if it is `ssb`, else `_NOTHING`."""
    if b"\\" not in line and b'"previous"' not in line and b'"value"' not in line:
        return _NOTHING  # no name of it can be one of these, so it need not be read to know
    try:
        value = read_value(line)
    except JsonRefused:
        return _NOTHING
    return value if isinstance(value, dict) and ("previous" in value or "value" in value) else _NOTHING


def _of_value(value: Any) -> Entry | Refused:
    if type(value) is dict and "value" in value:
        return read_message(value["value"], value.get("key"), has_key="key" in value)
    return read_message(value)


def _too_large(reason: str, most: int, raw: bytes, offset: int) -> Document:
    return Document(Refused((Finding(reason, {"expected": most, "actual": len(raw)}),)), raw, offset)


_CUT: Final = frozenset({"JSON_INVALID", "LINE_TOO_LARGE"})
"""Reasons that a cut can cause."""


def _truncated(document: Document) -> Document:
    found = document.found
    is_cut = isinstance(found, Refused) and not _CUT.isdisjoint(found.reasons)
    return replace(document, is_cut=is_cut)
