"""JSON as JavaScript writes it: numbers with the shortest digits, array indexes first, lone surrogates escaped.

The source is ECMA-262 2019: JSON.stringify (24.5.2), Number::toString (7.1.12.1), order of properties (9.1.11.1).
"""

import math
import re
from collections.abc import Callable, Iterable
from json.encoder import encode_basestring
from typing import Any, Final

from strandline.core.encoding.strict_json import MAX_SAFE_INTEGER

MAX_LEVELS: Final = 256
"""Levels of objects and arrays that are written: more than any reader of a dialect gives."""

_MAX_ARRAY_INDEX: Final = 2**32 - 2
_MAX_INDEX_DIGITS: Final = 10
_MAX_PLAIN_EXPONENT: Final = 21
_MIN_PLAIN_EXPONENT: Final = -6
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

quoted: Callable[[str], str] = encode_basestring
"""A text without lone surrogates as JSON: `"`, `\\` and characters below U+0020 are escaped, in lower case."""


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


def js_text(text: str) -> str:
    """Return a text as JSON, as `quoted`; a lone surrogate becomes `\\u` and 4 lower-case hex digits.

    Two surrogates that are a pair become the character they stand for.
    """
    written = quoted(text)
    if written.isascii() or _SURROGATE.search(written) is None:
        return written
    paired = written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", paired)


def utf16(text: str) -> bytes:
    """Return the key that sorts texts as JavaScript does: UTF-16 code units, big-endian."""
    return text.encode("utf-16-be")


def utf16_units(text: str) -> int:
    """Return the length of a text as JavaScript counts it: in UTF-16 code units; a lone surrogate is one."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def property_order(names: Iterable[str]) -> list[str]:
    """Return distinct names in the order of an object's properties: array indexes, ascending, then the others as given.

    An array index is the decimal text, without leading zeros, of an integer of 0..2^32-2.
    """
    names = list(names)
    indexes = [name for name in names if _is_array_index(name)]
    if not indexes:
        return names
    return sorted(indexes, key=int) + [name for name in names if not _is_array_index(name)]


def _is_array_index(name: str) -> bool:
    # Most names fail the first test. Longer digits are never made an int: that takes quadratic time.
    if not name[:1].isdigit() or len(name) > _MAX_INDEX_DIGITS or not (name.isascii() and name.isdigit()):
        return False
    return (name[0] != "0" or name == "0") and int(name) <= _MAX_ARRAY_INDEX


def stringified(value: Any, indent: int = 0) -> str:
    """Return the text of JSON.stringify(value), with `indent` blanks a level in lines of their own if it is not 0.

    Objects are dicts, arrays lists; numbers become doubles, and one that is not finite is `null`. The text is linear in
    the value: a place in it takes at most 2 + MAX_LEVELS * `indent` characters more than what stands there.

    Raises:
        ValueError: a value or name of another type, or more than `MAX_LEVELS` levels.
    """
    parts: list[str] = []
    _append(parts, value, "\n" if indent else "", " " * indent, MAX_LEVELS)
    return "".join(parts)


def _append(parts: list[str], value: Any, line: str, step: str, levels: int) -> None:
    """Append the pieces of a value's text; `line` starts a line of its level, `levels` are those it may have."""
    kind = type(value)
    if kind is str:
        parts.append(js_text(value))
    elif value is None:
        parts.append("null")
    elif kind is bool:
        parts.append("true" if value else "false")
    elif kind is int or kind is float:
        parts.append(_double(value))
    elif kind is not dict and kind is not list:
        raise ValueError(f"JSON has no {kind.__name__}")
    elif not value:
        parts.append("{}" if kind is dict else "[]")
    elif not levels:
        raise ValueError(f"more than {MAX_LEVELS} levels")
    elif kind is dict:
        _append_members(parts, value, line, step, levels)
    else:
        between = "[" + line + step
        for item in value:
            parts.append(between)
            _append(parts, item, line + step, step, levels - 1)
            between = "," + line + step
        parts.append(line + "]")


def _append_members(parts: list[str], value: dict[str, Any], line: str, step: str, levels: int) -> None:
    between, colon = "{" + line + step, ": " if step else ":"
    if not all(type(name) is str for name in value):
        raise ValueError("names of an object are texts")
    for name in property_order(value):
        parts.append(between + js_text(name) + colon)
        _append(parts, value[name], line + step, step, levels - 1)
        between = "," + line + step
    parts.append(line + "}")


def _double(number: float) -> str:
    if isinstance(number, int):
        if abs(number) <= MAX_SAFE_INTEGER:
            return str(number)
        try:
            number = float(number)
        except OverflowError:
            return "null"
    return js_number(number) if math.isfinite(number) else "null"
