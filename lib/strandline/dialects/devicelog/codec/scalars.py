"""Texts to bytes and numbers: each value has only one spelling."""

import re
from itertools import pairwise
from typing import Final

from strandline.core.encoding.base_n import parse_base16, parse_base64
from strandline.dialects.devicelog.types import ID_BYTES, MAX_NUMBER

_DECIMAL: Final = re.compile(rb"0|-?[1-9][0-9]{0,15}")


def parse_hex(text: object, size: int = ID_BYTES) -> bytes | None:
    """Return the `size` bytes of a text in lower-case hex, or None."""
    if not isinstance(text, str) or len(text) != 2 * size:
        return None
    return parse_base16(text)


def parse_hex_field(field: bytes) -> bytes | None:
    """Return the 32 bytes of a field of a body in lower-case hex, or None."""
    return parse_hex(field.decode("latin-1"))


def parse_decimal(field: bytes, least: int = 0) -> int | None:
    """Return the number of a field of a body in canonical decimal, `least` to 2^53-1, or None."""
    if _DECIMAL.fullmatch(field) is None:
        return None
    number = int(field)
    return number if least <= number <= MAX_NUMBER else None


def parse_padded_base64(text: object) -> bytes | None:
    """Return the bytes of a text in padded canonical base64 (RFC 4648, section 4), or None."""
    return parse_base64(text) if isinstance(text, str) and len(text) % 4 == 0 else None


def is_ascending(values: tuple[bytes, ...]) -> bool:
    """Return whether the values are strictly ascending."""
    return all(low < high for low, high in pairwise(values))
