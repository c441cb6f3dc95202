"""The brackets of JSON outside its texts, found by whole passes of `bytes` instead of a step for each mark."""

import re
from array import array
from itertools import accumulate
from operator import indexOf
from typing import Final

TEXT: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
"""The pattern of a text with its closing quote; `re.DOTALL` must be set. Possessive: it takes constant memory."""
_ONE_TEXT: Final = re.compile(TEXT, re.DOTALL)
_CLOSED_TEXTS: Final = re.compile(rb'(?:[^"]++|' + TEXT + rb")*+", re.DOTALL)

# Brackets become steps, bytes as signed integers: 1 opens, -1 closes.
_OPENING: Final = b"\x01"
_CLOSING: Final = b"\xff"
_STEPS: Final = bytes.maketrans(b"[{]}", 2 * _OPENING + 2 * _CLOSING)
_NO_MARKS: Final = bytes(each for each in range(256) if each not in b'"[]{}\\')
_NO_BRACKETS: Final = bytes(each for each in range(256) if each not in b"[]{}")


def steps_outside_texts(raw: bytes) -> tuple[bytes, bool]:
    """Return the brackets outside texts as steps, and whether a text is open at the end; `raw` begins outside.

    Any bytes will do. Both kinds of brackets count alike.
    """
    plain = raw
    if b"\\" in raw:
        # One backslash is left of an odd number of them, and nothing of a quote behind it.
        plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"\\")
    marks = plain.translate(_STEPS, _NO_MARKS)
    ends_in_text = marks.count(b'"') % 2 == 1
    # Two quotes with no bracket between them: without both, each bracket is in a text or outside as before.
    outside = b"".join(marks.replace(b'""', b"").split(b'"')[::2])
    if b"\\" not in outside:
        return outside, ends_in_text
    # A backslash outside texts, where it escapes nothing.
    match = _CLOSED_TEXTS.match(raw)
    end = match.end() if match else 0
    return _ONE_TEXT.sub(b"", raw[:end]).translate(_STEPS, _NO_BRACKETS), end < len(raw)


def change(steps: bytes) -> int:
    """Return by how many levels the depth grows."""
    return 2 * steps.count(_OPENING) - len(steps)


def deepest(steps: bytes) -> int:
    """Return the maximum number of brackets open at once."""
    return max(accumulate(array("b", steps), initial=0))


def is_closed(steps: bytes, depth: int) -> bool:
    """Return whether all of `depth` open brackets are closed after some step."""
    if steps.count(_CLOSING) < depth:
        return False
    # A bracket that closes at once changes no depth before or after it.
    thinned = steps.replace(_OPENING + _CLOSING, b"").replace(_OPENING + _CLOSING, b"")
    return closing_step(thinned, depth) > 0


def closing_step(steps: bytes, depth: int) -> int:
    """Return the number of the first step, from 1, after which none of `depth` open brackets is open; 0 if none."""
    try:
        return indexOf(accumulate(array("b", steps), initial=depth), 0)
    except ValueError:
        return 0
