"""Ed25519 signatures (RFC 8032) in the strict form that libsodium verifies, without the cofactor.

Records are verified by libsodium (`PyNaCl`); OpenSSL (`cryptography`) behind our own checks of encodings verifies a
sample, and in tests. OpenSSL alone is no verifier here: it accepts keys and points of small order.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.metadata import version
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from nacl.bindings import (
    crypto_core_ed25519_is_valid_point,
    crypto_sign,
    crypto_sign_open,
    crypto_sign_seed_keypair,
)
from nacl.exceptions import BadSignatureError

KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
CACHED_KEYS: Final = 100_000
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
"""The order L of the base point."""

_P: Final = 2**255 - 19
_Y: Final = 2**255 - 1
_SMALL_ORDER: Final = frozenset(
    {
        0,
        1,
        _P - 1,
        *(
            int.from_bytes(bytes.fromhex(text), "little")
            for text in (
                "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
                "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            )
        ),
    }
)
"""The y coordinates of the eight points whose order divides the cofactor."""


def is_strong_point(encoded: bytes) -> bool:
    """Return whether 32 bytes are the canonical encoding of a y below p that is not that of a point of small order.

    They need not be on the curve.
    """
    y = int.from_bytes(encoded, "little") & _Y
    return len(encoded) == KEY_BYTES and y < _P and y not in _SMALL_ORDER


@lru_cache(maxsize=CACHED_KEYS)
def has_prime_order(key: bytes) -> bool:
    """Return whether 32 bytes are the canonical encoding of a point of order exactly L.

    A key of mixed order passes `verify_ed25519` with signatures that verifiers with the cofactor judge otherwise.
    Under a key of order L, R = [S]B - [k]A has that order by itself.
    """
    return len(key) == KEY_BYTES and crypto_core_ed25519_is_valid_point(key)


def verify_ed25519(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether a signature R || S of the key A over the message is valid.

    These hold:
    - A has 32 bytes, the signature 64, and S < L, so that no second signature can be derived from it;
    - A and R are canonical and not of small order;
    - [S]B = R + [k]A with k = SHA-512(R || A || message) mod L, without the cofactor (RFC 8032, 5.1.7).
    """
    _check_library()
    return _opens(key, message, signature)


def _opens(key: bytes, message: bytes, signature: bytes) -> bool:
    if len(key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    try:
        crypto_sign_open(signature + message, key)
    except BadSignatureError:
        return False
    return True


@cache
def _check_library() -> None:
    """Check once per process that libsodium is strict: PyNaCl does not tell its version.

    Raises: RuntimeError.
    """
    public, secret = crypto_sign_seed_keypair(bytes(KEY_BYTES))
    good = crypto_sign(b"", secret)
    s = int.from_bytes(good[KEY_BYTES:], "little") + ORDER
    higher = good[:KEY_BYTES] + s.to_bytes(KEY_BYTES, "little")
    # With the neutral element as key, R = [S]B fits any message: here S = 0 and R neutral, too.
    neutral = (1).to_bytes(KEY_BYTES, "little")
    if (
        not _opens(public, b"", good)
        or _opens(public, b"", higher)
        or _opens(neutral, b"", neutral + bytes(32))
    ):
        raise RuntimeError(
            "libsodium does not verify Ed25519 strictly: install PyNaCl from requirements.lock"
        )


def verify_by_partner(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return the same as `verify_ed25519`, by OpenSSL after checks of encodings."""
    if len(signature) != SIGNATURE_BYTES or not is_strong_point(key) or not is_strong_point(signature[:32]):
        return False
    if int.from_bytes(signature[32:], "little") >= ORDER:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def libraries() -> dict[str, str]:
    """Return the versions of both libraries, for evidence of a disagreement."""
    return {name: version(name) for name in ("PyNaCl", "cryptography")}


class Ed25519Key:
    """A private key. Equal seeds and messages give equal signatures.

    Raises:
        ValueError: the seed is not 32 bytes.
    """

    __slots__ = ("_secret", "public")

    def __init__(self, seed: bytes) -> None:
        if len(seed) != KEY_BYTES:
            raise ValueError("a seed of an Ed25519 key has 32 bytes")
        self.public, self._secret = crypto_sign_seed_keypair(seed)

    def sign(self, message: bytes) -> bytes:
        """Return the signature, 64 bytes."""
        return crypto_sign(message, self._secret)[:SIGNATURE_BYTES]
