"""What work takes, by counts instead of a clock: memory at its peak, calls of functions."""

import tracemalloc
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


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        return self._function(*args, **options)
