"""The CBOR reader: one spelling of each value, under each of the three rules of floats."""

import random
from collections import Counter

import cbor2
import pytest
from cbor2 import CBORTag

from strandline.core.encoding.strict_cbor import (
    LINK_TAG,
    CborRefused,
    begins_cbor,
    encode_cbor,
    strict_cbor,
)
from support import byte_cbor

TAGS = frozenset({LINK_TAG})
INVALID, NOT_CANONICAL = "CBOR_INVALID", "CBOR_NOT_CANONICAL"


def read(data, floats, tags=TAGS, nesting=64):
    try:
        return strict_cbor(bytes.fromhex(data), tags=tags, floats=(floats,), nesting=nesting).value
    except CborRefused as refused:
        return refused.reason


# hex: what it is under `none`, `wide` and `short`
FLOATS = {
    "f93e00": (INVALID, NOT_CANONICAL, 1.5),
    "fa3fc00000": (INVALID, NOT_CANONICAL, NOT_CANONICAL),
    "fb3ff8000000000000": (INVALID, 1.5, NOT_CANONICAL),
    "fb3e7ad7f29abcaf48": (INVALID, 1e-7, 1e-7),
    "fa5a000000": (INVALID, NOT_CANONICAL, 2.0**53),
    "fb4340000000000000": (INVALID, 2.0**53, NOT_CANONICAL),
    "fb3ff0000000000000": (INVALID, NOT_CANONICAL, NOT_CANONICAL),
    "f93c00": (INVALID, NOT_CANONICAL, NOT_CANONICAL),
    "fb8000000000000000": (INVALID, NOT_CANONICAL, NOT_CANONICAL),
}


@pytest.mark.parametrize("data", FLOATS)
def test_a_float_is_read_in_the_width_of_its_rule_alone(data):
    assert tuple(read(data, floats) for floats in ("none", "wide", "short")) == FLOATS[data]


REFUSED = [
    "f97e00",
    "fb7ff8000000000000",
    "a2616101616102",
    "0101",
    "a26161f5",
    "61ff",
    "63eda080",
    "f7",
    "e0",
    "f818",
    "1c",
    "ff",
    "c11a514b67b0",
    "d81c81d81d00",
    "d901028101",
    "a10102",
    "a1410102",
    "5b7fffffffffffffff",
    "9b7fffffffffffffff",
    "5a40000000",
    "d82a00",
    "d82a4101",
    "d82a6100",
    "d82b4100",
    "fb7ff0000000000000",
]


@pytest.mark.parametrize(
    "data",
    [*REFUSED, "81" * 65 + "00", "81" * 64 + "80", "81" * 64 + "a0", "81" * 64 + "d82a4100", ""],
    ids=lambda data: data[:20],
)
def test_what_is_no_value_of_dag_cbor_is_invalid(data):
    assert {read(data, floats) for floats in ("none", "wide", "short")} == {INVALID}


@pytest.mark.parametrize(
    "data",
    [
        "1817",
        "1801",
        "780161",
        "1b000000000000000a",
        "bf616101ff",
        "9f01ff",
        "7f6161ff",
        "a2616201616101",
        "a262616101616202",
    ],
)
def test_a_second_spelling_of_a_value_is_not_canonical(data):
    assert {read(data, floats) for floats in ("none", "wide", "short")} == {NOT_CANONICAL}


READ = {
    "1bffffffffffffffff": 2**64 - 1,
    "3bffffffffffffffff": -(2**64),
    "f6": None,
    "a0": {},
    "80": [],
    "40": b"",
    "60": "",
    "20": -1,
    "d82a4100": CBORTag(42, b"\x00"),
}


@pytest.mark.parametrize("data", READ)
def test_values_at_the_edges_are_read(data):
    assert read(data, "wide") == READ[data]


def test_as_many_levels_as_are_allowed_are_read():
    assert read("81" * 64 + "00", "wide") != INVALID
    assert read("81" * 63 + "d82a4100", "wide") != INVALID


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        ("61", "cut"),
        ("61ff", "utf8"),
        ("c100", "tag"),
        ("d82b4100", "tag"),
        ("f7", "simple"),
        ("f97e00", "float"),
        ("a1410102", "key"),
        ("0000", "trailing"),
        ("a2616101616101", "syntax"),
        ("1801", "spelling"),
        ("a2616201616101", "order"),
    ],
)
def test_the_cause_says_what_is_wrong(data, cause):
    with pytest.raises(CborRefused) as refused:
        strict_cbor(bytes.fromhex(data), tags=TAGS, floats=("wide",), nesting=64)
    assert refused.value.cause == cause


