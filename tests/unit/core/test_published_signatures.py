"""Published signatures over secp256k1, NIST's SigGen as cryptography-vectors carries it: which of them are taken."""

import hashlib
import re
from importlib.resources import files

import pytest

from strandline.core.signatures import HALF_N, SECP256K1_N, der_of, verify, verify_by_partner, verify_digest

PART = "[K-256,SHA-256]"
FIELDS = ("Msg", "Qx", "Qy", "R", "S")


def published():
    """Key in both spellings, r, s and message of each vector with SHA-256."""
    path = files("cryptography_vectors") / "asymmetric" / "ECDSA" / "SECP256K1" / "SigGen.txt"
    text = path.read_text(encoding="ascii").replace("\r", "")
    [part] = [each for each in re.split(r"\n(?=\[)", text) if each.startswith(PART)]
    found = []
    for block in part.split("\n\n"):
        told = dict(re.findall(r"^(\w+) = ([0-9a-f]+)$", block, re.MULTILINE))
        if told:
            message, x, y, r, s = (told[name] for name in FIELDS)
            point = x.zfill(64) + y.zfill(64)
            keys = (bytes.fromhex("04" + point), bytes([2 + int(y, 16) % 2]) + bytes.fromhex(x.zfill(64)))
            found.append((keys, int(r, 16), int(s, 16), bytes.fromhex(message)))
    return found


VECTORS = published()


def both(key, der, message):
    """The verdict of the hot path, which its partner shares."""
    digest = hashlib.sha256(message).digest()
    hot = verify(key, der, message)
    assert hot == verify_digest(key, der, digest) == verify_by_partner(key, der, digest)
    return hot


@pytest.mark.large
def test_of_225_published_signatures_those_121_of_low_s_are_taken():
    assert len(VECTORS) == 225
    taken = [both(key, der_of(r, s), message) for keys, r, s, message in VECTORS for key in keys]
    assert taken == [s <= HALF_N for keys, _, s, _ in VECTORS for _ in keys]
    assert sum(taken) == 2 * 121


def test_with_high_s_made_low_all_are_taken_and_so_the_equation_is_that_of_the_standard():
    assert all(both(keys[0], der_of(r, min(s, SECP256K1_N - s)), message) for keys, r, s, message in VECTORS)


@pytest.mark.large
@pytest.mark.parametrize("change", ["message", "r", "s", "key", "length"])
def test_an_altered_one_is_taken_by_neither(change):
    for place, (keys, r, s, message) in enumerate(VECTORS):
        other, low = VECTORS[place - 1], min(s, SECP256K1_N - s)
        key, der = keys[1], der_of(r, low)
        if change == "message":
            message += b"\x00"
        elif change == "r":
            der = der_of(r ^ 1, low)
        elif change == "s":
            der = der_of(r, low ^ 1)
        elif change == "key":
            key = other[0][1]
        else:
            der = der[:-1]
        assert not both(key, der, message) or (change == "key" and other[0] == keys)
