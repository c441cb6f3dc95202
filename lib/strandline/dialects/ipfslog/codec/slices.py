"""The borders of the elements of a JSON array and of the members of an object, found without parsing them.

A bad element must not affect the others, and its exact bytes are kept: so texts and brackets are skipped, and the
bytes between two commas go to the JSON parser one by one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from strandline.core.encoding.strict_json import JsonRefused, strict_json

# All quantifiers are possessive: a text of any size is skipped in constant memory, and no byte is read twice. A text
# ends at its quote or at the end of the bytes.
_TEXT: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_FLAT: Final = rb'(?:[^"\[\]{}]++|' + _TEXT + rb")*+"
_LEVELS: Final = 3


def _nested(levels: int) -> bytes:
    """Return the pattern for bytes with balanced brackets of at most `levels` levels."""
    pattern = _FLAT
    for _ in range(levels):
        pattern = _FLAT + rb"(?:[\[{]" + pattern + rb"[\]}]" + _FLAT + rb")*+"
    return pattern


_NESTED: Final = _nested(_LEVELS)
# A whole element with the usual nesting; a comma, a bracket or the end follows it.
_ELEMENT: Final = re.compile(rb'(?:[^"\[\]{},]++|' + _TEXT + rb"|[\[{]" + _NESTED + rb"[\]}])*+", re.DOTALL)
# For deeper elements: balanced bytes, then all brackets of one direction up to one of the other.
_BRACKETS: Final = re.compile(
    _NESTED + rb"(?P<run>(?:[\[{]" + _FLAT + rb")++|(?:[\]}]" + _FLAT + rb")++)", re.DOTALL
)
_TEXT_OR_CLOSING: Final = re.compile(_TEXT + rb"|[\]}]", re.DOTALL)
_ONE_TEXT: Final = re.compile(_TEXT, re.DOTALL)
# Bytes whose texts have no brackets: one step instead of one for each text.
_PLAIN_TEXTS: Final = re.compile(
    rb'(?:[^"]++|"[^"\\\[\]{}]*+(?:\\[^\[\]{}][^"\\\[\]{}]*+)*+(?:"|\\?\Z))*+', re.DOTALL
)
_SOME_TEXTS: Final = re.compile(rb'(?:[^"]++|' + _TEXT + rb"){1,10000}+", re.DOTALL)
_FEW: Final = 1_000
"""Closing brackets that are counted one by one: compiling a pattern takes longer."""
_MEMBER: Final = re.compile(rb"[ \t\n\r]*+(" + _TEXT + rb")[ \t\n\r]*+:[ \t\n\r]*+", re.DOTALL)
_BLANKS: Final = re.compile(rb"[ \t\n\r]*+")
_BLANK: Final = b" \t\n\r"


@dataclass(frozen=True, slots=True)
class Slice:
    """A range of bytes of a document, without blanks around it."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parts:
    """The elements of an array or object, in order.

    `end` is the offset after the closing bracket, None if it is missing.
    """

    pieces: tuple[Slice, ...]
    end: int | None


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
            return Parts(tuple(pieces), at + 1 if at < stop else None)
        pieces.append(piece)
        if len(pieces) >= most:
            raise JsonRefused("values", most)
        at = piece_start = at + 1


def _after_element(raw: bytes, at: int, stop: int) -> int:
    """Return the end of the element at `at`: its comma, the bracket around it, or `stop`."""
    while True:
        match = _ELEMENT.match(raw, at, stop)
        at = match.end() if match else stop
        if at >= stop or raw[at] not in b"[{":
            return at
        at = _after_brackets(raw, at, stop)


def _after_brackets(raw: bytes, at: int, stop: int) -> int:
    """Return the offset after the bracket that closes the one at `at`, or `stop`.

    Both kinds of brackets count alike: the JSON parser distinguishes them. Each step handles a run of brackets.
    """
    depth = 0
    while match := _BRACKETS.match(raw, at, stop):
        run, begin = match["run"], match.start("run")
        at = match.end()
        if run[0] in b"[{":
            depth += _count(run, b"[{")
            continue
        closed = _count(run, b"]}")
        if closed >= depth:
            return _after_closing(raw, begin, at, depth)
        depth -= closed
    return stop


def _count(run: bytes, brackets: bytes) -> int:
    """Return the number of these brackets outside of texts."""
    if b'"' not in run or _PLAIN_TEXTS.fullmatch(run):
        return sum(run.count(bracket) for bracket in brackets)
    # In parts: what is left of the texts' surroundings is a list of its pieces before it is joined.
    parts = (_ONE_TEXT.sub(b"", part[0]) for part in _SOME_TEXTS.finditer(run))
    return sum(part.count(bracket) for part in parts for bracket in brackets)


def _after_closing(raw: bytes, begin: int, end: int, number: int) -> int:
    """Return the offset after the closing bracket of this number, from 1; there are as many from `begin` to `end`."""
    if number <= _FEW:
        closing = (
            each for each in _TEXT_OR_CLOSING.finditer(raw, begin, end) if raw[each.start()] != ord('"')
        )
        return next(islice(closing, number - 1, None)).end()
    found = re.compile(rb"(?:" + _FLAT + rb"[\]}]){%d}+" % number, re.DOTALL).match(raw, begin, end)
    return found.end() if found else end


def members_of(raw: bytes, piece: Slice, most: int) -> Iterator[tuple[str, Slice]]:
    """Yield name and value of each member of the object at `piece`; parts that are not members are skipped.

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
    """Return the range from `start` to `end` without the JSON blanks around it."""
    match = _BLANKS.match(raw, start, end)
    start = match.end() if match else start
    if end > start and raw[end - 1] in _BLANK:
        end = start + len(raw[start:end].rstrip(_BLANK))
    return Slice(start, end)
