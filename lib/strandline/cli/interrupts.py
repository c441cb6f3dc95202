"""What SIGINT, SIGTERM and SIGHUP do to the running command."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal ended the command. Not an `Exception`, so that no handler below mistakes it for an error."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        """The exit code of a process that a signal ended: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP."""
        return 128 + self.number


class Interrupts:
    """Handles SIGINT, SIGTERM and SIGHUP while a command runs; one process runs one command.

    A signal ends the command and Spark's JVM, if this process started it: commits are atomic, so tables stay whole.
    The JVM is ended since a call that waits for it cannot be cancelled, and the next call would wait for that one.
    While SIGINT is deferred, the first SIGINT only asks the command to stop. The others are never deferred: their
    sender may send them to the JVM, too. A second signal ends the process at once, but for SIGHUP: of a terminal that
    is closed, the shell sends one and the kernel another. A SIGHUP that was ignored before, as behind `nohup`, stays
    ignored.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.ended_by: Interrupted | None = None
        self._is_asked = False
        self._is_deferred = False
        self._is_watched = False
        self._taken: tuple[signal.Signals, ...] = SIGNALS
        self._end_session: Callable[[], None] = _nothing_to_end

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Handle the signals while the block runs; outside the main thread Python allows no handler, so do nothing."""
        self._begin()
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in SIGNALS}
        self._taken = tuple(
            number for number in SIGNALS if number != signal.SIGHUP or before[number] is not signal.SIG_IGN
        )
        self._take_signals()
        self._is_watched = True
        try:
            yield
        finally:
            self._is_watched = False
            for number, handler in before.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    def session_started(self, end: Callable[[], None]) -> None:
        """Register `end`, which ends the session at once, and replace the handler that pyspark has set.

        Outside of `watched` the signals, and the session, are those of a program that calls commands as functions.
        """
        if self._is_watched:
            self._end_session = end
            self._take_signals()

    @contextmanager
    def deferred(self) -> Iterator[Callable[[], bool]]:
        """Defer the first SIGINT while the block runs. The value says whether a SIGINT arrived."""
        self._is_deferred = True
        try:
            yield lambda: self._is_asked
        finally:
            self._is_deferred = False

    def _take_signals(self) -> None:
        for number in self._taken:
            signal.signal(number, self._take)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self.ended_by is not None:
            if number == signal.SIGHUP:
                return
            os._exit(self.ended_by.exit_code)
        if number == signal.SIGINT and self._is_deferred and not self._is_asked:
            self._is_asked = True
            return
        self.ended_by = Interrupted(number)
        # Without the JVM every later call fails, and py4j logs a traceback of each.
        logging.disable(logging.CRITICAL)
        self._end_session()
        raise self.ended_by


def _nothing_to_end() -> None:
    """Do nothing: there is no session yet."""


# One process, one command.
interrupts = Interrupts()