@pytest.mark.large
def test_no_tag_is_ever_resolved():
    causes = {}
    for number in range(70_000):
        head = cbor2.dumps(number)
        try:
            strict_cbor(
                bytes([head[0] | 0xC0]) + head[1:] + b"\x41\x00", tags=TAGS, floats=("wide",), nesting=9
            )
        except CborRefused as refused:
            causes.setdefault(refused.cause, []).append(number)
    assert set(causes) == {"tag"}
    assert len(causes["tag"]) == 70_000 - 1


def test_a_bomb_of_references_is_refused_at_once():
    bomb = "d81c81" + "82" + "d81d00" * 2
    assert read(bomb, "wide") == INVALID
    assert read("9f" * 100_000, "wide") == INVALID


def test_the_first_of_two_widths_that_fits_is_told():
    def floats(data):
        return strict_cbor(bytes.fromhex(data), tags=TAGS, floats=("wide", "short"), nesting=9).floats

    assert [floats(data) for data in ("fb3ff8000000000000", "f93e00", "01")] == ["wide", "short", None]
    # 0.1 takes 64 bits in both: one wide and one short float are mixed.
    assert read("82fb3ff8000000000000f93e00", "wide") == NOT_CANONICAL


def test_integers_beyond_doubles_are_noticed():
    for data, expected in (
        ("1b001fffffffffffff", False),
        ("811b0020000000000000", True),
        ("3b001fffffffffffff", True),
    ):
        item = strict_cbor(bytes.fromhex(data), tags=TAGS, floats=("wide",), nesting=9)
        assert item.has_unsafe_integer is expected


def random_value(chance, depth=0):
    kind = chance.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return chance.choice([0, 23, 24, 255, 256, 2**32, 2**53, 2**64 - 1, -1, -(2**64)])
    if kind == 1:
        return chance.choice([1.5, 0.1, 2.0**53, 65504.5, 1e300, 5e-324])
    if kind == 2:
        return chance.choice(["", "a", "é" * chance.randrange(20), "x" * chance.randrange(300)])
    if kind == 3:
        return chance.randbytes(chance.choice([0, 1, 24]))
    if kind < 6:
        return chance.choice([None, True, False, CBORTag(LINK_TAG, b"\x00\x01")])
    if kind < 8:
        names = ["", "a", "b", "aa", "é", "\uffff", "😀", "zz"]
        return {name: random_value(chance, depth + 1) for name in chance.sample(names, chance.randrange(4))}
    return [random_value(chance, depth + 1) for _ in range(chance.choice([0, 1, 3, 25]) >> depth)]


PIECES = [0, 0x18, 0x1B, 0x5F, 0x7F, 0x81, 0x9F, 0xBF, 0xD8, 0xF7, 0xF9, 0xFF]


def mutated(chance, raw):
    for _ in range(chance.randrange(3)):
        at = chance.randrange(len(raw) + 1)
        if raw[at : at + 1] and raw[at] & 31 < 24 and chance.random() < 0.6:
            # A longer head for what may be one.
            raw = raw[:at] + bytes([raw[at] & 0xE0 | 0x18, raw[at] & 0x1F]) + raw[at + 1 :]
        else:
            piece = bytes([chance.choice([*PIECES, chance.randrange(256)])])
            raw = raw[:at] + piece + raw[at + chance.randrange(3) :]
    return raw


def test_a_reader_by_the_letter_says_the_same_of_random_and_mutated_bytes():
    chance = random.Random(3)
    found = Counter()
    for _ in range(2_500):
        value = random_value(chance)
        floats = chance.choice(["none", "wide", "short"])
        raw = mutated(chance, encode_cbor(value, floats="short" if floats == "short" else "wide"))
        expected = byte_cbor.read(raw, floats, 5)
        assert_same(read(raw.hex(), floats, nesting=5), expected, raw)
        found[expected if isinstance(expected, str) and expected in (INVALID, NOT_CANONICAL) else "read"] += 1
    assert min(found[kind] for kind in (INVALID, NOT_CANONICAL, "read")) > 100


def assert_same(value, expected, raw):
    reasons = (INVALID, NOT_CANONICAL)
    if isinstance(expected, str) and expected in reasons:
        # Which of the two a text of several pieces is depends on where its characters are cut.
        allowed = reasons if b"\x7f" in raw else (expected,)
        assert value in allowed, raw.hex()
    else:
        assert expected == value, raw.hex()


def test_names_are_put_in_order_at_every_level_and_the_value_stays_as_it_was():
    value = {"b": [{"dd": 1, "c": 2}], "a": 0.5}
    assert encode_cbor(value).hex() == "a2616" + "1fb3fe000000000000061628" + "1a2616302626464" + "01"
    assert encode_cbor(value, floats="short").hex() == "a26161f9380061628" + "1a261630262646401"
    assert list(value) == ["b", "a"]


def test_the_beginning_of_bytes_is_told_whatever_follows():
    assert begins_cbor(b"\x81\x01\xff\xff", 9) == [1]
    with pytest.raises(CborRefused):
        begins_cbor(b"\xff", 9)
