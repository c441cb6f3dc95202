"""What SIGINT and SIGTERM do to the running command."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(BaseException):
    """A signal ended the command. No `Exception`, so that nothing between takes it for an error that it knows."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What shells expect of a process that a signal ended: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + self.number


class Interrupts:
    """Takes the two signals while a command runs; one process runs one command.

    A signal ends Spark's JVM, if this process started it, and the command: commits are atomic, so tables stay whole. A
    call that waits for the JVM cannot be taken back, and the next call would wait for its end. While SIGINT is
    deferred the first one only asks the command to stop. SIGTERM is not: who sends it may send it to the JVM, too. A
    signal that comes while the command ends, ends the process.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.ended_by: Interrupted | None = None
        self._is_asked = False
        self._is_deferred = False
        self._end_session: Callable[[], None] = _nothing_to_end

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Take the signals while the block runs; in another thread than the main one they cannot be taken."""
        self._begin()
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in SIGNALS}
        self._take_signals()
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    def session_started(self, end: Callable[[], None]) -> None:
        """Say that a session is there, which `end` ends at once. pyspark has set a handler of its own: ours again."""
        self._end_session = end
        if threading.current_thread() is threading.main_thread():
            self._take_signals()

    @contextmanager
    def deferred(self) -> Iterator[Callable[[], bool]]:
        """Let the first SIGINT not end the command while the block runs: the value says whether it came."""
        self._is_deferred = True
        try:
            yield lambda: self._is_asked
        finally:
            self._is_deferred = False

    def _take_signals(self) -> None:
        for number in SIGNALS:
            signal.signal(number, self._take)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self.ended_by is not None:
            os._exit(self.ended_by.exit_code)
        if number == signal.SIGINT and self._is_deferred and not self._is_asked:
            self._is_asked = True
            return
        self.ended_by = Interrupted(number)
        # What fails from now on fails since the JVM is gone: py4j logs a traceback of each call.
        logging.disable(logging.CRITICAL)
        self._end_session()
        raise self.ended_by


def _nothing_to_end() -> None:
    """Do nothing: there is no session yet."""


# One process, one command.
interrupts = Interrupts()
