"""Base-N texts and varints: each has one spelling, and nothing else is read."""

import random

import pytest

from strandline.core.encoding.base_n import (
    base32,
    base58,
    parse_base16,
    parse_base32,
    parse_base58,
    parse_base64,
)
from strandline.core.encoding.varint import parse_varint, varint

# https://datatracker.ietf.org/doc/html/draft-msporny-base58, section 5
BASE58 = {
    b"Hello World!": "2NEpo7TZRRrLZSi2U",
    b"The quick brown fox jumps over the lazy dog.": "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
    bytes.fromhex("0000287fb4cd"): "11233QC4",
    b"": "",
    b"\x00": "1",
}


@pytest.mark.parametrize("data", BASE58)
def test_base58_is_that_of_its_published_examples(data):
    assert base58(data) == BASE58[data]
    assert parse_base58(BASE58[data]) == data


def test_every_base_reads_back_what_it_wrote():
    chance = random.Random(1)
    for size in [*range(40), 90]:
        data = bytes(size % 3) + chance.randbytes(size)
        assert parse_base58(base58(data)) == data
        assert parse_base32(base32(data)) == data
        assert parse_base16(data.hex()) == data


@pytest.mark.parametrize("text", ["0", "O", "I", "l", "2\n", " 2", "2 ", "é", "2" * 129])
def test_what_is_no_base58_is_refused(text):
    assert parse_base58(text) is None


@pytest.mark.parametrize("text", ["A", "mz", "me======", "MZXW6", "mzxw6\n", "1", "é", "mzxw6==="])
def test_what_is_no_base32_in_its_one_spelling_is_refused(text):
    assert parse_base32(text) is None
    assert parse_base32("mzxw6") == b"foo"


@pytest.mark.parametrize("text", ["A0", "0", "0 0", " 00", "00\n", "é0", "0x00"])
def test_what_is_no_lower_case_hex_is_refused(text):
    assert parse_base16(text) is None


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", b""),
        ("YQ==", b"a"),
        ("YQ", b"a"),
        ("YWI", b"ab"),
        ("+/+/", b"\xfb\xff\xbf"),
        ("YR==", None),
        ("YQ=", None),
        ("Y", None),
        ("YQ==\n", None),
        ("Y Q", None),
        ("-_-_", None),
        ("YQ===", None),
        ("=", None),
        ("é", None),
    ],
)
def test_base64_has_its_alphabet_no_stray_bits_and_padding_or_none(text, data):
    assert parse_base64(text) == data


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("00", (0, 1)),
        ("7f", (127, 1)),
        ("8001", (128, 2)),
        ("ffffffffffffffff7f", (2**63 - 1, 9)),
        ("", "cut"),
        ("80", "cut"),
        ("8000", "not_minimal"),
        ("81808000", "not_minimal"),
        ("80" * 9 + "01", "long"),
        ("ff" * 10, "long"),
    ],
)
def test_a_varint_is_minimal_and_has_at_most_nine_bytes(data, expected):
    assert parse_varint(bytes.fromhex(data), 0) == expected
    if isinstance(expected, tuple):
        assert varint(expected[0]).hex() == data
