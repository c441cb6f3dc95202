"""JSON as JavaScript writes it: numbers with the shortest digits, names sorted or in insertion order."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from json.encoder import encode_basestring
from typing import Any, Final, Literal, TypeAlias

from cbor2 import CBORTag

from strandline.dialects.ipfslog.codec.cids import link_text

BytesAs: TypeAlias = Literal["members", "base64"]

_MAX_ARRAY_INDEX: Final = 2**32 - 2
_MAX_PLAIN_EXPONENT: Final = 21
_MIN_PLAIN_EXPONENT: Final = -6

_plain_encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode

quoted: Callable[[str], str] = encode_basestring
"""A text as JSON: `"`, `\\` and characters below U+0020 are escaped, in lower case; all others stay as they are."""


def js_number(number: float) -> str:
    """Return a finite number as JavaScript writes it (ECMA-262, Number::toString); integers keep all digits."""
    if isinstance(number, int):
        return str(number)
    if number == 0:
        return "0"
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # x = 0.d1..dk * 10^n
    n = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    k = len(digits)
    sign = "-" if number < 0 else ""
    if k <= n <= _MAX_PLAIN_EXPONENT:
        return sign + digits + "0" * (n - k)
    if 0 < n <= _MAX_PLAIN_EXPONENT:
        return f"{sign}{digits[:n]}.{digits[n:]}"
    if _MIN_PLAIN_EXPONENT < n <= 0:
        return f"{sign}0.{'0' * -n}{digits}"
    point = f".{digits[1:]}" if k > 1 else ""
    return f"{sign}{digits[0]}{point}e{'+' if n > 0 else '-'}{abs(n - 1)}"


def sorted_json(value: Any, *, bytes_as: BytesAs = "base64", plain: bool = False) -> str:
    """Return sorted JSON: no spaces, names in the order of UTF-16 code units at every level.

    A link is `{"/":"<cid>"}`. A byte string is `{"/":{"bytes":"<base64>"}}`, or with `members` what JavaScript writes
    for a typed array: a map from index to byte. `plain`: the value has only texts, booleans, null, integers of at
    most 2^53-1 and ASCII names; the standard library then writes the same text faster.
    """
    if plain:
        return _plain_encoder(value)
    return _written(value, _by_utf16, bytes_as)


def stringified(value: Any) -> str:
    """Return the JSON.stringify text of a value: array indexes first, ascending, then other names as inserted."""
    return _written(value, _as_inserted, "base64")


def _by_utf16(names: Iterable[str]) -> list[str]:
    return sorted(names, key=utf16)


def _as_inserted(names: Iterable[str]) -> list[str]:
    names = list(names)
    indexes = [name for name in names if _is_array_index(name)]
    return sorted(indexes, key=int) + [name for name in names if not _is_array_index(name)]


def _is_array_index(name: str) -> bool:
    return name.isascii() and name.isdigit() and str(int(name[:11])) == name and int(name) <= _MAX_ARRAY_INDEX


def utf16(text: str) -> bytes:
    """Return the key that sorts texts as JavaScript does: UTF-16 code units, big-endian."""
    return text.encode("utf-16-be")


class _Text(str):
    """A piece of finished output between values that are not written yet."""

    __slots__ = ()


_COMMA: Final = _Text(",")


def _written(value: Any, order: Callable[[Iterable[str]], list[str]], bytes_as: BytesAs) -> str:
    parts: list[str] = []
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is _Text:
            parts.append(item)
        elif kind is str:
            parts.append(quoted(item))
        elif item is None or kind is bool:
            parts.append("null" if item is None else "true" if item else "false")
        elif kind is int or kind is float:
            parts.append(js_number(item))
        elif kind is bytes:
            parts.append(_bytes(item, bytes_as))
        elif kind is CBORTag:
            parts.append('{"/":' + quoted(link_text(item.value[1:])) + "}")
        elif kind is dict:
            parts.append("{")
            waiting.append(_Text("}"))
            names = order(item)
            for at in range(len(names) - 1, -1, -1):
                waiting.append(item[names[at]])
                waiting.append(_Text(("," if at else "") + quoted(names[at]) + ":"))
        else:
            parts.append("[")
            waiting.append(_Text("]"))
            for at in range(len(item) - 1, -1, -1):
                waiting.append(item[at])
                if at:
                    waiting.append(_COMMA)
    return "".join(parts)


def _bytes(data: bytes, bytes_as: BytesAs) -> str:
    if bytes_as == "base64":
        return '{"/":{"bytes":"' + base64.b64encode(data).decode("ascii").rstrip("=") + '"}}'
    return "{" + ",".join(_indexed(data)) + "}"


def _indexed(data: bytes) -> Iterator[str]:
    """Yield the members of JavaScript's typed array in the order of their names, ten or more at a time.

    No list of names is built: it would take a hundred times the size of the bytes.
    """
    size = len(data)
    waiting = list(range(min(size, 10) - 1, -1, -1))
    while waiting:
        prefix = waiting.pop()
        longer = range(10 * prefix, min(10 * prefix + 10, size)) if prefix else range(0)
        yield _member(prefix, data[prefix])
        if 100 * prefix < size:
            waiting.extend(reversed(longer))
        elif longer:
            yield ",".join(map(_member, longer, data[longer.start : longer.stop]))


def _member(index: int, byte: int) -> str:
    return f'"{index}":{byte}'
