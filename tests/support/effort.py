"""What work takes: memory at its peak, calls of functions; the processor's time where C works, which has no counts."""

import gc
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any


def peak_bytes(work: Callable[[], Any]) -> int:
    """Return the most memory that Python's allocator held for `work`, bytes: the less of two measures.

    Another thread of the process, such as that of pytest-xdist, may take memory during one of them.
    """
    work()  # what is made once, by a first call, is none of it
    return min(_peak_of(work) for _ in range(2))


def _peak_of(work: Callable[[], Any]) -> int:
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


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the least of five measures of the processor's time, without what the collector of garbage takes.

    A test compares two such measures; their ratio tells linear from quadratic when the sizes are far apart.
    """
    found = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            began = time.process_time()
            work()
            found.append(time.process_time() - began)
    finally:
        gc.enable()
    return min(found)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        return self._function(*args, **options)
