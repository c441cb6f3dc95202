"""Progress on standard error: a live line on a terminal, else one line at an interval."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from strandline.cli.text import printable
from strandline.core.sentences import amount

_LIVE_PER_SECOND = 4


class ShownProgress:
    """Shows stage, records done, records per second and elapsed time while a command runs.

    A separate thread reads the count, since the command itself waits for Spark.
    """

    def __init__(self, console: Console, seconds: float) -> None:
        """Show on `console`; off a terminal a line every `seconds`."""
        self._console = console
        self._seconds = seconds
        self._began = self._stage_began = time.monotonic()
        self._name = "starting Spark"
        self._count: Callable[[], int] | None = None
        self._ended = threading.Event()
        self._live: Live | None = None
        self._thread = threading.Thread(target=self._print_lines, name="progress", daemon=True)

    def __enter__(self) -> Self:
        """Start to show progress."""
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._line,
                console=self._console,
                transient=True,
                refresh_per_second=_LIVE_PER_SECOND,
            )
            self._live.start()
        else:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop; remove the live line."""
        self._ended.set()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def stage(self, name: str, count: Callable[[], int] | None = None) -> None:
        """Begin the stage `name`; `count` returns the number of records done so far."""
        self._name, self._count, self._stage_began = printable(name), count, time.monotonic()

    def step(self, name: str) -> None:
        """Show nothing: the names of steps are for developers."""

    def note(self, text: str) -> None:
        """Print one line, above the live one."""
        self._console.print(printable(text), highlight=False, markup=False, soft_wrap=True)

    def _line(self) -> Text:
        now = time.monotonic()
        done = self._count() if self._count is not None else None
        rate = max(now - self._stage_began, 0.001)
        records = "" if done is None else f", {amount(done, 'record')}, {done / rate:,.0f}/s"
        return Text(f"{self._name}{records}, {now - self._began:.0f} s")

    def _print_lines(self) -> None:
        while not self._ended.wait(self._seconds):
            self.note(self._line().plain)


def error_console() -> Console:
    """Return the console of progress and errors; rich obeys NO_COLOR."""
    return Console(file=sys.stderr, stderr=True, soft_wrap=True, highlight=False)
