"""Encoding and decoding of entries: netstrings, bodies, lines of JSON."""

from strandline.dialects.devicelog.codec.bodies import is_label, parse_statement, write_body
from strandline.dialects.devicelog.codec.entries import MEMBERS, entry_id, read_entry, write_entry
from strandline.dialects.devicelog.codec.netstrings import (
    netstring,
    netstrings,
    parse_netstrings,
    tagged_hash,
)

__all__ = [
    "MEMBERS",
    "entry_id",
    "is_label",
    "netstring",
    "netstrings",
    "parse_netstrings",
    "parse_statement",
    "read_entry",
    "tagged_hash",
    "write_body",
    "write_entry",
]
