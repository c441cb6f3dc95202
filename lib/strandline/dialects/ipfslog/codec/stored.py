"""Blocks in the stores of nodes, files or key-value stores: the address of each, and its CAR section."""

import re
from collections.abc import Sequence
from typing import Any, Final

from strandline.core.encoding.base_n import parse_base32
from strandline.core.encoding.strict_cbor import CborRefused, begins_cbor
from strandline.core.encoding.strict_json import JsonRefused, strict_json
from strandline.core.encoding.varint import parse_varint
from strandline.dialect_api.unpacking import Unpacking
from strandline.dialects.ipfslog.codec.car import MAX_ROOTS_WRITTEN, car_header, section
from strandline.dialects.ipfslog.codec.cids import CID_V0, MAX_CID_CHARS, cid_bytes
from strandline.dialects.ipfslog.codec.dag_cbor import NESTING
from strandline.dialects.ipfslog.codec.dag_pb import is_dag_pb
from strandline.dialects.ipfslog.types import DIALECT, MAX_BLOCK_BYTES

_DAG_PB_CODEC: Final = b"\x01\x70"
_DAG_CBOR_CODEC: Final = b"\x01\x71"
_RAW_CODEC: Final = b"\x01\x55"
_HEADS_KEY: Final = b"heads"

_NAME: Final = re.compile(r"[A-Z2-7]+|[a-z2-7]+")
_INDEXED: Final = b"true"
"""The value of an index entry of @orbitdb/core: it marks that a block exists, and is not a block."""


def multihash_of(name: str) -> bytes | None:
    """Return the multihash in a name of base32 digits in one case, with or without multibase prefix, or None."""
    if len(name) > MAX_CID_CHARS or not _NAME.fullmatch(name):
        return None
    spelled = name.lower()
    for digits in (spelled, spelled.removeprefix("b")):
        found = parse_base32(digits)
        if found is not None and _is_multihash(found):
            return found
    return None


def _is_multihash(raw: bytes) -> bool:
    function = parse_varint(raw, 0)
    if isinstance(function, str):
        return False
    size = parse_varint(raw, function[1])
    return not isinstance(size, str) and size[0] > 0 and size[1] + size[0] == len(raw)


def address_of(multihash: bytes, block: bytes) -> bytes:
    """Return the content address of a block whose name has no codec; the digest is that of the name.

    - bytes that start as dag-pb and have more than one byte, which no dag-cbor item does: dag-pb, for SHA-256 as
      CIDv0;
    - bytes that start with a map or a byte string of CBOR, canonical or not: dag-cbor;
    - else raw.
    """
    if is_dag_pb(block):
        return multihash if _is_sha256(multihash) else _DAG_PB_CODEC + multihash
    try:
        value: Any = begins_cbor(block, NESTING)
    except CborRefused:
        return _RAW_CODEC + multihash
    return (_DAG_CBOR_CODEC if isinstance(value, dict | bytes) else _RAW_CODEC) + multihash


def _is_sha256(multihash: bytes) -> bool:
    return multihash[:2] == CID_V0


def section_of_file(name: str, block: bytes) -> bytes | None:
    """Return the CAR section of a block in a file with this name, without its ending; None for another name."""
    multihash = multihash_of(name)
    return None if multihash is None else section(address_of(multihash, block), block)


def section_of_entry(key: bytes, value: bytes) -> bytes | None:
    """Return the CAR section of a block in a key-value store, None for an entry that is not a block.

    The key is
    - `/` and a name as for a file (blockstore-level), or
    - the text of a content address, unless the value is that of an index (LevelStorage of @orbitdb/core).
    """
    try:
        text = key.decode("ascii")
    except UnicodeDecodeError:
        return None
    if text.startswith("/"):
        return section_of_file(text[1:], value)
    cid = None if value == _INDEXED else cid_bytes(text)
    return None if cid is None else section(cid, value)


def heads_of(value: bytes) -> list[bytes]:
    """Return the content addresses in a `_heads` store, `[{"hash":..,"next":..}]`; other elements are skipped."""
    try:
        parsed = _lenient(value)
        # A text that was stored as JSON is encoded twice.
        parsed = _lenient(parsed.encode("utf-8", "surrogatepass")) if isinstance(parsed, str) else parsed
    except JsonRefused:
        return []
    named = (
        [each.get("hash") for each in parsed if isinstance(each, dict)] if isinstance(parsed, list) else []
    )
    found = (cid_bytes(each) for each in named if isinstance(each, str))
    return [cid for cid in found if cid is not None]


def _lenient(raw: bytes) -> Any:
    return strict_json(raw, numbers="js", duplicates="last", surrogates="keep")


def heads(roots: Sequence[bytes]) -> list[bytes]:
    """Return the headers of CARs for these distinct roots: one CAR unless its header would be too large."""
    distinct = list(dict.fromkeys(roots))
    starts = range(0, max(len(distinct), 1), MAX_ROOTS_WRITTEN)
    return [car_header(distinct[start : start + MAX_ROOTS_WRITTEN]) for start in starts]


UNPACKING: Final = Unpacking(
    dialect=DIALECT,
    ending=".car", stored_ending=".data", of_file=section_of_file, of_entry=section_of_entry,
    roots_key=_HEADS_KEY, roots=heads_of, heads=heads, most_bytes=MAX_BLOCK_BYTES,
)  # fmt: skip
