"""Netstrings, and the hash over them: injective, and plain SQL can compute it."""

import hashlib
from typing import Final

_LENGTH_DIGITS: Final = 7
"""Digits of the longest length in a body of 256 KiB, and one more."""


def netstring(data: bytes) -> bytes:
    """Return N(data): its decimal length, `:`, the bytes, `,`."""
    return b"%d:%b," % (len(data), data)


def netstrings(*fields: str | int | bytes) -> bytes:
    """Return the netstrings of the fields: texts as UTF-8, numbers as decimal text."""
    return b"".join(
        netstring(each if isinstance(each, bytes) else str(each).encode("utf-8")) for each in fields
    )


def tagged_hash(*fields: str | int | bytes) -> bytes:
    """Return H(fields): SHA-256 of their netstrings, 32 bytes. Ids and keys enter as lower-case hex text."""
    return hashlib.sha256(netstrings(*fields)).digest()


def parse_netstrings(data: bytes) -> list[bytes] | None:
    """Return the fields of a sequence of netstrings, or None if `netstrings` of them would not give these bytes."""
    fields: list[bytes] = []
    at = 0
    while at < len(data):
        colon = data.find(b":", at, at + _LENGTH_DIGITS + 1)
        digits = data[at : max(colon, at)]
        if not digits.isdigit() or (digits[0] == 0x30 and len(digits) > 1):
            return None
        start = colon + 1
        end = start + int(digits)
        if data[end : end + 1] != b",":
            return None
        fields.append(data[start:end])
        at = end + 1
    return fields
