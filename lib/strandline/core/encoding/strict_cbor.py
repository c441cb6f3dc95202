"""The only CBOR reader for untrusted bytes: DAG-CBOR with one encoding of each value.

It decodes, encodes again and compares: nothing else excludes a second encoding of a value.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, NoReturn, TypeAlias

import cbor2
from cbor2 import CBORTag

from strandline.core.encoding.cbor_heads import has_more_items
from strandline.core.encoding.strict_json import MAX_SAFE_INTEGER
from strandline.core.limits import MAX_VALUES

CborReason: TypeAlias = Literal["CBOR_INVALID", "CBOR_NOT_CANONICAL"]
CborCause: TypeAlias = Literal[
    "cut", "utf8", "tag", "simple", "float", "key", "trailing", "syntax", "values", "order", "spelling"
]
Floats: TypeAlias = Literal["none", "wide", "short"]

LINK_TAG: Final = 42
MAX_INTEGER: Final = 2**64 - 1
MIN_INTEGER: Final = -(2**64)

# Tags that cbor2 would resolve: shared references, sets, dates, bignums, patterns.
_RESOLVED_TAGS: Final = (
    0, 1, 2, 3, 4, 5, 25, 28, 29, 30, 35, 36, 37, 52, 54, 100, 256, 258, 260, 261, 1004, 43000, 55799,
)  # fmt: skip


class CborRefused(ValueError):  # noqa: N818 - a verdict on the bytes, not an error of the program
    """The bytes are not one canonical CBOR item of the allowed types; `reason` and `cause` say why."""

    def __init__(self, reason: CborReason, cause: CborCause) -> None:
        super().__init__(reason, cause)
        self.reason: CborReason = reason
        self.cause: CborCause = cause

    @property
    def evidence(self) -> dict[str, str | int]:
        """The cause, and the limit that was exceeded, as evidence."""
        found: dict[str, str | int] = {"cause": self.cause}
        return {**found, "expected": MAX_VALUES} if self.cause == "values" else found


class _TagRefused(ValueError):  # noqa: N818 - internal
    """A tag that this reader does not resolve."""


def _refuse_tag(*_: object) -> NoReturn:
    raise _TagRefused


_NEVER_RESOLVED: Final = dict.fromkeys(_RESOLVED_TAGS, _refuse_tag)


@dataclass(frozen=True, slots=True)
class CborItem:
    """A value, and what the walk over it found.

    `floats` is the encoding of its floats, None without floats. `has_unsafe_integer`: an integer exceeds 2^53-1 in
    magnitude, where doubles are not exact.
    """

    value: Any
    floats: Literal["wide", "short"] | None
    has_unsafe_integer: bool


def strict_cbor(
    raw: bytes,
    *,
    tags: frozenset[int],
    floats: tuple[Floats, ...],
    nesting: int,
    most_values: int | None = None,
) -> CborItem:
    """Return the value of `raw`, with the first of the `floats` encodings that reproduces `raw`.

    What a lake wrote itself has no limit but its length: for it, `most_values` is the number of bytes.

    These hold, else `CborRefused` is raised with reason and cause:
    - at most `most_values` items in total (None: 300,000), counted before any is built (`values`);
    - one well-formed item (RFC 8949), no duplicate name, at most `nesting` levels of lists, maps and tags;
    - integers of -2^64..2^64-1, byte strings, texts, booleans, null, lists, maps with text names, finite floats
      (unless `floats` is `none`), and of tags those in `tags`; tag 42 holds a byte string that starts with 00;
      else `CBOR_INVALID`;
    - encoding the value again gives `raw`: names ordered by length, then bytes; shortest heads; integral floats of at
      most 2^53-1 as integers; other floats with 64 bits (`wide`), or with the fewest of 16, 32 and 64 bits that keep
      their value (`short`). If only a prefix of `raw` is equal: `CBOR_INVALID`, else `CBOR_NOT_CANONICAL`.
    """
    value = _bounded(raw, nesting, MAX_VALUES if most_values is None else most_values)
    walk = _Walk(tags, allows_floats="none" not in floats)
    walk.over(value)
    if walk.is_ordered and not walk.has_integral_float:
        for spelling in floats if walk.has_float else floats[:1]:
            encoded = cbor2.dumps(value, canonical=spelling == "short")
            if encoded == raw:
                found = spelling if walk.has_float and spelling != "none" else None
                return CborItem(value, found, walk.has_unsafe_integer)
            if raw.startswith(encoded):
                raise CborRefused("CBOR_INVALID", "trailing")
    raise CborRefused("CBOR_NOT_CANONICAL", "spelling" if walk.is_ordered else "order")


def encode_cbor(value: Any, *, floats: Literal["wide", "short"] = "wide") -> bytes:
    """Return the canonical encoding of a value that `strict_cbor` could return; names in any order.

    The caller must convert integral floats to integers, and refuse floats that are not finite.
    """
    walk = _Walk(frozenset({LINK_TAG}), allows_floats=True)
    walk.over(value)
    if walk.is_ordered:
        return cbor2.dumps(value, canonical=floats == "short")
    return cbor2.dumps(_in_order(value), canonical=floats == "short")


def begins_cbor(raw: bytes, nesting: int) -> Any:
    """Return the item at the start of `raw`, in any encoding and with any bytes after it.

    Raises:
        CborRefused: there is none, or it has more than 300,000 items.
    """
    _refuse_many(raw, MAX_VALUES)
    return _decoded(raw, nesting)


def _refuse_many(raw: bytes, most: int) -> None:
    if has_more_items(raw, most):
        raise CborRefused("CBOR_INVALID", "values")


def _bounded(raw: bytes, nesting: int, most_values: int) -> Any:
    _refuse_many(raw, most_values)
    # cbor2 does not count an empty list or map as a level. A value within one level less is bounded anyway.
    try:
        return _decoded(raw, nesting - 1)
    except CborRefused:
        value = _decoded(raw, nesting)
    if _depth(value) > nesting:
        raise CborRefused("CBOR_INVALID", "syntax")
    return value


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while True:
        containers = [item for item in level if isinstance(item, dict | list | CBORTag)]
        if not containers:
            return depth
        depth += 1
        level = [child for item in containers for child in _inside(item)]


def _inside(item: dict[Any, Any] | list[Any] | CBORTag) -> Iterable[Any]:
    if isinstance(item, CBORTag):
        return (item.value,)
    return item.values() if isinstance(item, dict) else item


def _decoded(raw: bytes, nesting: int) -> Any:
    cause: CborCause
    try:
        return cbor2.loads(
            raw,
            max_depth=nesting,
            allow_duplicate_keys=False,
            strict_hashable_types=True,
            semantic_decoders=_NEVER_RESOLVED,
        )
    except cbor2.CBORDecodeEOF:
        cause = "cut"
    except cbor2.CBORDecodeError as error:
        inner = error.__cause__
        cause = (
            "utf8" if isinstance(inner, UnicodeDecodeError)
            else "tag" if isinstance(inner, _TagRefused)
            else "syntax"
        )  # fmt: skip
    raise CborRefused("CBOR_INVALID", cause)


class _Walk:
    """One pass over a value without recursion: raises for a forbidden item, records facts about the others."""

    __slots__ = (
        "allows_floats",
        "has_float",
        "has_integral_float",
        "has_unsafe_integer",
        "is_ordered",
        "tags",
    )

    def __init__(self, tags: frozenset[int], *, allows_floats: bool) -> None:
        self.tags = tags
        self.allows_floats = allows_floats
        self.has_float = False
        self.has_integral_float = False
        self.is_ordered = True
        self.has_unsafe_integer = False

    def over(self, value: Any) -> None:
        waiting: list[Any] = [[value]]
        while waiting:
            container = waiting.pop()
            if type(container) is dict:
                self._names(container)
                container = container.values()
            for item in container:
                kind = type(item)
                if kind is str or kind is bytes or kind is bool or item is None:
                    continue
                if kind is dict or kind is list:
                    waiting.append(item)
                elif kind is int:
                    if not -MAX_SAFE_INTEGER <= item <= MAX_SAFE_INTEGER:
                        self._large(item)
                elif kind is CBORTag:
                    self._tag(item)
                elif kind is float:
                    self._float(item)
                else:
                    raise CborRefused("CBOR_INVALID", "simple")

    def _large(self, item: int) -> None:
        self.has_unsafe_integer = True
        if not MIN_INTEGER <= item <= MAX_INTEGER:
            raise CborRefused("CBOR_INVALID", "syntax")

    def _names(self, members: dict[Any, Any]) -> None:
        last_size, last = -1, ""
        for name in members:
            if type(name) is not str:
                raise CborRefused("CBOR_INVALID", "key")
            # ASCII characters sort like their bytes, so most names need no encoding.
            if not name.isascii():
                self.is_ordered &= _are_ordered(members)
                return
            size = len(name)
            if size <= last_size and (size < last_size or name <= last):
                self.is_ordered = False
            last_size, last = size, name

    def _tag(self, item: CBORTag) -> None:
        link = item.value
        if item.tag not in self.tags or type(link) is not bytes or link[:1] != b"\x00":
            raise CborRefused("CBOR_INVALID", "tag")

    def _float(self, item: float) -> None:
        if not self.allows_floats or not math.isfinite(item):
            raise CborRefused("CBOR_INVALID", "float")
        self.has_float = True
        if item.is_integer() and abs(item) <= MAX_SAFE_INTEGER:
            self.has_integral_float = True


def _are_ordered(members: dict[Any, Any]) -> bool:
    if not all(type(name) is str for name in members):
        raise CborRefused("CBOR_INVALID", "key")
    keys = [cbor_name_key(name) for name in members]
    return all(one < other for one, other in pairwise(keys))


def _in_order(value: Any) -> Any:
    """Return the value with the names of all maps in canonical order, without recursion."""
    top: list[Any] = [value]
    waiting: list[tuple[Any, Any]] = [(top, 0)]
    while waiting:
        holder, place = waiting.pop()
        item = holder[place]
        if isinstance(item, dict):
            ordered = dict(sorted(item.items(), key=lambda member: cbor_name_key(member[0])))
            holder[place] = ordered
            waiting.extend((ordered, name) for name in ordered)
        elif isinstance(item, list):
            copied = list(item)
            holder[place] = copied
            waiting.extend((copied, index) for index in range(len(copied)))
    return top[0]


def cbor_name_key(name: str) -> tuple[int, bytes]:
    """Return the sort key of a name in a map: length of its UTF-8, then its bytes."""
    raw = name.encode("utf-8")
    return len(raw), raw
