"""What work takes, by counts instead of a clock: memory at its peak, calls of functions."""

import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any


def peak_bytes(work: Callable[[], Any]) -> int:
    """Return the most memory that Python's allocator held for `work`, bytes."""
    work()  # what is made once, by a first call, is none of it
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def calls_of(function: Callable[..., Any], *given: Any, **more: Any) -> tuple[Any, int]:
    """Return what a function returns, and how many calls it made, of functions of C, too."""
    counts: Counter[str] = Counter()
    sys.setprofile(lambda frame, event, argument: counts.update([event]))
    try:
        found = function(*given, **more)
    finally:
        sys.setprofile(None)
    return found, counts["call"] + counts["c_call"]


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        return self._function(*args, **options)
