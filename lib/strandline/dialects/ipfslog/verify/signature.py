"""Checks 13 to 15: the key, the form of the signature, and whether the signature is valid."""

import hashlib
import re
from functools import lru_cache
from typing import Final

from strandline.core.encoding.base_n import parse_base16
from strandline.core.signatures import (
    CACHED_KEYS,
    COMPRESSED_BYTES,
    UNCOMPRESSED_BYTES,
    compressed_point,
    der_of,
    is_point,
    is_strict_der,
    libraries,
    verify_by_partner,
    verify_digest,
)
from strandline.core.verdict import Evidence, Finding, shown
from strandline.dialects.ipfslog.codec import (
    go_escaped,
    parse_dag_cbor,
    signed_cbor,
    signed_digest_v0,
    signed_json,
)
from strandline.dialects.ipfslog.codec.cids import cid_text
from strandline.dialects.ipfslog.types import Entry, Profile
from strandline.dialects.ipfslog.verify.shape import Shaped, shape

_HEX_PAIRS: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_RAW_BYTES: Final = 64
_MAX_INTEGER: Final = 2**256
_MAX_CACHED_CHARS: Final = 2 * UNCOMPRESSED_BYTES


def signed_digest(shaped: Shaped, block: bytes, *, plain: bool = False) -> bytes:
    """Return the 32 bytes that an entry's signature covers, by variant; `plain` as for `signed_text`."""
    if shaped.variant == "core2":
        return hashlib.sha256(signed_cbor(block, shaped.fields)).digest()
    if shaped.variant == "v0":
        return signed_digest_v0(shaped.fields["id"])
    return hashlib.sha256(signed_text(shaped, plain=plain).encode("utf-8")).digest()


def signed_digest_of(entry: Entry) -> bytes:
    """Return the 32 bytes that the signature of an accepted v1, v2 or core2 entry covers."""
    return signed_digest_of_block(entry.block)


def signed_digest_of_block(block: bytes) -> bytes:
    """Return the 32 bytes that the signature of an accepted v1, v2 or core2 entry with this block covers.

    Raises:
        ValueError: it is not the block of such an entry.
    """
    shaped = shape(parse_dag_cbor(block).value, "dag-cbor", None)
    if isinstance(shaped, list):
        raise ValueError("the block must be the block of an accepted entry")
    return signed_digest(shaped, block)


def _go_digest(shaped: Shaped) -> bytes | None:
    """Return the digest of Go's spelling of what v1 and v2 sign, None if it is the same."""
    if shaped.variant == "v0":
        return None
    text = signed_text(shaped)
    escaped = go_escaped(text)
    return None if escaped == text else hashlib.sha256(escaped.encode("utf-8")).digest()


def signed_text(shaped: Shaped, *, plain: bool = False) -> str:
    """Return the sorted JSON that a v1 or v2 entry signs; `plain` as for `sorted_json`, of the payload."""
    return signed_json(
        shaped.fields,
        [cid_text(cid.raw) for cid in shaped.next],
        [cid_text(cid.raw) for cid in shaped.refs],
        plain=plain,
    )


