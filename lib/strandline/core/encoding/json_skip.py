"""The end of a JSON array or object of any depth, found a window of bytes at a time instead of a mark at a time."""

import functools
import re
from typing import Final

from strandline.core.encoding.json_brackets import change, closing_step, is_closed, steps_outside_texts

# All quantifiers are possessive: a text of any size is skipped in constant memory, and no byte is read twice. A text
# ends at its quote or at the end of the bytes.
_REST_OF_TEXT: Final = rb'[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
TEXT: Final = rb'"' + _REST_OF_TEXT
"""The pattern of a text outside of others; `re.DOTALL` must be set."""
FLAT: Final = rb'(?:[^"\[\]{}]++|' + TEXT + rb")*+"
"""The pattern for all bytes up to a bracket outside texts."""
_REST: Final = re.compile(_REST_OF_TEXT, re.DOTALL)

_SMALLEST_WINDOW: Final = 256
_LARGEST_WINDOW: Final = 64 * 1024
"""Sizes in bytes. They double while all stays open; the window in which the bracket closes is halved."""


def after_brackets(raw: bytes, at: int, stop: int) -> int:
    """Return the offset after the bracket that closes the one at `at`, or `stop`.

    Both kinds of brackets count alike: the JSON parser distinguishes them.
    """
    depth, at = 1, at + 1
    size, closed_before = _SMALLEST_WINDOW, at
    while at < stop:
        window = raw[at : min(at + size, stop)]
        steps, ends_in_text = steps_outside_texts(window)
        if not is_closed(steps, depth):
            depth += change(steps)
            at += len(window)
            if ends_in_text:
                at = _after_text(raw, at, stop, window)
            size = size // 2 if at < closed_before else 2 * size
            size = min(max(size, _SMALLEST_WINDOW), _LARGEST_WINDOW)
        elif len(window) > _SMALLEST_WINDOW:
            closed_before = at + len(window)
            size = len(window) // 2
        else:
            return _end_of(_brackets(closing_step(steps, depth)).match(raw, at, stop), stop)
    return stop


def _after_text(raw: bytes, at: int, stop: int, window: bytes) -> int:
    """Return the end of the text that is open at the end of the window, which is at `at`."""
    backslashes = len(window) - len(window.rstrip(b"\\"))
    return _end_of(_REST.match(raw, at - backslashes % 2, stop), stop)


@functools.cache
def _brackets(number: int) -> re.Pattern[bytes]:
    """Return the pattern of so many brackets, at most one for each byte of the smallest window."""
    return re.compile(rb"(?:" + FLAT + rb"[\[\]{}]){%d}+" % number, re.DOTALL)


def _end_of(match: re.Match[bytes] | None, otherwise: int) -> int:
    return match.end() if match else otherwise
