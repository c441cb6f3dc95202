"""The borders of the elements of a JSON array and of the members of an object, found without parsing them.

A bad element must not affect the others, and its exact bytes are kept: so texts and brackets are skipped, and the
bytes between two commas go to the JSON parser one by one.
"""

import re
import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from strandline.core.encoding.json_skip import FLAT, TEXT, after_brackets
from strandline.core.encoding.strict_json import JsonRefused, strict_json

_LEVELS: Final = 32


def _nested(levels: int) -> bytes:
    """Return the pattern for bytes with balanced brackets of at most `levels` levels."""
    pattern = FLAT
    for _ in range(levels):
        pattern = FLAT + rb"(?:[\[{]" + pattern + rb"[\]}]" + FLAT + rb")*+"
    return pattern


# A whole element with the usual nesting; a comma, a bracket or the end follows it. Possessive: no byte is read twice.
_ELEMENT: Final = re.compile(
    rb'(?:[^"\[\]{},]++|' + TEXT + rb"|[\[{]" + _nested(_LEVELS) + rb"[\]}])*+", re.DOTALL
)
_USUAL_BYTES: Final = 8 * 1024
"""The pattern finds elements of up to this size; longer arrays and objects are faster skipped by windows."""
_MEMBER: Final = re.compile(rb"[ \t\n\r]*+(" + TEXT + rb")[ \t\n\r]*+:[ \t\n\r]*+", re.DOTALL)
_BLANKS: Final = re.compile(rb"[ \t\n\r]*+")
_BLANK: Final = b" \t\n\r"
_CLOSING: Final = {ord("["): ord("]"), ord("{"): ord("}")}


@dataclass(frozen=True, slots=True)
class Slice:
    """A range of bytes of a document, without blanks around it."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parts:
    """The elements of an array or object, in order.

    `end` is the offset after the closing bracket, None if it is missing or of the other kind.
    """

    pieces: tuple[Slice, ...]
    end: int | None


@dataclass(frozen=True, slots=True)
class Member:
    """The value of a member, with the elements of an array that were asked for, or why it has none."""

    value: Slice
    parts: Parts | JsonRefused | None


def parts_of(raw: bytes, start: int, stop: int, most: int) -> Parts:
    """Return the elements between the commas of the array or object whose bracket is at `start`.

    Empty brackets have no element; an empty place between commas is an element.

    Raises:
        JsonRefused: there are more than `most` elements (`values`); no more than that are in memory.
    """
    pieces: list[Slice] = []
    at = piece_start = start + 1
    while True:
        at = _after_element(raw, at, stop)
        is_comma = at < stop and raw[at] == ord(",")
        piece = stripped(raw, piece_start, at)
        if not is_comma:
            if pieces or piece.start < piece.end:
                pieces.append(piece)
            is_closed = at < stop and raw[at] == _CLOSING[raw[start]]
            return Parts(tuple(pieces), at + 1 if is_closed else None)
        pieces.append(piece)
        if len(pieces) >= most:
            raise JsonRefused("values", most)
        at = piece_start = at + 1


def _after_element(raw: bytes, at: int, stop: int) -> int:
    """Return the end of the element at `at`: its comma, the bracket around it, or `stop`."""
    while True:
        usual = min(at + _USUAL_BYTES, stop)
        end = _matched(raw, at, usual)
        # At the end of the usual bytes it may be in a text.
        at = end if end < usual or usual == stop else _matched(raw, at, stop)
        if at >= stop or raw[at] not in b"[{":
            return at
        at = after_brackets(raw, at, stop)


def _matched(raw: bytes, at: int, stop: int) -> int:
    match = _ELEMENT.match(raw, at, stop)
    return match.end() if match else stop


def members_of(raw: bytes, piece: Slice, most: int, arrays: Collection[str]) -> dict[str, Member]:
    """Return the members of the object at `piece` by name, the last of each name; other parts of it are skipped.

    An array that is the value of a member named in `arrays` comes with its elements, found in the same scan.

    Raises:
        JsonRefused: as `parts_of`; not for such an array, whose member says so.
    """
    members: dict[str, Member] = {}
    repeated: set[str] = set()
    at, number = piece.start, 0
    while at < piece.end:
        start = at + 1
        match = _MEMBER.match(raw, start, piece.end)
        name = _name(match)
        value = match.end() if match else start
        parts, at = None, value
        if name is not None and name in arrays and raw[value : value + 1] == b"[":
            if name in members:
                # Only the last of them counts, and which one it is the end will tell.
                repeated.add(name)
            else:
                parts, at = _parts_and_end(raw, value, piece.end, most)
        at = _after_element(raw, at, piece.end)
        if name is not None:
            end = stripped(raw, start, at).end
            members[name] = Member(Slice(min(value, end), end), parts)
        if at >= piece.end or raw[at] != ord(","):
            break
        number += 1
        if number >= most:
            raise JsonRefused("values", most)
    for name in repeated:
        place = members[name].value
        if raw[place.start : place.start + 1] == b"[":
            members[name] = Member(place, _parts_and_end(raw, place.start, place.end, most)[0])
    return members


def _name(match: re.Match[bytes] | None) -> str | None:
    try:
        name: str | None = None if match is None else strict_json(match.group(1))
    except JsonRefused:
        return None
    return name


def _parts_and_end(raw: bytes, at: int, stop: int, most: int) -> tuple[Parts | JsonRefused, int]:
    try:
        parts = parts_of(raw, at, stop, most)
    except JsonRefused as refused:
        return refused, after_brackets(raw, at, stop)
    return parts, stop if parts.end is None else parts.end


def after_blanks(raw: bytes, at: int, stop: int = sys.maxsize) -> int:
    """Return the end of the JSON blanks at `at`, at most `stop`."""
    match = _BLANKS.match(raw, at, stop)
    return match.end() if match else at


def stripped(raw: bytes, start: int, end: int) -> Slice:
    """Return the range from `start` to `end` without the JSON blanks around it."""
    start = after_blanks(raw, start, end)
    if end > start and raw[end - 1] in _BLANK:
        end = start + len(raw[start:end].rstrip(_BLANK))
    return Slice(start, end)
