"""Builds the block of an entry that was delivered as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from strandline.dialects.ipfslog.codec import parse_cid, stored_entry
from strandline.dialects.ipfslog.types import Cid, Floats, record_id
from strandline.dialects.ipfslog.verify.shape import Shaped


@dataclass(frozen=True, slots=True)
class BuiltEntry:
    """A JSON entry as stored: its block, the digest of it, its members after checks 5 to 9, the width of its floats."""

    block: bytes
    record_id: bytes
    shaped: Shaped
    floats: Floats


def built(value: Mapping[str, Any], shaped: Shaped) -> BuiltEntry:
    """Return a JSON entry as stored; its floats are short if only that block has the claimed `hash`."""
    links = {"next": [cid.raw for cid in shaped.next], "refs": [cid.raw for cid in shaped.refs]}
    stored = stored_entry(shaped.variant, value, links)
    digest = record_id(stored.block)
    floats: Floats = "wide"
    cid = parse_cid(value["hash"]) if value.get("hash") is not None else "CID_MALFORMED"
    if shaped.variant in ("v1", "v2") and isinstance(cid, Cid) and cid.digest != digest:
        short = stored_entry(shaped.variant, value, links, "short")
        if record_id(short.block) == cid.digest:
            stored, digest, floats = short, cid.digest, "short"
    return BuiltEntry(stored.block, digest, replace(shaped, fields=stored.fields), floats)
