"""Sorted JSON: the text that entries of v1 and v2 sign, and the form of stored payloads."""

import base64
import json
from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias

from cbor2 import CBORTag

from strandline.core.encoding.js_json import js_number, quoted, utf16
from strandline.dialects.ipfslog.codec.cids import link_text

BytesAs: TypeAlias = Literal["members", "base64"]

_plain_encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def sorted_json(value: Any, *, bytes_as: BytesAs = "base64", plain: bool = False) -> str:
    """Return sorted JSON: no spaces, names in the order of UTF-16 code units at every level.

    A link is `{"/":"<cid>"}`. A byte string is `{"/":{"bytes":"<base64>"}}`, or with `members` what JavaScript writes
    for a typed array: a map from index to byte. `plain`: the value has only texts, booleans, null, integers of at
    most 2^53-1 and ASCII names; the standard library then writes the same text faster.
    """
    if plain:
        return _plain_encoder(value)
    return _written(value, bytes_as)


class _Text(str):
    """A piece of finished output between values that are not written yet."""

    __slots__ = ()


_COMMA: Final = _Text(",")


def _written(value: Any, bytes_as: BytesAs) -> str:
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
            names = sorted(item, key=utf16)
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
