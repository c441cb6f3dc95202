"""Servers of the tests that run in a process of their own."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_URL = re.compile(r"http://127\.0\.0\.1:\d+")
OF_THE_TESTS = Path(__file__).parents[1]


@contextmanager
def served_by(*words: str) -> Iterator[str]:
    """Run a program until the end of the block; yield the first URL of loopback that it prints."""
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=OF_THE_TESTS
    ) as process:
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                if found := _URL.search(line):
                    break
            else:
                raise AssertionError(f"{words} says no URL: {said}")
            yield found[0]
        finally:
            process.terminate()


def served_by_module(name: str):
    """Run a module of the tests as `served_by` does."""
    return served_by(sys.executable, "-m", name)


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that nobody listens on, each another one."""
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


def wait_for_port(process: subprocess.Popen[bytes], port: int, log: Path, seconds: float) -> None:
    """Wait until a process listens on a port of loopback; if it ends before, or does not in time, tell its log."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text(errors="replace")[-3000:])
