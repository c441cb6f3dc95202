"""Counts the items of CBOR from their heads, before any item is built."""

from typing import Final

ONE_BYTE: Final = 24
INDEFINITE: Final = 31
HEAD_BYTES: Final = (*(0,) * ONE_BYTE, 1, 2, 4, 8, 0, 0, 0, 0)
"""Bytes of a head after the first, by its low five bits."""

STRINGS: Final = frozenset({2, 3})
TAG: Final = 6
_INSIDE: Final = (0, 0, 0, 0, 1, 2, 0, 0)
"""Items inside a list or a map for each of its length, by major type."""


def has_more_items(raw: bytes, most: int) -> bool:
    """Return whether the first item of `raw` has more than `most` items in total, including itself.

    Takes at most `most` steps, one per item; skips strings. Bytes that are not well-formed are left to the decoder,
    which gets no further than this function.
    """
    # An item takes at least one byte.
    if len(raw) <= most:
        return False
    at, size, awaited = 0, len(raw), 1
    for _ in range(most):
        if not awaited or at >= size:
            return False
        major, info = raw[at] >> 5, raw[at] & 0x1F
        extra = HEAD_BYTES[info]
        number = info if info < ONE_BYTE else int.from_bytes(raw[at + 1 : at + 1 + extra], "big")
        at += 1 + extra
        awaited -= 1
        if info == INDEFINITE:
            # The number of items is unknown; the end of the container is a head, too.
            awaited += size
        elif major in STRINGS:
            at += number
        else:
            awaited += 1 if major == TAG else number * _INSIDE[major]
    return awaited > 0 and at < size
