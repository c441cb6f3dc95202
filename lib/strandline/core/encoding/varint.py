"""Unsigned varints of multiformats: seven bits per byte, the lowest first, only the shortest encoding."""

from typing import Final, Literal, TypeAlias

VarintCause: TypeAlias = Literal["cut", "long", "not_minimal"]

MAX_VARINT_BYTES: Final = 9


def varint(number: int) -> bytes:
    """Return the varint of a number of 0..2^63-1."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def parse_varint(data: bytes, at: int) -> tuple[int, int] | VarintCause:
    """Return the number that starts at offset `at`, and the offset after it; or the cause if there is none.

    `cut`: the data ends inside it; `long`: more than 9 bytes; `not_minimal`: its last byte is an unnecessary zero.
    """
    number = 0
    for position in range(MAX_VARINT_BYTES):
        if at + position >= len(data):
            return "cut"
        byte = data[at + position]
        number |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            return "not_minimal" if byte == 0 and position else (number, at + position + 1)
    return "long"
