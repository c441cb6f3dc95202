"""Memory of Spark's Python workers and the time that processes took of the cores, read from /proc."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from strandline.session.conf import WORKERS

PROC = Path("/proc")
SAMPLE_SECONDS = 0.1
_DAEMONS = (b"pyspark.daemon", WORKERS.encode())
_HIGH_WATER = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)
# What the kernel takes as: the high-water mark of resident memory begins anew.
_RESET_HIGH_WATER = "5"


def descendants(parents: Mapping[int, int], root: int) -> frozenset[int]:
    """Return all processes below `root`, by each process's parent."""
    children: dict[int, list[int]] = {}
    for process, parent in parents.items():
        children.setdefault(parent, []).append(process)
    found: set[int] = set()
    rest = [root]
    while rest:
        for child in children.get(rest.pop(), ()):
            if child not in found:
                found.add(child)
                rest.append(child)
    return frozenset(found)


def workers_of(parents: Mapping[int, int], commands: Mapping[int, bytes], root: int) -> frozenset[int]:
    """Return the workers below `root`: a daemon's children, which carry its command line."""
    daemons = {
        process
        for process in descendants(parents, root)
        if any(name in commands.get(process, b"") for name in _DAEMONS)
    }
    return frozenset(process for process in daemons if parents[process] in daemons)


def high_water_bytes(status: str) -> int:
    """Return the peak of resident memory that the text of /proc/PID/status states, 0 for a process that has ended."""
    found = _HIGH_WATER.search(status)
    return int(found[1]) * 1024 if found else 0


def cpu_seconds(stat: bytes) -> float:
    """Return the time of cores that the content of /proc/PID/stat states, with that of children that have ended."""
    user, system, of_children, system_of_children = map(int, stat.rpartition(b")")[2].split()[11:15])
    return (user + system + of_children + system_of_children) / os.sysconf("SC_CLK_TCK")


def cpu_seconds_of(processes: Iterable[int]) -> float:
    """Return the time of cores that processes took so far; one that has ended counts with its parent."""
    stats = (_read(process, "stat") for process in processes)
    return sum(cpu_seconds(stat) for stat in stats if stat)


def is_readable() -> bool:
    """Return whether this system tells of processes."""
    return (PROC / "self" / "status").is_file()


def worker_processes(root: int) -> frozenset[int]:
    """Return the Python workers of the driver `root` that run now."""
    return workers_of(*processes(), root)


def processes() -> tuple[dict[int, int], dict[int, bytes]]:
    """Return the parent and the command line of each process that runs now."""
    parents: dict[int, int] = {}
    commands: dict[int, bytes] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            process = int(entry.name)
            stat, commands[process] = _read(process, "stat"), _read(process, "cmdline")
            if stat:
                # The name in parentheses may hold anything; the parent is the second field behind it.
                parents[process] = int(stat.rpartition(b")")[2].split()[1])
    return parents, commands


class PeakOfWorkers:
    """While it is entered: watches the Python workers of this driver. `bytes` is the largest peak of any of them."""

    def __init__(self) -> None:
        self.bytes = 0
        self.seen: set[int] = set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        """Let the high-water marks of idle workers begin anew, and watch."""
        _reset(worker_processes(os.getpid()))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self._look()

    def _look(self) -> None:
        for process in worker_processes(os.getpid()):
            self.seen.add(process)
            self.bytes = max(
                self.bytes, high_water_bytes(_read(process, "status").decode("ascii", "replace"))
            )


def _reset(processes: Iterable[int]) -> None:
    for process in processes:
        try:
            (PROC / str(process) / "clear_refs").write_text(_RESET_HIGH_WATER)
        except OSError:
            continue  # it ended meanwhile


def _read(process: int, name: str) -> bytes:
    try:
        return (PROC / str(process) / name).read_bytes()
    except OSError:
        return b""
