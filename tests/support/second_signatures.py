"""A second valid Ed25519 signature of one message, which only the owner of a key can make: with another nonce."""

import hashlib

from nacl.bindings import (
    crypto_core_ed25519_scalar_add,
    crypto_core_ed25519_scalar_mul,
    crypto_core_ed25519_scalar_reduce,
    crypto_scalarmult_ed25519_base_noclamp,
    crypto_sign_seed_keypair,
)


def sign_again(seed, message, nonce=b"another nonce"):
    """A signature R || S whose R follows from `nonce`, not from the message."""
    public, _ = crypto_sign_seed_keypair(seed)
    scalar = bytearray(hashlib.sha512(seed).digest()[:32])
    scalar[0] &= 248
    scalar[31] = scalar[31] & 127 | 64
    secret = crypto_core_ed25519_scalar_reduce(bytes(scalar) + bytes(32))
    r = crypto_core_ed25519_scalar_reduce(hashlib.sha512(nonce).digest())
    point = crypto_scalarmult_ed25519_base_noclamp(r)
    k = crypto_core_ed25519_scalar_reduce(hashlib.sha512(point + public + message).digest())
    return point + crypto_core_ed25519_scalar_add(r, crypto_core_ed25519_scalar_mul(k, secret))
