"""JSON read a byte at a time: what faster readers are compared with."""

from collections.abc import Iterator


def marks_outside_texts(raw: bytes, at: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """Yield each byte outside texts, and the quotes around texts, with its offset; `raw[at]` is outside."""
    in_text = False
    while at < stop:
        mark = raw[at : at + 1]
        if mark == b'"':
            in_text = not in_text
        if mark == b'"' or not in_text:
            yield at, mark
        elif mark == b"\\":
            at += 1
        at += 1