def signature_findings(
    shaped: Shaped,
    block: bytes,
    profile: Profile,
    flags: list[str],
    *,
    plain: bool,
    is_sampled: bool,
) -> list[Finding]:
    """Return the findings about key and signature; deviations that only `compat` accepts are added to `flags`.

    An entry passes these checks:
    - 13, `key` is the lower-case hex of a point, compressed in core2: `KEY_MALFORMED`;
    - 14, `sig` is the lower-case hex of strict DER: `SIGNATURE_MALFORMED`;
    - 15, the signature is valid for key and signed bytes, with low S: `SIGNATURE_INVALID`. Runs if 13 and 14 passed.

    In `compat`, v0, v1 and v2 may use looser forms of both (`SIGNATURE_FORM`), and v1 and v2 may sign Go's spelling
    (`GO_ESCAPES`), as JavaScript and Go peers accept. A sampled entry is also verified by a second library; if the
    results differ: `LIBRARY_DISAGREEMENT`.
    """
    fields = shaped.fields
    is_loose = profile == "compat" and shaped.variant != "core2"
    key = _key(fields["key"], shaped.variant == "core2", is_loose)
    der = parse_base16(fields["sig"])
    findings: list[Finding] = []

    def holds(der: bytes, digest: bytes) -> bool:
        found = key is not None and verify_digest(key, der, digest)
        if is_sampled and key is not None and verify_by_partner(key, der, digest) is not found:
            evidence: Evidence = {"coincurve": found, "versions": libraries()}
            findings.append(Finding("LIBRARY_DISAGREEMENT", evidence))
        return found

    if key is None:
        findings.append(Finding("KEY_MALFORMED", {"field": "key", "actual": shown(fields["key"])}))
    elif der is not None and holds(der, signed_digest(shaped, block, plain=plain)):
        return findings
    if der is None or not is_strict_der(der):
        der = _loose_der(fields["sig"]) if is_loose else None
        if der is None:
            findings.append(Finding("SIGNATURE_MALFORMED", {"field": "sig", "actual": shown(fields["sig"])}))
        else:
            flags.append("SIGNATURE_FORM")
    if key is not None and der is not None:
        digest = signed_digest(shaped, block)
        if holds(der, digest):
            return findings
        escaped = _go_digest(shaped) if is_loose else None
        if escaped is not None and holds(der, escaped):
            flags.append("GO_ESCAPES")
        else:
            findings.append(Finding("SIGNATURE_INVALID", {"field": "sig", "signed_sha256": digest.hex()}))
    return findings


def _key(text: str, is_core: bool, is_loose: bool, /) -> bytes | None:
    # A text may be as long as an entry, and the cache holds its arguments.
    parse = _cached_key if len(text) <= _MAX_CACHED_CHARS else _parsed_key
    return parse(text, is_core, is_loose)


def _parsed_key(text: str, is_core: bool, is_loose: bool, /) -> bytes | None:
    raw = _loose_hex(text) if is_loose else parse_base16(text)
    if raw is None or (is_core and len(raw) != COMPRESSED_BYTES):
        return None
    return raw if is_point(raw) else None


_cached_key = lru_cache(maxsize=CACHED_KEYS)(_parsed_key)


def is_same_point(key: str, public_key: str) -> bool:
    """Return whether a key in a loose form is the same point as an identity's key in strict form."""
    point = compressed_point(parse_base16(public_key) or b"")
    return point is not None and compressed_point(_loose_hex(key)) == point


def _loose_hex(text: str) -> bytes:
    """Return the bytes of the longest prefix that consists of pairs of hex digits of either case."""
    match = _HEX_PAIRS.match(text)
    return bytes.fromhex(match.group()) if match else b""


def _loose_der(text: str) -> bytes | None:
    """Return the strict DER of a signature in a form that JavaScript peers accept, or None.

    `30 L 02 a r 02 b s`: L is the remaining length, a and b are at least 1, no `00` before a byte of at most 7f, r
    and s are unsigned, nothing follows. Otherwise exactly 64 bytes: r and s.
    """
    raw = _loose_hex(text)
    numbers = _loose_integers(raw)
    if numbers is None and len(raw) == _RAW_BYTES:
        numbers = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    if numbers is None:
        return None
    # A number that is too large for the curve makes an invalid signature, like r = 0.
    r, s = (number if number < _MAX_INTEGER else 0 for number in numbers)
    return der_of(r, s)


def _loose_integers(raw: bytes) -> tuple[int, int] | None:
    if len(raw) < 8 or raw[0] != 0x30 or raw[1] != len(raw) - 2 or raw[2] != 2:
        return None
    s_at = 4 + raw[3]
    if s_at + 2 > len(raw) or raw[s_at] != 2 or s_at + 2 + raw[s_at + 1] != len(raw):
        return None
    r, s = raw[4:s_at], raw[s_at + 2 :]
    if not r or not s or any(part[0] == 0 and part[1:2] <= b"\x7f" for part in (r, s)):
        return None
    return int.from_bytes(r, "big"), int.from_bytes(s, "big")
