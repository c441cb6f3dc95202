"""Ed25519 in the strict form: encodings, small order, S below L; libsodium and its partner say the same."""

import hashlib
from importlib.resources import files

import pytest

from strandline.core import ed25519
from strandline.core.ed25519 import ORDER, Ed25519Key, is_strong_point, verify_by_partner, verify_ed25519

KEY = Ed25519Key(b"\x01" * 32)
MESSAGE = b"strandline"
GOOD = KEY.sign(MESSAGE)
P = 2**255 - 19
SMALL = [0, 1, P - 1] + [
    int.from_bytes(bytes.fromhex(text), "little")
    for text in (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
]
"""The y of points whose order divides 8."""


def both(key, message, signature):
    """The verdict of the hot path, which its partner shares."""
    found = verify_ed25519(key, message, signature)
    assert found == verify_by_partner(key, message, signature)
    return found


def encoded(y, sign=0):
    return (y | sign << 255).to_bytes(32, "little")


def small_points():
    """Every encoding of a point of small order, also those that are not canonical."""
    found = [encoded(y, sign) for y in SMALL for sign in (0, 1)]
    return found + [encoded(y, sign) for y in (P, P + 1) for sign in (0, 1)]


def with_s(s):
    return GOOD[:32] + s.to_bytes(32, "little")


S = int.from_bytes(GOOD[32:], "little")
ALTERED = {
    "S + L": (with_s(S + ORDER), MESSAGE),
    "S of zero": (with_s(0), MESSAGE),
    "S of L": (with_s(ORDER), MESSAGE),
    "another S": (with_s(S ^ 1), MESSAGE),
    "another R": (bytes([GOOD[0] ^ 1]) + GOOD[1:], MESSAGE),
    "the sign of R": (GOOD[:31] + bytes([GOOD[31] ^ 128]) + GOOD[32:], MESSAGE),
    "another message": (GOOD, MESSAGE + b"!"),
    "cut": (GOOD[:-1], MESSAGE),
    "a byte more": (GOOD + b"\x00", MESSAGE),
    "empty": (b"", MESSAGE),
    "halves exchanged": (GOOD[32:] + GOOD[:32], MESSAGE),
}


def test_signing_gives_the_published_signature():
    assert GOOD.hex() == (
        "ddd10c6d24f2575f2327737d18ccf937183132f247e0f046a9cfea4692c3800c"
        "5c59588463c07c0deee60d4a89590eae317a0c2b0471555205b4162ba652fb0e"
    )
    assert both(KEY.public, MESSAGE, GOOD)
    assert with_s(S + ORDER)[32:].hex() == "492d4ee17d238f65c48305ed6753edc2317a0c2b0471555205b4162ba652fb1e"


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_signature_is_refused_by_both_libraries(name):
    signature, message = ALTERED[name]
    assert not both(KEY.public, message, signature)


def test_points_of_small_order_are_refused_as_key_and_as_r_in_every_encoding():
    points = small_points()
    assert len(points) == 14
    for point in points:
        assert not is_strong_point(point)
        for s in (0, 1, S):
            scalar = s.to_bytes(32, "little")
            assert not any(both(point, bytes([n]), other + scalar) for n in range(8) for other in points[:4])
            assert not both(KEY.public, MESSAGE, point + scalar)


def test_keys_that_are_not_canonical_or_not_on_the_curve_verify_nothing():
    for y in (P + 2, P + 18, 2**255 - 1):
        assert not is_strong_point(encoded(y))
        assert not both(encoded(y), MESSAGE, GOOD)
    off = next(y for y in range(2, 50) if not _is_on_curve(y))
    assert is_strong_point(encoded(off))
    assert not both(encoded(off), MESSAGE, GOOD)
    assert not is_strong_point(KEY.public[:31])


def _is_on_curve(y):
    d = -121665 * pow(121666, -1, P)
    square = (y * y - 1) * pow(d * y * y + 1, -1, P) % P
    return pow(square, (P - 1) // 2, P) in (0, 1)


@pytest.mark.large
def test_all_1024_published_vectors_are_taken_and_none_with_a_changed_byte():
    path = files("cryptography_vectors") / "asymmetric" / "Ed25519" / "sign.input"
    lines = path.read_text(encoding="ascii").split()
    assert len(lines) == 1024
    for number, line in enumerate(lines):
        secret, key, message, signed = (bytes.fromhex(part) for part in line.split(":")[:4])
        assert Ed25519Key(secret[:32]).public == key
        assert both(key, message, signed[:64])
        at = number % 64
        changed = signed[:at] + bytes([signed[at] ^ 1 << number % 8]) + signed[at + 1 : 64]
        assert not both(key, message, changed)


def test_a_library_that_is_not_strict_is_refused_at_the_first_signature(monkeypatch):
    ed25519._check_library.cache_clear()
    monkeypatch.setattr(ed25519, "_opens", lambda key, message, signature: True)
    with pytest.raises(RuntimeError, match=r"requirements\.lock"):
        verify_ed25519(KEY.public, MESSAGE, GOOD)
    monkeypatch.undo()
    ed25519._check_library.cache_clear()
    assert verify_ed25519(KEY.public, MESSAGE, GOOD)


def test_a_seed_has_32_bytes_and_the_versions_of_both_libraries_are_told():
    with pytest.raises(ValueError, match="32 bytes"):
        Ed25519Key(hashlib.sha512(b"").digest())
    assert set(ed25519.libraries()) == {"PyNaCl", "cryptography"}
