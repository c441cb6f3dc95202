"""Where the elements of a JSON array and the members of an object begin and end, found without reading them.

A bad element must cost itself alone, and its exact bytes are kept: so texts and brackets are skipped over, and
what is between two commas is handed to the JSON reader on its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from strandline.core.encoding.strict_json import JsonRefused, strict_json

# All possessive, so that a text of any size is skipped in constant memory and no byte is looked at twice. Texts end at
# their quote or where the bytes end.
_TEXT: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_FLAT: Final = rb'(?:[^"\[\]{}]++|' + _TEXT + rb")*+"
_LEVELS: Final = 3


def _nested(levels: int) -> bytes:
    """Return the pattern of bytes in which brackets are balanced and at most `levels` deep."""
    pattern = _FLAT
    for _ in range(levels):
        pattern = _FLAT + rb"(?:[\[{]" + pattern + rb"[\]}]" + _FLAT + rb")*+"
    return pattern


_NESTED: Final = _nested(_LEVELS)
# A whole element of the nesting that nearly all have; it stands before a comma, a bracket or the end.
_ELEMENT: Final = re.compile(rb'(?:[^"\[\]{},]++|' + _TEXT + rb"|[\[{]" + _NESTED + rb"[\]}])*+", re.DOTALL)
# In deeper ones: what is balanced, then all brackets of one direction up to one of the other.
_BRACKETS: Final = re.compile(
    _NESTED + rb"(?P<run>(?:[\[{]" + _FLAT + rb")++|(?:[\]}]" + _FLAT + rb")++)", re.DOTALL
)
_TEXT_OR_CLOSING: Final = re.compile(_TEXT + rb"|[\]}]", re.DOTALL)
_ONE_TEXT: Final = re.compile(_TEXT, re.DOTALL)
_MEMBER: Final = re.compile(rb"[ \t\n\r]*+(" + _TEXT + rb")[ \t\n\r]*+:[ \t\n\r]*+", re.DOTALL)
_BLANKS: Final = re.compile(rb"[ \t\n\r]*+")
_BLANK: Final = b" \t\n\r"


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of the bytes of a document, without blanks around it."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parts:
    """The pieces of an array or object, in order; `end` is the offset after its bracket, None if that is missing."""

    pieces: tuple[Slice, ...]
    end: int | None


def parts_of(raw: bytes, start: int, stop: int, most: int) -> Parts:
    """Return what stands between the commas of the array or object whose bracket is at `start`.

    An empty pair of brackets has no piece; an empty place between commas is one.

    Raises:
        JsonRefused: there are more than `most` pieces (`values`); no more than that were held.
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
            return Parts(tuple(pieces), at + 1 if at < stop else None)
        pieces.append(piece)
        if len(pieces) >= most:
            raise JsonRefused("values", most)
        at = piece_start = at + 1


def _after_element(raw: bytes, at: int, stop: int) -> int:
    """Return where the element that begins at `at` ends: at its comma, the bracket around it, or `stop`."""
    while True:
        match = _ELEMENT.match(raw, at, stop)
        at = match.end() if match else stop
        if at >= stop or raw[at] not in b"[{":
            return at
        at = _after_brackets(raw, at, stop)


def _after_brackets(raw: bytes, at: int, stop: int) -> int:
    """Return where the bracket that opens at `at` is closed, or `stop`.

    Brackets of both kinds count alike: the JSON reader tells them apart. It takes a step a run, not a bracket.
    """
    depth = 0
    while match := _BRACKETS.match(raw, at, stop):
        run, begin = match["run"], match.start("run")
        marks = _ONE_TEXT.sub(b"", run) if b'"' in run else run
        at = match.end()
        if run[0] in b"[{":
            depth += marks.count(b"[") + marks.count(b"{")
            continue
        closed = marks.count(b"]") + marks.count(b"}")
        if closed >= depth:
            closing = (
                each for each in _TEXT_OR_CLOSING.finditer(raw, begin, at) if raw[each.start()] != ord('"')
            )
            return next(islice(closing, depth - 1, None)).end()
        depth -= closed
    return stop


def members_of(raw: bytes, piece: Slice, most: int) -> Iterator[tuple[str, Slice]]:
    """Yield name and value of each member of the object that begins at `piece`; what is no member is left out.

    Raises:
        JsonRefused: as `parts_of`.
    """
    for part in parts_of(raw, piece.start, piece.end, most).pieces:
        match = _MEMBER.match(raw, part.start, part.end)
        if match:
            try:
                name = strict_json(match.group(1))
            except JsonRefused:
                continue
            yield name, Slice(match.end(), part.end)


def stripped(raw: bytes, start: int, end: int) -> Slice:
    """Return the bytes from `start` to `end` without the blanks of JSON around them."""
    match = _BLANKS.match(raw, start, end)
    start = match.end() if match else start
    if end > start and raw[end - 1] in _BLANK:
        end = start + len(raw[start:end].rstrip(_BLANK))
    return Slice(start, end)
