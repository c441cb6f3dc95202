"""Spellings of content addresses: those of the CID specification and no others."""

import pytest

from strandline.core.encoding.base_n import base32, base58
from strandline.dialects.ipfslog.codec import address_text, cid_bytes, parse_cid, parse_cid_bytes
from strandline.dialects.ipfslog.types import Cid

DIGEST = bytes(range(32))
V0, V1, PB = b"\x12\x20" + DIGEST, b"\x01\x71\x12\x20" + DIGEST, b"\x01\x70\x12\x20" + DIGEST
QM, Z, B, F = base58(V0), "z" + base58(V1), "b" + base32(V1), "f" + V1.hex()
RIGHT = {
    "CIDv0": QM, "base58btc": Z, "base32": B, "base32 in upper case": B.upper(), "base16": F,
    "dag-pb in base58btc": "z" + base58(PB), "dag-pb in base32": "b" + base32(PB), "dag-pb in base16": "f" + PB.hex(),
}  # fmt: skip

WRONG = {
    # There is no CIDv18: no multibase spells a CIDv0 (CID specification, decoding algorithm, 2.3).
    "CIDv0 with the multibase of base58btc": "z" + QM,
    "CIDv0 in base32": "b" + base32(V0),
    "CIDv0 in base32 in upper case": ("b" + base32(V0)).upper(),
    "CIDv0 in base16": "f" + V0.hex(),
    "CIDv0 of another length": "z" + base58(b"\x12\x14" + DIGEST[:20]),
    "CIDv0 cut": QM[:-1],
    "CIDv0 and a character": QM + "1",
    "CIDv0 and a blank": QM + " ",
    "CIDv0 and LF": QM + "\n",
    "CIDv0 with a zero for its last digit": QM[:-1] + "0",
    "CIDv0 with I": QM[:-1] + "I",
    "CIDv0 with a letter of another script": QM[:-1] + "с",
    "CIDv0 after a blank": " " + QM,
    "base58btc without its multibase": base58(V1),
    "base58btc in upper case": Z.upper(),
    "base58btc with Z": "Z" + Z[1:],
    "base58btc cut": Z[:-1],
    "base58btc and LF": Z + "\n",
    "base58btc after a one": "z1" + Z[1:],
    "base58btc that is too long": "z" + "1" * 200,
    "base58flickr": "Z" + Z[1:].swapcase(),
    "base32 without its multibase": B[1:],
    "base32 padded": B + "=" * (-len(B[1:]) % 8 or 8),
    "base32 in both cases": B[:-1] + B[-1].upper() if B[-1].isalpha() else B[:5].upper() + B[5:],
    "base32 in upper case behind b": "b" + B[1:].upper(),
    "base32 in lower case behind B": "B" + B[1:],
    "base32 with stray bits": B[:-1] + "b",
    "base32 with a one": B[:-1] + "1",
    "base32hex": "v" + B[1:],
    "base16 in upper case": F.upper(),
    "base16 in upper case behind f": "f" + F[1:].upper(),
    "base16 with half a byte": F[:-1],
    "base16 with blanks": "f" + V1.hex(" "),
    "a megabyte of base32": "b" + "a" * 1_000_000,
    "a megabyte of base16": "f" + "00" * 500_000,
    "base64": "mAXESIA",
    "base64url": "uAXESIA",
    "identity": "\x00" + "a",
    "a multibase and nothing": "z",
    "nothing": "",
    "a path": "/ipfs/" + QM,
    "an address in angles": f"<{Z}>",
    "percent-encoded": Z.replace("z", "%7A", 1),
}


def test_the_right_spellings_are_read() -> None:
    read = {name: parse_cid(text) for name, text in RIGHT.items()}
    assert all(isinstance(cid, Cid) and cid.digest == DIGEST for cid in read.values()), read
    assert [cid_bytes(text) for text in RIGHT.values()] == [V0, V1, V1, V1, V1, PB, PB, PB]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_spelling_is_no_address(name: str) -> None:
    assert isinstance(parse_cid(WRONG[name]), str)
    assert cid_bytes(WRONG[name]) is None


def test_bytes_of_an_address_have_a_text_that_is_read_as_the_same() -> None:
    for raw in (V0, V1, PB):
        assert parse_cid(address_text(raw)) == parse_cid_bytes(raw) == Cid(raw)
    assert cid_bytes(address_text(b"\x01\x55\x12\x20" + DIGEST)) == b"\x01\x55\x12\x20" + DIGEST


def test_a_text_that_is_too_long_for_an_address_is_not_decoded(monkeypatch) -> None:
    for parse in ("parse_base58", "parse_base32", "parse_base16"):
        monkeypatch.setattr(f"strandline.dialects.ipfslog.codec.cids.{parse}", None)
    for base in "zbBfQ":
        assert parse_cid(base + "a" * 10_000) == "CID_MALFORMED"
