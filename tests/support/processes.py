"""Servers of the tests that run in a process of their own."""

import re
import subprocess
import sys
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
