"""The only JSON reader for untrusted bytes: one value, no duplicate names, no number that loses digits.

It uses the decoder of the standard library, which by itself accepts duplicates, NaN, 1e400, a byte order mark and
UTF-16.
"""

import functools
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from strandline.core.encoding.json_brackets import deepest, steps_outside_texts
from strandline.core.limits import MAX_VALUES

Cause = Literal[
    "utf8", "bom", "syntax", "trailing", "duplicate_key", "constant", "surrogate", "depth", "number", "values"
]
Numbers = Literal["exact", "js", "parsed"]
Duplicates = Literal["refuse", "last"]
Surrogates = Literal["refuse", "keep"]

DEFAULT_NESTING = 64
MAX_NUMBER_CHARS = 1024
MAX_SAFE_INTEGER = 2**53 - 1
_SAFE_DIGITS = 15
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# Everything up to the next mark outside texts. Possessive, so that a text of any size takes constant memory.
_TO_MARK = re.compile(rb'(?:[^"\[\]{},]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)*+[\[\]{},]', re.DOTALL)
_CLOSING = b"]}"
_COMMA = ord(",")


class JsonRefused(ValueError):  # noqa: N818 - a verdict on the bytes, not an error of the program
    """The bytes are not one strict JSON value; `cause` says why, `limit` is the maximum number of values."""

    def __init__(self, cause: Cause, limit: int | None = None) -> None:
        super().__init__(cause)
        self.cause: Cause = cause
        self.limit = limit

    @property
    def evidence(self) -> dict[str, str | int]:
        """The cause, and the limit that was exceeded, as evidence."""
        found: dict[str, str | int] = {"cause": self.cause}
        return found if self.limit is None else {**found, "expected": self.limit}


@dataclass(frozen=True, slots=True)
class NumberToken:
    """A number other than a plain integer token, as its text: `1.0`, `1e3`, `-0`. Not a `str`."""

    text: str


def strict_json(
    raw: bytes,
    *,
    numbers: Numbers = "exact",
    nesting: int = DEFAULT_NESTING,
    duplicates: Duplicates = "refuse",
    surrogates: Surrogates = "refuse",
    most_values: int = MAX_VALUES,
) -> Any:
    """Return the JSON value of `raw`.

    These hold, else `JsonRefused` is raised with the cause:
    - no byte order mark at the start (`bom`) and UTF-8 throughout (`utf8`): RFC 8259, 8.1;
    - RFC 8259 syntax, no control character in a text (`syntax`), only white space after the value (`trailing`);
    - no NaN and no Infinity (`constant`);
    - a number has at most 1,024 characters and, with `js`, is finite (`number`); with `parsed` any number will do;
    - names of one object differ after unescaping (`duplicate_key`), unless `duplicates` is `last`;
    - no escaped lone surrogate (`surrogate`), unless `surrogates` is `keep`;
    - at most `nesting` levels of objects and arrays (`depth`). A deeper text with another fault also gives `depth`:
      otherwise the cause would depend on the depth of the caller's stack;
    - at most `most_values` of `[`, `{` and `,` outside texts (`values`): so no array or object has more values, and
      nothing is decoded or built before this is known.

    With `exact` a plain integer token is an int of any size, any other number is a `NumberToken`. With `js`
    numbers are doubles; an integral one of at most 2^53-1 in magnitude is an int. With `parsed` numbers are the same
    and, as in JSON.parse of JavaScript, of any length, and infinite beyond the range of doubles.
    """
    if raw.startswith(BYTE_ORDER_MARK):
        raise JsonRefused("bom")
    # A value takes at least one byte, so a short text needs no count. For most others a count of bytes is enough.
    if len(raw) > most_values and _opened(raw) + raw.count(b",") > most_values:
        _check_marks(raw, nesting, most_values)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonRefused("utf8") from None
    is_deep = _opened(raw) > nesting
    value = _decoded(raw, text, _decoder(numbers, duplicates), nesting, is_deep=is_deep)
    if is_deep and _is_deeper(raw, value, nesting, duplicates):
        raise JsonRefused("depth")
    if surrogates == "refuse" and _SURROGATE_ESCAPE.search(text) and _has_lone_surrogate(value):
        raise JsonRefused("surrogate")
    return value


