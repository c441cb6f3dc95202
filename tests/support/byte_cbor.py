"""DAG-CBOR read byte by byte, by the letter of RFC 8949: the partner of the strict reader, sharing no code with it."""

import math
import struct

INVALID, NOT_CANONICAL = "CBOR_INVALID", "CBOR_NOT_CANONICAL"
SAFE = 2**53 - 1


class Invalid(Exception):  # noqa: N818 - what the bytes are
    pass


class Link:
    def __init__(self, raw):
        self.raw = raw

    def __eq__(self, other):
        return getattr(other, "tag", None) == 42 and other.value == self.raw


class Reader:
    def __init__(self, raw, floats, nesting):
        self.raw, self.floats, self.nesting = raw, floats, nesting
        self.at, self.canonical = 0, True

    def take(self, size):
        if self.at + size > len(self.raw):
            raise Invalid
        piece = self.raw[self.at : self.at + size]
        self.at += size
        return piece

    def head(self):
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if info < 24:
            return major, info, info
        if info in (24, 25, 26, 27):
            number = int.from_bytes(self.take(1 << (info - 24)), "big")
            least = {24: 24, 25: 2**8, 26: 2**16, 27: 2**32}[info]
            if major != 7 and number < least:
                self.canonical = False
            return major, info, number
        if info == 31 and major in (2, 3, 4, 5):
            self.canonical = False
            return major, info, None
        raise Invalid

    def more(self, count, done):
        if count is not None:
            return done < count
        if self.raw[self.at : self.at + 1] == b"\xff":
            self.at += 1
            return False
        return True

    def string(self, major, size):
        if size is not None:
            return self.take(size)
        pieces = []
        while self.more(None, 0):
            kind, info, length = self.head()
            if kind != major or info == 31:
                raise Invalid
            pieces.append(self.take(length))
            if major == 3:
                self.text(pieces[-1])
        return b"".join(pieces)

    @staticmethod
    def text(raw):
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise Invalid from None

    def value(self, level=1):
        major, info, number = self.head()
        if major in (0, 1):
            return number if major == 0 else -1 - number
        if major in (2, 3):
            raw = self.string(major, number)
            return raw if major == 2 else self.text(raw)
        if major == 7:
            return self.simple(info, number)
        if level > self.nesting:
            raise Invalid
        if major == 4:
            items = []
            while self.more(number, len(items)):
                items.append(self.value(level + 1))
            return items
        if major == 5:
            return self.map(number, level)
        if number != 42:
            raise Invalid
        inside = self.value(level + 1)
        if not isinstance(inside, bytes) or inside[:1] != b"\x00":
            raise Invalid
        return Link(inside)

    def map(self, count, level):
        members, last = {}, None
        while self.more(count, len(members)):
            name = self.value(level + 1)
            if not isinstance(name, str) or name in members:
                raise Invalid
            key = (len(name.encode()), name.encode())
            if last is not None and key <= last:
                self.canonical = False
            last = key
            members[name] = self.value(level + 1)
        return members

    def simple(self, info, number):
        if info in (20, 21, 22):
            return {20: False, 21: True, 22: None}[info]
        if info not in (25, 26, 27) or self.floats == "none":
            raise Invalid
        size = info - 25
        found = struct.unpack((">e", ">f", ">d")[size], number.to_bytes(2 << size, "big"))[0]
        if not math.isfinite(found):
            raise Invalid
        if (found == int(found) and abs(found) <= SAFE) or size != (
            2 if self.floats == "wide" else fewest(found)
        ):
            self.canonical = False
        return found


def fewest(number):
    """The least of 0, 1, 2 for 16, 32, 64 bits that keep a double."""
    for size, form in enumerate((">e", ">f")):
        try:
            if struct.unpack(form, struct.pack(form, number))[0] == number:
                return size
        except OverflowError:
            continue
    return 2


def read(raw, floats, nesting):
    """The value, or the reason why there is none."""
    reader = Reader(raw, floats, nesting)
    try:
        value = reader.value()
    except Invalid:
        return INVALID
    if not reader.canonical:
        return NOT_CANONICAL
    return INVALID if reader.at < len(raw) else value
