"""Encoding and decoding of entries: netstrings, bodies, lines of JSON, Scuttlebutt messages, files."""

from strandline.dialects.devicelog.codec.bodies import parse_statement, write_body
from strandline.dialects.devicelog.codec.documents import (
    DOCUMENT_FORMATS,
    MAX_FILE_BYTES,
    Document,
    block_of,
    element_document,
    json_documents,
    line_documents,
    read_documents,
    read_line,
)
from strandline.dialects.devicelog.codec.entries import (
    RANGES,
    entry_content,
    entry_id,
    read_entry,
    write_entry,
)
from strandline.dialects.devicelog.codec.messages import read_message, write_message
from strandline.dialects.devicelog.codec.netstrings import (
    netstrings,
    parse_netstrings,
    tagged_hash,
)
from strandline.dialects.devicelog.codec.ssb import (
    author_name,
    message_name,
    parse_hmac_key,
    read_value,
    signature_name,
    signed_bytes,
    ssb_content,
    ssb_id,
    ssb_text,
)

__all__ = [
    "DOCUMENT_FORMATS",
    "MAX_FILE_BYTES",
    "RANGES",
    "Document",
    "author_name",
    "block_of",
    "element_document",
    "entry_content",
    "entry_id",
    "json_documents",
    "line_documents",
    "message_name",
    "netstrings",
    "parse_hmac_key",
    "parse_netstrings",
    "parse_statement",
    "read_documents",
    "read_entry",
    "read_line",
    "read_message",
    "read_value",
    "signature_name",
    "signed_bytes",
    "ssb_content",
    "ssb_id",
    "ssb_text",
    "tagged_hash",
    "write_body",
    "write_entry",
    "write_message",
]
