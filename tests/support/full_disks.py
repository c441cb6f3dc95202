"""Processes that can write no large file, as on a full disk."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_disk(largest: int, *processes: int) -> Iterator[None]:
    """This process and others, by their ids, can write no file beyond `largest` bytes while the block runs."""
    before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in (os.getpid(), *processes)}
    for pid, (_, hard) in before.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        for pid, limits in before.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
