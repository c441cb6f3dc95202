"""The standard streams of the process: closed ones, and ones that cannot be written."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from strandline.core.errors import FaultError


class OutputLostError(FaultError):
    """Standard output cannot be written, not even with this error as JSON."""


class _MayBeLost:
    """Standard error: what cannot be written is lost, and ends no command."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._lost():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._lost():
            self._stream.flush()

    @contextmanager
    def _lost(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            _to_nowhere(self._stream)


@contextmanager
def standard_streams() -> Iterator[None]:
    """Open closed standard streams to nowhere, and let standard error fail in the block: no exit code follows from it.

    Files that are opened later must not get the numbers of closed streams. Standard output has escapes for characters
    that its encoding lacks. Zero columns are no width.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        # As Python has it for standard error: not every encoding has every character.
        sys.stdout.reconfigure(errors="backslashreplace")
    if os.environ.get("COLUMNS") == "0":
        # rich would print nothing.
        del os.environ["COLUMNS"]
    before = sys.stderr
    sys.stderr = cast("TextIO", _MayBeLost(before))
    try:
        yield
    finally:
        sys.stderr = before


@contextmanager
def to_reader() -> Iterator[None]:
    """Let the reader of our output end before the block (`| head`): the exit code stays that of the command.

    Raises: OutputLostError `OUTPUT_LOST` if standard output cannot be written for another reason.
    """
    try:
        yield
    except OSError as error:
        _to_nowhere(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise OutputLostError(
                "OUTPUT_LOST",
                f"standard output cannot be written: {error.strerror}",
                "send it elsewhere and run the command again: committed rows stay",
            ) from None


def _to_nowhere(stream: TextIO) -> None:
    """Let what is written to a stream be lost, also what Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
