"""What memory processes hold right now; a high-water mark would hide what comes after a peak."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def resident_bytes(pid: int | None = None) -> int:
    """The resident set of a process (default: this one), bytes."""
    pages = int(Path(f"/proc/{pid or 'self'}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@dataclass
class Peak:
    """The most that one Python worker held, bytes."""

    bytes: int = 0


@contextmanager
def peak_of_workers(spark) -> Iterator[Peak]:
    """Watch the Python workers of a session while the block runs."""
    root = spark._jvm.java.lang.ProcessHandle.current().pid()
    java = os.readlink(f"/proc/{root}/exe")
    peak, ended = Peak(), threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            for pid in _workers(root):
                try:
                    # A child of the JVM has all of its memory until it becomes another program.
                    if os.readlink(f"/proc/{pid}/exe") != java:
                        peak.bytes = max(peak.bytes, resident_bytes(pid))
                except (FileNotFoundError, ProcessLookupError):
                    continue

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def _workers(root: int) -> list[int]:
    """Every process below `root`: a JVM's children are the daemon of its workers, and theirs the workers."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        try:
            tasks = list(Path(f"/proc/{pid}/task").glob("*/children"))
            children = [int(child) for task in tasks for child in task.read_text("ascii").split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += children
        waiting += children
    return found
