"""Where an item of a CBOR sequence (RFC 8742) ends, found from its heads before anything is built."""

from typing import Final, Literal, TypeAlias

from strandline.core.encoding.cbor_heads import HEAD_BYTES, INDEFINITE, ONE_BYTE, STRINGS, TAG
from strandline.core.limits import MAX_VALUES

ItemFault: TypeAlias = Literal["cut", "syntax", "depth", "values"]

_LIST: Final = 4
_MAP: Final = 5
_SIMPLE: Final = 7
_BREAK: Final = 0xFF
_FIRST_SIMPLE_OF_TWO_BYTES: Final = 32


class _Ends(ValueError):  # noqa: N818 - internal
    """No well-formed item is here."""

    def __init__(self, fault: ItemFault) -> None:
        super().__init__(fault)
        self.fault: ItemFault = fault


def item_end(raw: bytes, start: int, nesting: int) -> int | ItemFault:
    """Return the offset after the well-formed item at `start` (RFC 8949, appendix C), or why there is none.

    Longer encodings, duplicate names, texts that are not UTF-8 and all tags are well-formed: they cost their own item,
    not those after it. Faults: the bytes end (`cut`); a reserved head, a break or a chunk at a wrong place
    (`syntax`); lists, maps and tags nest deeper than `nesting` (`depth`); more than 300,000 heads (`values`).
    """
    scan = _Scan(raw, start)
    try:
        scan.item(nesting)
    except _Ends as ends:
        return ends.fault
    return scan.at


class _Scan:
    """A place in bytes that moves over heads; strings are skipped."""

    __slots__ = ("at", "raw", "steps")

    def __init__(self, raw: bytes, at: int) -> None:
        self.raw = raw
        self.at = at
        self.steps = 0

    def head(self) -> tuple[int, int, int]:
        """Move over one head; return its major type, its low five bits and its number."""
        self.steps += 1
        if self.steps > MAX_VALUES:
            raise _Ends("values")
        if self.at >= len(self.raw):
            raise _Ends("cut")
        first = self.raw[self.at]
        major, info = first >> 5, first & 0x1F
        if info < ONE_BYTE:
            self.at += 1
            return major, info, info
        extra = HEAD_BYTES[info]
        number = int.from_bytes(self.raw[self.at + 1 : self.at + 1 + extra], "big")
        self._skip(1 + extra)
        is_open = info == INDEFINITE and (major in STRINGS or major in (_LIST, _MAP))
        if not extra and not is_open:
            raise _Ends("syntax")
        return major, info, number

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > len(self.raw):
            raise _Ends("cut")

    def _meets_break(self) -> bool:
        if self.at < len(self.raw) and self.raw[self.at] == _BREAK:
            self.at += 1
            return True
        return False

    def item(self, levels: int) -> None:
        """Move over one item of at most so many levels."""
        major, info, number = self.head()
        if major in STRINGS:
            self._string(major, info, number)
        elif major in (_LIST, _MAP, TAG):
            if levels == 0:
                raise _Ends("depth")
            self._inside(major, info, number, levels - 1)
        elif major == _SIMPLE and info == ONE_BYTE and number < _FIRST_SIMPLE_OF_TWO_BYTES:
            raise _Ends("syntax")

    def _string(self, major: int, info: int, number: int) -> None:
        if info != INDEFINITE:
            self._skip(number)
            return
        while not self._meets_break():
            of_chunk, info_of_chunk, size = self.head()
            if of_chunk != major or info_of_chunk == INDEFINITE:
                raise _Ends("syntax")
            self._skip(size)

    def _inside(self, major: int, info: int, number: int, levels: int) -> None:
        if info == INDEFINITE:
            count = 0
            while not self._meets_break():
                self.item(levels)
                count += 1
            if major == _MAP and count % 2:
                raise _Ends("syntax")
            return
        for _ in range(1 if major == TAG else 2 * number if major == _MAP else number):
            self.item(levels)
