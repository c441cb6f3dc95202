"""Where an item of a sequence ends: as the algorithm of RFC 8949 says, in steps and levels that are bounded."""

import random

import cbor2
import pytest

from strandline.core.encoding import cbor_items
from strandline.core.encoding.cbor_items import item_end

NESTING = 32


class Malformed(Exception):  # noqa: N818 - what the bytes are
    pass


class ByTheLetter:
    """The pseudocode of RFC 8949, appendix C."""

    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, size):
        if len(self.raw) - self.at < size:
            raise Malformed
        self.at += size
        return self.raw[self.at - size : self.at]

    def well_formed(self, breakable=False):
        first = self.take(1)[0]
        major, value = first >> 5, first & 0x1F
        info = value
        if 24 <= info <= 27:
            value = int.from_bytes(self.take(1 << (info - 24)), "big")
        elif info in (28, 29, 30):
            raise Malformed
        elif info == 31:
            return self.indefinite(major, breakable)
        if major in (2, 3):
            self.take(value)
        elif major == 4:
            for _ in range(value):
                self.well_formed()
        elif major == 5:
            for _ in range(2 * value):
                self.well_formed()
        elif major == 6:
            self.well_formed()
        elif major == 7 and info == 24 and value < 32:
            raise Malformed
        return major

    def indefinite(self, major, breakable):
        if major in (2, 3):
            while (chunk := self.well_formed(True)) != -1:
                if chunk != major:
                    raise Malformed
        elif major == 4:
            while self.well_formed(True) != -1:
                pass
        elif major == 5:
            while self.well_formed(True) != -1:
                self.well_formed()
        elif major == 7 and breakable:
            return -1
        else:
            raise Malformed
        return 99


def end_by_the_letter(raw):
    reader = ByTheLetter(raw)
    try:
        reader.well_formed()
    except Malformed:
        return None
    return reader.at


@pytest.mark.large
def test_an_item_ends_where_the_rfc_says():
    chance = random.Random(5)
    heads = [0x00, 0x18, 0x19, 0x1C, 0x3B, 0x41, 0x5F, 0x61, 0x78, 0x7F, 0x80, 0x81, 0x83, 0x9F, 0xA1, 0xBF]
    heads += [0xC0, 0xD8, 0xE0, 0xF6, 0xF8, 0xF9, 0xFB, 0xFF, 0x20, 0xFF]
    seen = set()
    for _ in range(20_000):
        raw = bytes(chance.choices(heads, k=chance.randrange(1, 12))) + chance.randbytes(chance.randrange(4))
        found, expected = item_end(raw, 0, NESTING), end_by_the_letter(raw)
        assert found == expected if expected is not None else found in ("cut", "syntax"), raw.hex()
        seen.add(found if isinstance(found, str) else "ends")
    assert seen == {"ends", "cut", "syntax"}


def test_items_follow_each_other():
    items = [cbor2.dumps(each) for each in ({"a": [1, 2]}, "x" * 300, b"", [[]], -1, 2**64 - 1)]
    raw, at, found = b"".join(items), 0, []
    while at < len(raw):
        end = item_end(raw, at, NESTING)
        found.append(raw[at:end])
        at = end
    assert found == items


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", "cut"),
        (b"\x5a\x7f\xff\xff\xff", "cut"),
        (b"\x9b" + b"\xff" * 8, "cut"),
        (b"\xbb" + b"\xff" * 8 + b"\x00", "cut"),
        (b"\xff", "syntax"),
        (b"\x1f", "syntax"),
        (b"\xdf", "syntax"),
        (b"\x81" * 32 + b"\x00", 33),
        (b"\x81" * 33 + b"\x00", "depth"),
        (b"\x81" * 32 + b"\x80", "depth"),
        (b"\xc1" * 33 + b"\x00", "depth"),
        (b"\x9f" * 33, "depth"),
        (b"\x63\xed\xa0\x80", 4),
        (b"\xa2\x61\x61\x01\x61\x61\x02", 7),
        (b"\x5f\x41a\x42bc\xff", 7),
        (b"\x5f\x61a\xff", "syntax"),
        (b"\x7f\x7f\x61a\xff\xff", "syntax"),
    ],
)
def test_a_hostile_item_has_a_named_fault(raw, expected):
    assert item_end(raw, 0, NESTING) == expected


def test_no_item_takes_more_steps_than_a_document_may_have_values(monkeypatch):
    assert cbor_items.MAX_VALUES == 300_000
    monkeypatch.setattr(cbor_items, "MAX_VALUES", 1_000)
    whole = b"\x9a" + (999).to_bytes(4, "big") + bytes(999)
    assert item_end(whole, 0, NESTING) == len(whole)
    more = b"\x9a" + (1_000).to_bytes(4, "big") + bytes(1_000)
    assert item_end(more, 0, NESTING) == "values"
    assert item_end(b"\x9b" + b"\x7f" * 8 + bytes(4_000_000), 0, NESTING) == "values"
