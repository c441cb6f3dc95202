"""ECDSA over secp256k1: strict DER, low S, two spellings of a key; both libraries say the same."""

import hashlib
import random

import pytest

from strandline.core.signatures import (
    HALF_N,
    SECP256K1_N,
    SigningKey,
    compressed_point,
    der_of,
    is_point,
    is_strict_der,
    verify,
    verify_by_partner,
    verify_digest,
)

KEY = SigningKey(b"\x01" * 32)
PUBLIC, LONG = KEY.public(compressed=True), KEY.public(compressed=False)
MESSAGE = b"strandline"
DIGEST = hashlib.sha256(MESSAGE).digest()
GOOD = bytes.fromhex(
    "3045022100cc2f891fbbedb524fc510cf446ec207fbb1206a9f32e6b39609aba6787d19e9c"
    "02203a5214688b6fb2bdeff3572f298682f2154c6bf9d5c3589157841b117c66893c"
)
R = int.from_bytes(GOOD[5:37], "big")
S = int.from_bytes(GOOD[39:], "big")
HIGH = der_of(R, SECP256K1_N - S)

SIGNATURES = {
    "as published": (GOOD, True),
    "the higher s": (HIGH, False),
    "a zero more before r": (b"\x30\x46\x02\x22\x00" + GOOD[4:], False),
    "a zero more before r, counted": (b"\x30\x46\x02\x22\x00\x00" + GOOD[5:], False),
    "a byte after": (GOOD + b"\x00", False),
    "r and s as 64 bytes": (GOOD[5:37] + GOOD[39:], False),
    "cut": (GOOD[:-1], False),
    "r without its zero": (b"\x30\x44\x02\x20" + GOOD[5:], False),
    "a long length": (b"\x30\x81\x45" + GOOD[2:], False),
    "r zero": (der_of(0, S), False),
    "s zero": (der_of(R, 0), False),
    "r of n": (der_of(SECP256K1_N, S), False),
    "r + n": (der_of((R + SECP256K1_N) % 2**256, S), False),
    "s of half n, not made by the key": (der_of(R, HALF_N), False),
    "empty": (b"", False),
    "a sequence of nothing": (b"\x30\x06\x02\x00\x02\x00\x00\x00", False),
}


def test_signing_gives_the_published_signature():
    assert KEY.sign(MESSAGE) == KEY.sign_digest(DIGEST) == GOOD
    assert HIGH.hex().endswith("022100c5adeb9774904d42100ca8d0d6797d0ca56270ecd98547aa684e437b53cfb805")


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_is_taken_in_its_one_form_alone_and_both_libraries_agree(name):
    der, expected = SIGNATURES[name]
    assert verify(PUBLIC, der, MESSAGE) is verify(LONG, der, MESSAGE) is expected
    assert verify_by_partner(PUBLIC, der, DIGEST) is expected


KEYS = {
    "compressed": (PUBLIC, True),
    "uncompressed": (LONG, True),
    "hybrid 06": (b"\x06" + LONG[1:], False),
    "hybrid 07": (b"\x07" + LONG[1:], False),
    "the other y": (bytes([PUBLIC[0] ^ 1]) + PUBLIC[1:], False),
    "not on the curve": (b"\x02" + b"\xff" * 32, False),
    "y altered": (LONG[:-1] + bytes([LONG[-1] ^ 1]), False),
    "cut": (PUBLIC[:-1], False),
    "x alone": (PUBLIC[1:], False),
    "infinity": (b"\x00", False),
    "empty": (b"", False),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_a_point_in_one_of_two_spellings_and_both_libraries_agree(name):
    key, expected = KEYS[name]
    assert verify(key, GOOD, MESSAGE) is verify_by_partner(key, GOOD, DIGEST) is expected
    assert is_point(key) is (expected or name == "the other y")
    assert compressed_point(key) == (PUBLIC if expected else key if is_point(key) else None)


@pytest.mark.large
def test_both_libraries_agree_on_random_and_mutated_signatures():
    chance = random.Random(7)
    true = 0
    for _ in range(300):
        digest = chance.randbytes(32)
        der = bytearray(KEY.sign_digest(digest))
        if chance.random() < 0.7:
            at = chance.randrange(len(der))
            der[at] = chance.randrange(256)
        found = verify_digest(PUBLIC, bytes(der), digest)
        assert found is verify_by_partner(PUBLIC, bytes(der), digest)
        true += found
    assert 60 < true < 200


def test_form_is_told_apart_from_validity():
    assert is_strict_der(HIGH)
    assert not is_strict_der(SIGNATURES["r without its zero"][0])
    assert not is_strict_der(SIGNATURES["r and s as 64 bytes"][0])


@pytest.mark.parametrize("secret", [b"", b"\x01" * 31, b"\x01" * 33, b"\x00" * 32, b"\xff" * 32])
def test_what_is_no_secret_key_is_refused(secret):
    with pytest.raises(ValueError):
        SigningKey(secret)


def test_a_digest_of_another_length_verifies_nothing():
    assert not verify_digest(PUBLIC, GOOD, DIGEST[:-1])


def test_a_signature_is_of_one_message_alone_also_of_an_empty_one():
    signed = [(b"a", KEY.sign(b"a")), (b"b", KEY.sign(b"x")), (b"c", b""), (b"", KEY.sign(b""))]
    assert [verify(PUBLIC, sig, message) for message, sig in signed] == [True, False, False, True]
