"""Signatures: ECDSA over secp256k1 with SHA-256, strict DER and low S.

Records are verified by libsecp256k1 (`coincurve`); OpenSSL (`cryptography`) verifies a sample, and in tests.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.metadata import version
from typing import Final

import coincurve
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

SECP256K1_N: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
HALF_N: Final = SECP256K1_N // 2
COMPRESSED_BYTES: Final = 33
UNCOMPRESSED_BYTES: Final = 65
CACHED_KEYS: Final = 100_000
PARTNER_SAMPLE: Final = 65
"""How many of 65,536 records, selected by the first two bytes of their ids, OpenSSL verifies, too."""

_MIN_DER_BYTES: Final = 8
_MAX_DER_BYTES: Final = 72
_MAX_DER_INTEGER_BYTES: Final = 33


def _point(raw: bytes) -> coincurve.PublicKey | None:
    # libsecp256k1 accepts the hybrid forms 06 and 07, OpenSSL does not: here a point has only two encodings.
    compressed = len(raw) == COMPRESSED_BYTES and raw[0] in (2, 3)
    if not compressed and not (len(raw) == UNCOMPRESSED_BYTES and raw[0] == 4):
        return None
    return _parsed(raw)


@lru_cache(maxsize=CACHED_KEYS)
def _parsed(raw: bytes) -> coincurve.PublicKey | None:
    try:
        return coincurve.PublicKey(raw)
    except ValueError:
        return None


def is_point(raw: bytes) -> bool:
    """Return whether `raw` is a point of secp256k1: 33 bytes `02` or `03`, or 65 bytes `04` (SEC 1, 2.3.4)."""
    return _point(raw) is not None


def compressed_point(raw: bytes) -> bytes | None:
    """Return the compressed form, 33 bytes, of the point `raw`, or None."""
    point = _point(raw)
    return None if point is None else point.format(compressed=True)


def is_strict_der(der: bytes) -> bool:
    """Return whether `der` is exactly `30 len 02 rlen r 02 slen s`.

    One-byte lengths, r and s minimal and positive, no bytes after it, 8 to 72 bytes in total.
    """
    size = len(der)
    if not _MIN_DER_BYTES <= size <= _MAX_DER_BYTES or der[0] != 0x30 or der[1] != size - 2:
        return False
    r_size = der[3]
    s_at = 4 + r_size
    if der[2] != 2 or s_at + 2 > size or der[s_at] != 2:
        return False
    s_size = der[s_at + 1]
    return s_at + 2 + s_size == size and _is_minimal(der[4:s_at]) and _is_minimal(der[s_at + 2 :])


def _is_minimal(integer: bytes) -> bool:
    if not 1 <= len(integer) <= _MAX_DER_INTEGER_BYTES or integer[0] > 0x7F or integer == b"\x00":
        return False
    return integer[0] != 0 or (len(integer) > 1 and integer[1] > 0x7F)


def _is_low_s(der: bytes) -> bool:
    """Return whether a strict DER signature has 0 < r < n and 0 < s <= n/2."""
    s_at = 6 + der[3]
    r, s = int.from_bytes(der[4 : s_at - 2], "big"), int.from_bytes(der[s_at:], "big")
    return 0 < r < SECP256K1_N and 0 < s <= HALF_N


def der_of(r: int, s: int) -> bytes:
    """Return the strict DER of two positive integers below 2^256."""
    parts = [_der_integer(r), _der_integer(s)]
    body = b"".join(b"\x02" + bytes([len(part)]) + part for part in parts)
    return b"\x30" + bytes([len(body)]) + body


def _der_integer(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "big")


def verify_digest(key: bytes, der: bytes, digest: bytes) -> bool:
    """Return whether `der` is a signature of `key` over a 32-byte digest.

    These hold:
    - `key` is a point in one of its two encodings;
    - `der` is strict DER with 0 < r < n and 0 < s <= n/2, so that no second signature can be derived from it;
    - the equation of ECDSA (SEC 1, 4.1.4).
    """
    point = _point(key)
    if point is None or not is_strict_der(der):
        return False
    try:
        # libsecp256k1 refuses r >= n and high S.
        return point.verify(der, digest, hasher=None)
    except ValueError:
        return False


def verify(key: bytes, der: bytes, message: bytes) -> bool:
    """Return whether `der` is a signature of `key` over SHA-256 of the message, as `verify_digest`."""
    return verify_digest(key, der, hashlib.sha256(message).digest())


def verify_by_partner(key: bytes, der: bytes, digest: bytes) -> bool:
    """Return the same as `verify_digest`, by OpenSSL after the same checks of encodings."""
    if not is_point(key) or not is_strict_der(der) or not _is_low_s(der):
        return False
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), key)
    try:
        public.verify(der, digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))
    except InvalidSignature:
        return False
    return True


def libraries() -> dict[str, str]:
    """Return the versions of both libraries, for evidence of a disagreement."""
    return {name: version(name) for name in ("coincurve", "cryptography")}


class SigningKey:
    """A private key of secp256k1. Signatures are those of RFC 6979: equal data, equal bytes.

    Raises:
        ValueError: the secret is not 32 bytes, or not a number of 1..n-1.
    """

    __slots__ = ("_key",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != 32:
            raise ValueError("a secret key has 32 bytes")
        self._key = coincurve.PrivateKey(secret)

    def public(self, *, compressed: bool) -> bytes:
        """Return the public key, 33 or 65 bytes."""
        return self._key.public_key.format(compressed=compressed)

    def sign(self, message: bytes) -> bytes:
        """Return the DER signature with low S over SHA-256 of the message."""
        return self._key.sign(message)

    def sign_digest(self, digest: bytes) -> bytes:
        """Return the DER signature with low S over a 32-byte digest."""
        return self._key.sign(digest, hasher=None)
