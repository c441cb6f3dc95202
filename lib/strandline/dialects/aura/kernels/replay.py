"""A row of the quarantine that is judged again, to its document as delivered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from strandline.core.encoding.json_slices import stripped
from strandline.dialects.aura.codec import (
    cbor_documents,
    fact_forms,
    line_documents,
    parse_fact_text,
    read_namespace,
)
from strandline.dialects.aura.codec.documents import fact_document
from strandline.dialects.aura.codec.journals import journal_document
from strandline.dialects.aura.info import reads_transitions
from strandline.dialects.aura.kernels.documents import FactPieces, read_content
from strandline.dialects.aura.types import Document, Unreadable
from strandline.kernels.blocks import keep_rejected
from strandline.kernels.documents import faulty_file
from strandline.kernels.pieces import Pieces
from strandline.kernels.reading import ReadOptions

_CBOR_MAP: Final = 5


def replay(row: Mapping[str, Any], pieces: Pieces, options: ReadOptions) -> Iterator[None]:
    """Add the documents of a row as delivered; yields often.

    A row with a record id is a fact. Other bytes may be a line, a document, a fact of a document (then the row has its
    namespace) or an item of CBOR. If a reading gives the reasons of the row, the row stays as it is.
    """
    raw, codes = row["raw"], tuple(row["reasons"].split(","))
    adder = FactPieces(row["file_no"], 0, pieces, options)
    whole = faulty_file(row, pieces, options, read_content)
    if whole is not None:
        yield from whole
        return
    found: list[list[Document]] = []
    transitions = reads_transitions(options.lake_options)
    if row["record_id"] is not None or is_cbor(raw, codes):
        found.append(list(cbor_documents(raw, transitions=transitions)))
    elif row["namespace"] is not None:
        found.append([_of_document(raw, row["namespace"], transitions=transitions)])
    elif is_object(raw):
        is_ended = "TRUNCATED" not in codes
        found.append(list(line_documents(raw, 0, len(raw), ended=is_ended, transitions=transitions)))
        found.append(list(journal_document(raw, stripped(raw, 0, len(raw)), transitions=transitions)))
    if not found or any(_is_refused(reading, codes) for reading in found):
        keep_rejected(row, pieces, options)
        return
    for document in found[0]:
        adder.add(document, 0)
        yield


def is_cbor(raw: bytes, codes: tuple[str, ...]) -> bool:
    """Return whether rejected bytes were read as CBOR.

    Bytes that are no value of their format have a code of that format: then their first byte says nothing. All others
    are well-formed in one format, and no value of JSON begins as a map of CBOR does.
    """
    if any(code.startswith("CBOR_") for code in codes):
        return True
    return "JSON_INVALID" not in codes and raw[:1] != b"" and raw[0] >> 5 == _CBOR_MAP


def is_object(raw: bytes) -> bool:
    """Return whether bytes may be an object of JSON: no other value of JSON is a fact or a document."""
    return raw.lstrip(b" \t\r\n")[:1] == b"{"


def _of_document(raw: bytes, namespace: str, *, transitions: bool) -> Document:
    """Return a fact of a document of this namespace."""
    around = read_namespace(namespace)
    return fact_document(parse_fact_text(raw, fact_forms(around, transitions=transitions)), raw, 0, around)


def _is_refused(documents: list[Document], codes: tuple[str, ...]) -> bool:
    return len(documents) == 1 and isinstance(documents[0], Unreadable) and documents[0].reasons == codes
