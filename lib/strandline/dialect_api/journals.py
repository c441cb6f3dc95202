"""What the pipelines see of a dialect that writes journals of the operator's own nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from strandline.dialect_api.base import Jobs, Tables


@dataclass(frozen=True, slots=True)
class GivenOption:
    """One option as it was given: its text, and the bytes of the file that this names, or None if it names none."""

    text: str
    content: bytes | None = None


Choices = object
"""What a dialect made of its options: whose journals are own and how they are written. Pipelines hand it on unseen."""


@dataclass(frozen=True, slots=True)
class AuthorScope:
    """What one commit of the writer is of: the record table as of `version`, without the journals of `stopped` nodes.

    `start` is the version as of which the journals of peers are read, or None: then only what is held is written.
    """

    run_id: str
    version: int
    stopped: Collection[str]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class NextCommit:
    """The records that one commit adds, each behind the tip of its journal as of the version that was read.

    `rows` are shaped as the record table, with `next_n`: the position behind that tip, the same for all rows of a
    journal. A row goes in only where its journal holds nothing at `next_n`. `bounds` are its least and greatest value,
    `buckets` those of the rows, `count` their number, `authored` that without the journals' first records. `whole`
    says that nothing is left to write once all of them are in.
    """

    rows: DataFrame
    buckets: tuple[int, ...]
    bounds: tuple[int, int]
    count: int
    authored: int
    whole: bool


@dataclass(frozen=True, slots=True)
class FoundAnswers:
    """Answers to a file of requests: `frames` has `line`, in the order of the requests.

    `counts` has `lines` (of journals, in all answers) and what became of the other requests; `refused` counts those
    to names that are not own, by name.
    """

    frames: DataFrame
    counts: Mapping[str, int]
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class JournalWriter:
    """How one dialect writes own journals.

    `read` makes choices of options, by name (UsageError before anything is written). `stopped` tells, by own node, the
    reason codes for which its writer must not go on, as of a version of the record table. `next_commit` gives what the
    writer adds, or None if nothing is left. `peers` gives, by table, all rows of what own nodes know of peers,
    as of the version that the journals were reduced from. `requests` gives `line`, what own nodes ask of their peers,
    from these tables; `answers` answers the requests in the file of a path.
    """

    read: Callable[[Mapping[str, tuple[GivenOption, ...]]], Choices]
    stopped: Callable[[Choices, Tables, Jobs, int], Mapping[str, tuple[str, ...]]]
    next_commit: Callable[[Choices, Tables, Jobs, AuthorScope], NextCommit | None]
    peers: Callable[[Choices, Tables, Jobs, int], Mapping[str, DataFrame]]
    requests: Callable[[Choices, Tables], DataFrame]
    answers: Callable[[Choices, Tables, Jobs, str], FoundAnswers]


@dataclass(frozen=True, slots=True)
class JournalOptions:
    """The choices of one run beside who acts on them."""

    authoring: JournalWriter
    choices: Choices
