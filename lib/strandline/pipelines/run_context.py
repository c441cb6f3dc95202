"""The context of a run: its id and time, progress, fault points."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from strandline.pipelines.faults import Faults
from strandline.pipelines.report import EXIT_CODES, Outcome, Report, TableChange


class Progress(Protocol):
    """Receives the progress of a pipeline; the command line shows it on standard error."""

    def stage(self, name: str, count: Callable[[], int] | None = None) -> None:
        """Begin a stage, named in words for users; `count` returns its number of records so far."""

    def step(self, name: str) -> None:
        """Begin a step of the stage, for measurements; users do not see it."""

    def note(self, text: str) -> None:
        """Print one line."""


class NoProgress:
    """Progress that is not shown."""

    def stage(self, name: str, count: Callable[[], int] | None = None) -> None:
        """Do nothing."""

    def step(self, name: str) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""


@contextmanager
def no_signals() -> Iterator[Callable[[], bool]]:
    """Give a function that returns False: signals are not deferred."""
    yield lambda: False


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run of one command.

    `version` is Strandline's, `started_at` is in UTC, `elapsed` returns the seconds since the command began, and
    `session_seconds` are the part of them that the start of Spark took. No code below reads a clock.
    In a block of `deferred_signals` the first SIGINT does not end the command; the value of the block says whether one
    arrived. `arguments` is a hash of the options of a command whose run id was given, else None.
    """

    run_id: str
    command: str
    version: str
    started_at: datetime
    faults: Faults = field(default_factory=Faults)
    progress: Progress = field(default_factory=NoProgress)
    elapsed: Callable[[], float] = field(default=lambda: 0.0)
    session_seconds: float = 0.0
    deferred_signals: Callable[[], AbstractContextManager[Callable[[], bool]]] = no_signals
    arguments: str | None = None

    def report(
        self,
        lake: str | None = None,
        *,
        outcome: Outcome = "ok",
        counts: Mapping[str, int] | None = None,
        reasons: Mapping[str, int] | None = None,
        namespaces: int = 0,
        tables: Mapping[str, TableChange] | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> Report:
        """Return the report of this run."""
        return Report(
            command=self.command,
            run_id=self.run_id,
            outcome=outcome,
            exit=EXIT_CODES[outcome],
            seconds=self.elapsed(),
            session_seconds=self.session_seconds,
            lake=lake,
            counts=counts or {},
            reasons=reasons or {},
            namespaces=namespaces,
            tables=tables or {},
            members=members or {},
        )


def new_run_id(started_at: datetime, entropy: bytes) -> str:
    """Return a run id: its UTC start, then 12 hex digits of `entropy`, so that ids sort by time.

    Shape: `20260131T093000Z-0123456789ab`.
    """
    return f"{started_at:%Y%m%dT%H%M%SZ}-{uuid.UUID(bytes=entropy[:16]).hex[:12]}"
