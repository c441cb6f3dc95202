"""Conditions on buckets as SQL: lists, and ranges where a lake of up to 65,536 buckets would have very long ones.

Spark makes an expression of each value of a list and goes through all of them many times, for seconds.
"""

from collections.abc import Iterable, Sequence
from typing import Final

MOST_LISTED: Final = 1_000
"""Buckets up to which they are listed one by one."""
MOST_RANGES: Final = 100


def in_buckets(column: str, buckets: Iterable[int]) -> str:
    """Return the condition that a column is one of these buckets, one or more; `column` is SQL."""
    listed = _sorted(buckets)
    starts = _starts(listed)
    is_short = len(listed) <= MOST_LISTED or len(starts) >= MOST_RANGES
    return _listed(column, listed) if is_short else _ranges(column, listed, starts)


def near_buckets(column: str, buckets: Iterable[int]) -> str:
    """Return a condition that all of these buckets meet, and of very many also some between them.

    For statements that compare the bucket of each row besides: it says which files they need not open.
    """
    listed = _sorted(buckets)
    if len(listed) <= MOST_LISTED:
        return _listed(column, listed)
    widest = sorted(_starts(listed), key=lambda at: listed[at - 1] - listed[at])
    return _ranges(column, listed, sorted(widest[: MOST_RANGES - 1]))


def _sorted(buckets: Iterable[int]) -> list[int]:
    return sorted({int(bucket) for bucket in buckets})


def _starts(listed: Sequence[int]) -> list[int]:
    """Return the places in the list whose value does not follow the one before."""
    return [at for at in range(1, len(listed)) if listed[at] - listed[at - 1] > 1]


def _listed(column: str, listed: Sequence[int]) -> str:
    return f"{column} IN ({', '.join(map(str, listed))})"


def _ranges(column: str, listed: Sequence[int], starts: Sequence[int]) -> str:
    ends = zip((0, *starts), (*starts, len(listed)), strict=True)
    return (
        f"({' OR '.join(f'{column} BETWEEN {listed[first]} AND {listed[end - 1]}' for first, end in ends)})"
    )
