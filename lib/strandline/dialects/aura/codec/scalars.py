"""Forms of single values: integers, bytes, ids, texts, words."""

import re
from typing import Any, Final
from uuid import UUID

from strandline.core.verdict import shown
from strandline.dialects.aura.codec.forms import Form, ShapeRefused, same, wrong_type
from strandline.dialects.aura.types import ID_BYTES

_DIGITS: Final = re.compile(r"0|[1-9][0-9]*")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MOST_DIGITS: Final = 20


def unsigned(bits: int, least: int = 0) -> Form:
    """Return the form of an integer of `least`..2^bits-1; in JSON also its digits as a text."""
    most = 2**bits - 1

    def checked(value: Any) -> int:
        if type(value) is not int:
            raise wrong_type(value, f"u{bits}")
        if not least <= value <= most:
            # A number of a thousand digits is cut.
            raise ShapeRefused("INT_RANGE", expected=f"{least}..{most}", actual=shown(str(value)))
        return value

    def from_json(value: Any) -> int:
        if type(value) is not str:
            return checked(value)
        if not _DIGITS.fullmatch(value):
            raise ShapeRefused("TYPE_INVALID", expected=f"u{bits}", actual=shown(value))
        if len(value) > _MOST_DIGITS:
            raise ShapeRefused("INT_RANGE", expected=f"{least}..{most}", actual=shown(value))
        return checked(int(value))

    return Form(from_json, checked, same)


def octets(most: int, least: int = 0) -> Form:
    """Return the form of `least` to `most` bytes; in JSON hex of either case, or an array of integers of 0..255."""
    expected = f"{least} bytes" if least == most else f"{least}..{most} bytes"

    def checked(value: bytes) -> bytes:
        if not least <= len(value) <= most:
            raise ShapeRefused("LENGTH_INVALID", expected=expected, actual=len(value))
        return value

    def from_json(value: Any) -> bytes:
        if type(value) is list:
            return checked(_from_integers(value))
        if type(value) is not str:
            raise wrong_type(value, "bytes")
        try:
            raw = bytes.fromhex(value)
        except ValueError:
            raw = b""
        # The decoder skips blanks.
        if 2 * len(raw) != len(value):
            raise ShapeRefused("TYPE_INVALID", expected="hex", actual=shown(value))
        return checked(raw)

    def from_cbor(value: Any) -> bytes:
        if type(value) is not bytes:
            raise wrong_type(value, "bytes")
        return checked(value)

    return Form(from_json, from_cbor, bytes.hex)


def _from_integers(value: list[Any]) -> bytes:
    for each in value:
        if type(each) is not int:
            raise wrong_type(each, "integer of 0..255")
    try:
        return bytes(value)
    except ValueError:
        first = next(each for each in value if not 0 <= each <= 255)
        raise ShapeRefused("INT_RANGE", expected="0..255", actual=shown(str(first))) from None


def _uuid_from_json(value: Any) -> bytes:
    if type(value) is not str:
        raise wrong_type(value, "uuid")
    if not _UUID.fullmatch(value):
        raise ShapeRefused("TYPE_INVALID", expected="uuid", actual=shown(value))
    return bytes.fromhex(value.replace("-", ""))


def _uuid_to_json(value: bytes) -> str:
    return str(UUID(bytes=value))


def uuid() -> Form:
    """Return the form of an id: a uuid with any version and variant bits, in CBOR 16 bytes."""

    def from_cbor(value: Any) -> bytes:
        if type(value) is not bytes or len(value) != ID_BYTES:
            raise wrong_type(value, "uuid")
        return value

    return Form(_uuid_from_json, from_cbor, _uuid_to_json)


def text(most: int) -> Form:
    """Return the form of a text of at most `most` bytes of UTF-8; it is not normalised."""

    def read(value: Any) -> str:
        if type(value) is not str:
            raise wrong_type(value, "text")
        size = len(value.encode("utf-8"))
        if size > most:
            raise ShapeRefused("LENGTH_INVALID", expected=f"at most {most} bytes", actual=size)
        return value

    return Form(read, read, same)


def _boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise wrong_type(value, "boolean")
    return value


BOOLEAN: Final = Form(_boolean, _boolean, same)


def enum(*words: str) -> Form:
    """Return the form of one of these words."""

    def read(value: Any) -> str:
        if type(value) is not str:
            raise wrong_type(value, "text")
        if value not in words:
            raise ShapeRefused("VARIANT_UNKNOWN", expected=" ".join(words), actual=shown(value))
        return value

    return Form(read, read, same)
