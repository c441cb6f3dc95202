"""Where the lines of a file that is in memory begin and end, and the white space of ASCII."""

from collections.abc import Iterator
from typing import Final

ASCII_SPACE: Final = b" \t\n\r\x0b\x0c"


def lines_of(data: bytes, start: int) -> Iterator[tuple[int, int, bool]]:
    """Yield of each line from `start` where it begins and ends, and whether an LF follows it.

    LF separates lines; one LF at the end of the data begins no other line.
    """
    while start < len(data):
        end = data.find(b"\n", start)
        stop = len(data) if end < 0 else end
        yield start, stop, end >= 0
        start = stop + 1
