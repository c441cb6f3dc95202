"""dag-cbor as logs use it: links are the only tag, all floats have one width, numbers are those of JavaScript."""

import math
from typing import Any, Final, Literal

from strandline.core.encoding.strict_cbor import LINK_TAG, CborItem, encode_cbor, strict_cbor
from strandline.core.encoding.strict_json import MAX_SAFE_INTEGER
from strandline.dialects.ipfslog.types import Floats

PAYLOAD_NESTING: Final = 128
NESTING: Final = PAYLOAD_NESTING + 1
"""The levels of an entry: its map, then the payload; a link adds one more."""

_TAGS: Final = frozenset({LINK_TAG})


def parse_dag_cbor(raw: bytes, *, most_values: int | None = None) -> CborItem:
    """Return the value of a dag-cbor block; 64-bit floats are tried first, then shortest floats.

    Raises:
        CborRefused: as `strict_cbor`.
    """
    return strict_cbor(raw, tags=_TAGS, floats=("wide", "short"), nesting=NESTING, most_values=most_values)


def dag_cbor(value: Any, floats: Floats = "wide") -> bytes:
    """Return the dag-cbor block of a value whose numbers come from `js_value`."""
    return encode_cbor(value, floats=floats)


def has_unsafe_integer(value: Any) -> bool:
    """Return whether the value has an integer beyond 2^53-1 in magnitude, which sorted JSON writes like a float."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif type(item) is int and abs(item) > MAX_SAFE_INTEGER:
            return True
    return False


def json_fitness(value: Any) -> Literal["plain", "json", "beyond"]:
    """Return how well JSON can represent a value.

    `beyond`: it has a byte string or a link, for which JSON has no form. `plain`: `json.dumps` writes it as
    JavaScript does: no float, all names ASCII, all integers at most 2^53-1 in magnitude. Otherwise `json`.
    """
    if type(value) is str:
        return "plain"
    found: Literal["plain", "json"] = "plain"
    waiting: list[Any] = [[value]]
    while waiting:
        container = waiting.pop()
        if type(container) is dict:
            if found == "plain" and not all(map(str.isascii, container)):
                found = "json"
            container = container.values()
        for item in container:
            kind = type(item)
            if kind is str or kind is bool or item is None:
                continue
            if kind is dict or kind is list:
                waiting.append(item)
            elif kind is int or kind is float:
                if kind is float or abs(item) > MAX_SAFE_INTEGER:
                    found = "json"
            else:
                return "beyond"
    return found


def js_value(value: Any) -> Any:
    """Return a Python value as a JavaScript peer stores it: integral doubles become integers, tuples become lists.

    Raises:
        ValueError: it has a number that is not finite, an integer beyond 2^53-1, a name that is not a text, a lone
            surrogate, an unsupported type, or more than 128 levels.
    """
    top: list[Any] = [value]
    waiting: list[tuple[Any, Any, int]] = [(top, 0, 0)]
    while waiting:
        holder, place, depth = waiting.pop()
        item = holder[place]
        if isinstance(item, dict | list | tuple):
            if depth >= PAYLOAD_NESTING:
                raise ValueError(f"a payload may have at most {PAYLOAD_NESTING} levels")
            copied: Any
            if isinstance(item, dict):
                copied = {_text(name): each for name, each in item.items()}
                waiting.extend((copied, name, depth + 1) for name in copied)
            else:
                copied = list(item)
                waiting.extend((copied, at, depth + 1) for at in range(len(copied)))
            holder[place] = copied
        else:
            holder[place] = _scalar(item)
    return top[0]


def _scalar(item: Any) -> Any:
    if item is None or isinstance(item, bool | bytes):
        return item
    if isinstance(item, str):
        return _text(item)
    if isinstance(item, int):
        if abs(item) > MAX_SAFE_INTEGER:
            raise ValueError("an integer in a payload must be at most 2^53-1 in magnitude")
        return item
    if isinstance(item, float):
        if not math.isfinite(item):
            raise ValueError("a number in a payload must be finite")
        return int(item) if item.is_integer() and abs(item) <= MAX_SAFE_INTEGER else item
    raise ValueError(f"a payload cannot hold a {type(item).__name__}")


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise ValueError("a name in a payload must be a text")
    text.encode("utf-8")  # UnicodeEncodeError is a ValueError.
    return text
