"""Where the lines of a file that is in memory begin and end."""

from collections.abc import Iterator


def lines_of(data: bytes, start: int) -> Iterator[tuple[int, int, bool]]:
    """Yield of each line from `start` where it begins and ends, and whether an LF follows it.

    LF separates lines; one LF at the end of the data begins no other line.
    """
    while start < len(data):
        end = data.find(b"\n", start)
        stop = len(data) if end < 0 else end
        yield start, stop, end >= 0
        start = stop + 1