def _decoded(raw: bytes, text: str, decoder: json.JSONDecoder, nesting: int, *, is_deep: bool) -> Any:
    refused: JsonRefused
    try:
        value, end = decoder.raw_decode(text, _end_of_space(text, 0))
        if _end_of_space(text, end) == len(text):
            return value
        refused = JsonRefused("trailing")
    except JsonRefused as met:
        refused = met
    except json.JSONDecodeError:
        refused = JsonRefused("syntax")
    except RecursionError:
        refused = JsonRefused("depth")
    if is_deep:
        _check_marks(raw, nesting, len(raw))
    raise refused from None


def _end_of_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _opened(raw: bytes) -> int:
    """Return an upper bound of the opening brackets: it includes those inside texts."""
    return raw.count(b"[") + raw.count(b"{")


def _check_marks(raw: bytes, nesting: int, most_values: int) -> None:
    """Raise `JsonRefused` if the marks outside texts nest deeper than `nesting` or are more than `most_values`.

    The first violation is the cause. Nothing is built, and other faults are not noticed. A closing bracket without an
    opening one ends the check: no reader reads further, and so there are at most twice `most_values` steps.
    """
    at = depth = values = 0
    # Never a search: without a further mark it would start again at every byte.
    while match := _TO_MARK.match(raw, at):
        at = match.end()
        mark = raw[at - 1]
        if mark in _CLOSING:
            depth -= 1
            if depth < 0:
                return
            continue
        values += 1
        if mark != _COMMA:
            depth += 1
        if depth > nesting:
            raise JsonRefused("depth")
        if values > most_values:
            raise JsonRefused("values", most_values)


def _is_deeper(raw: bytes, value: Any, nesting: int, duplicates: Duplicates) -> bool:
    """Return whether the value of `raw`, which is valid, has more levels than `nesting`."""
    if deepest(steps_outside_texts(raw)[0]) <= nesting:
        return False
    # A value that another of the same name replaced does not count.
    return duplicates == "refuse" or _depth(value) > nesting


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while True:
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return depth
        depth += 1
        level = [
            child for item in containers for child in (item.values() if isinstance(item, dict) else item)
        ]


def _has_lone_surrogate(value: Any) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            try:
                item.encode("utf-8")
            except UnicodeEncodeError:
                return True
        elif isinstance(item, dict):
            waiting.extend(item.keys())
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return False


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise JsonRefused("duplicate_key")
    return members


def _constant(_: str) -> Any:
    raise JsonRefused("constant")


def _bounded(token: str) -> str:
    if len(token) > MAX_NUMBER_CHARS:
        raise JsonRefused("number")
    return token


def _exact_integer(token: str) -> int | NumberToken:
    return NumberToken(token) if token == "-0" else int(_bounded(token))


def _exact_other(token: str) -> NumberToken:
    return NumberToken(_bounded(token))


def _js_integer(token: str) -> int | float:
    # So few characters are less than 2^53, and a double of them has the same value.
    return int(token) if len(token) <= _SAFE_DIGITS else _js_number(token)


def _js_number(token: str) -> int | float:
    number = _parsed_number(_bounded(token))
    if not math.isfinite(number):
        raise JsonRefused("number")
    return number


def _parsed_integer(token: str) -> int | float:
    return int(token) if len(token) <= _SAFE_DIGITS else _parsed_number(token)


def _parsed_number(token: str) -> int | float:
    number = float(token)
    return int(number) if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER else number


# What reads a plain integer token, and what any other number.
_READERS: Final[dict[Numbers, tuple[Callable[[str], Any], Callable[[str], Any]]]] = {
    "exact": (_exact_integer, _exact_other),
    "js": (_js_integer, _js_number),
    "parsed": (_parsed_integer, _parsed_number),
}


@functools.cache
def _decoder(numbers: Numbers, duplicates: Duplicates) -> json.JSONDecoder:
    integer, other = _READERS[numbers]
    return json.JSONDecoder(
        object_pairs_hook=_without_duplicates if duplicates == "refuse" else dict,
        parse_constant=_constant,
        parse_int=integer,
        parse_float=other,
    )
