"""Where the elements of a JSON array and the members of an object begin and end, found without reading them.

A bad element must cost itself alone, and its exact bytes are kept: so texts and brackets are skipped over, and
what is between two commas is handed to the JSON reader on its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from strandline.core.encoding.strict_json import JsonRefused, strict_json

# Possessive, so that a text of any size is skipped in constant memory.
_TEXT: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_TOKEN: Final = re.compile(_TEXT + rb"|[\[\]{},]", re.DOTALL)
_MEMBER: Final = re.compile(rb"[ \t\n\r]*(" + _TEXT + rb")[ \t\n\r]*:[ \t\n\r]*", re.DOTALL)
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


def parts_of(raw: bytes, start: int, stop: int) -> Parts:
    """Return what stands between the commas of the array or object whose bracket is at `start`.

    An empty pair of brackets has no piece; an empty place between commas is one.
    """
    pieces: list[Slice] = []
    depth, piece_start = 0, start + 1
    for match in _TOKEN.finditer(raw, start, stop):
        token = raw[match.start()]
        if token in b"[{":
            depth += 1
        elif token in b"]}":
            depth -= 1
            if depth == 0:
                last = _stripped(raw, piece_start, match.start())
                if pieces or last.start < last.end:
                    pieces.append(last)
                return Parts(tuple(pieces), match.end())
        elif token == ord(",") and depth == 1:
            pieces.append(_stripped(raw, piece_start, match.start()))
            piece_start = match.end()
    last = _stripped(raw, piece_start, stop)
    return Parts((*pieces, last) if pieces or last.start < last.end else (), None)


def members_of(raw: bytes, piece: Slice) -> Iterator[tuple[str, Slice]]:
    """Yield name and value of each member of the object that begins at `piece`; what is no member is left out."""
    for part in parts_of(raw, piece.start, piece.end).pieces:
        match = _MEMBER.match(raw, part.start, part.end)
        if match:
            try:
                name = strict_json(match.group(1))
            except JsonRefused:
                continue
            yield name, Slice(match.end(), part.end)


def _stripped(raw: bytes, start: int, end: int) -> Slice:
    while start < end and raw[start] in _BLANK:
        start += 1
    while end > start and raw[end - 1] in _BLANK:
        end -= 1
    return Slice(start, end)
