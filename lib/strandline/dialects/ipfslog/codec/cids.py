"""Content addresses: CIDv0 and CIDv1 with SHA-256, as bytes, as texts in four bases, and as links."""

from functools import lru_cache
from typing import Final, Literal, TypeAlias

from cbor2 import CBORTag

from strandline.core.encoding.base_n import base32, base58, parse_base16, parse_base32, parse_base58
from strandline.core.encoding.strict_cbor import LINK_TAG
from strandline.core.encoding.varint import parse_varint
from strandline.dialects.ipfslog.types import Cid, Variant

CidReason: TypeAlias = Literal["CID_MALFORMED", "CID_UNSUPPORTED"]

DAG_CBOR: Final = b"\x01\x71\x12\x20"
DAG_PB: Final = b"\x01\x70\x12\x20"
CID_V0: Final = b"\x12\x20"
_CIDV0_CHARS: Final = 46
_CANONICAL_CHARS: Final = 49
_MIN_CID_BYTES: Final = 4
_CIDV0_BYTES: Final = 34
_CID_FIELDS: Final = 4
MAX_CID_CHARS: Final = 256
"""The longest text that is parsed: twice what any hash in use needs. Base32 is decoded digit by digit."""

_MAX_CACHED_CHARS: Final = 128


def parse_cid_bytes(raw: bytes) -> Cid | CidReason:
    """Return the content address in `raw`, or the reason why a log may not name it.

    - `01 71 12 20` (dag-cbor), `01 70 12 20` (dag-pb) or `12 20` (CIDv0), then 32 bytes of SHA-256;
    - fewer than 4 bytes, or another first byte than `01` and `12`: `CID_MALFORMED`; else `CID_UNSUPPORTED`.
    """
    size = len(raw)
    if (size == 36 and raw[:4] in (DAG_CBOR, DAG_PB)) or (size == 34 and raw[:2] == CID_V0):
        return Cid(raw)
    if size < _MIN_CID_BYTES or raw[0] not in (0x01, 0x12):
        return "CID_MALFORMED"
    return "CID_UNSUPPORTED"


def cid_bytes(text: str) -> bytes | None:
    """Return the bytes of a content address in text form, of any codec and hash, or None."""
    raw = _bytes_of(text)
    return raw if raw is not None and after_cid(raw, 0, len(raw)) == len(raw) else None


def after_cid(data: bytes, start: int, end: int) -> int | None:
    """Return the end of the content address at `start`, or None if there is none or it ends beyond `end`."""
    if data[start : start + 2] == CID_V0:
        return start + _CIDV0_BYTES if start + _CIDV0_BYTES <= end else None
    at, value = start, 0
    for field in range(_CID_FIELDS):
        part = parse_varint(data, at)
        if isinstance(part, str) or part[1] > end or (field == 0 and part[0] != 1):
            return None
        value, at = part
    # The last of version, codec, hash and length.
    return at + value if at + value <= end else None


def parse_cid(text: str) -> Cid | CidReason:
    """Return the content address in text form, or the reason why it is not one.

    Multibase `z` (base58btc), `b` and `B` (base32) and `f` (base16), each only in its canonical form, and CIDv0:
    `Qm..` of 46 characters, which has no multibase prefix (CID specification, decoding algorithm). Anything else is
    `CID_MALFORMED`.
    """
    return _parsed(text) if len(text) <= _MAX_CACHED_CHARS else _parse(text)


def _parse(text: str) -> Cid | CidReason:
    raw = _bytes_of(text)
    return "CID_MALFORMED" if raw is None else parse_cid_bytes(raw)


_parsed = lru_cache(maxsize=16_384)(_parse)


def _bytes_of(text: str) -> bytes | None:
    if len(text) > MAX_CID_CHARS:
        return None
    if len(text) == _CIDV0_CHARS and text.startswith("Qm"):
        return parse_base58(text)
    raw = _of_multibase(text[:1], text[1:])
    # CIDv18 does not exist: bytes that start with 12 are a CIDv0, whose only text has no multibase prefix.
    return None if raw is None or raw[:1] == CID_V0[:1] else raw


def _of_multibase(base: str, digits: str) -> bytes | None:
    if base == "z":
        return parse_base58(digits)
    if base == "b":
        return parse_base32(digits)
    if base == "B":
        # All digits must be upper case.
        return parse_base32(digits.lower()) if digits == digits.upper() and digits.isascii() else None
    return parse_base16(digits) if base == "f" else None


@lru_cache(maxsize=16_384)
def cid_text(raw: bytes) -> str:
    """Return the text of a content address as ipfs-log writes it: CIDv0 as `Qm..`, every other in base58btc."""
    return base58(raw) if raw[:2] == CID_V0 else "z" + base58(raw)


def link_text(raw: bytes) -> str:
    """Return the text of a content address as DAG-JSON writes it: CIDv0 as `Qm..`, every other in base32."""
    return base58(raw) if raw[:2] == CID_V0 and len(raw) == _CIDV0_BYTES else "b" + base32(raw)


def address_text(raw: bytes) -> str:
    """Return a text that `parse_cid` reads as `raw`, for any codec and hash: `Qm..` or base16."""
    return base58(raw) if raw[:2] == CID_V0 and len(raw) == _CIDV0_BYTES else "f" + raw.hex()


def canonical_cid(digest: bytes, variant: Variant = "core2") -> str:
    """Return the canonical text of an entry's content address: `zdpu..`, or `Qm..` for v0."""
    return cid_text((CID_V0 if variant == "v0" else DAG_CBOR) + digest)


def is_canonical(text: str, cid: Cid) -> bool:
    """Return whether `text`, a text of `cid`, is the canonical text of a dag-cbor address."""
    return len(text) == _CANONICAL_CHARS and text[0] == "z" and cid.raw[:4] == DAG_CBOR


def link(raw: bytes) -> CBORTag:
    """Return the dag-cbor link to a content address."""
    return CBORTag(LINK_TAG, b"\x00" + raw)


def parse_link(tag: CBORTag) -> Cid | CidReason:
    """Return the content address of a link that the CBOR reader accepted, or the reason why it is not one."""
    return parse_cid_bytes(tag.value[1:])
