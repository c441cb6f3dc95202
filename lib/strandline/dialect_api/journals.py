"""The interface of dialects that write journals of local nodes, which the operator runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Jobs, Tables

ANSWER_LINES: Final = 1_000_000
"""The usual limit of lines in all answers to one file: `limits.answer_lines` of conf/base.yaml."""


@dataclass(frozen=True, slots=True)
class AuthorScope:
    """The basis of one commit: the record table at `version`, without the journals of `stopped` nodes.

    `start` is the version at which the journals of peers are read, or None: then only announced resources are written.
    """

    version: int
    stopped: Collection[str]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class NextCommit:
    """The records that one commit adds, each after the tip of its journal at the version that was read.

    `rows` have the columns of the record table, without those that the writing run adds, and `next_n`: the position
    after that tip, the same for all rows of a journal. A row is inserted only if its journal has nothing at `next_n`.
    The rows of a bucket are in one partition, in the write order of the table.
    `bounds` are its least and greatest value, `buckets` those of the rows, `count` the number of rows, `authored` that
    number without first records of journals. `whole` says that nothing is left to write after this commit.
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

    `counts` has `lines` (of journals, in all answers) and the numbers of the other requests; `refused` counts requests
    to names that are not local nodes, by name; `past_limit` is the number of requests that were refused because the
    answers would have had too many lines.
    """

    frames: DataFrame
    counts: Mapping[str, int]
    refused: Mapping[str, int]
    past_limit: int


class WritesJournals(ABC):
    """A dialect that also writes journals of local nodes.

    `options` is the result of its `parse_options`: the local nodes and how their journals are written.
    """

    @abstractmethod
    def stopped(
        self, options: object, tables: Tables, jobs: Jobs, version: int
    ) -> Mapping[str, tuple[str, ...]]:
        """Return, by local node, the reason codes for which its writer must stop, at a version."""

    @abstractmethod
    def next_commit(
        self, options: object, tables: Tables, jobs: Jobs, scope: AuthorScope
    ) -> NextCommit | None:
        """Return the records that the writer adds next, or None if nothing is left to write."""

    @abstractmethod
    def peers(self, options: object, tables: Tables, jobs: Jobs, version: int) -> Mapping[str, DataFrame]:
        """Return, by table, all rows about the peers of local nodes, at the version that was reduced."""

    @abstractmethod
    def requests(self, options: object, tables: Tables) -> DataFrame:
        """Return what local nodes ask of their peers, from the tables of peers.  Gives: line."""

    @abstractmethod
    def answers(
        self, options: object, tables: Tables, jobs: Jobs, path: str, most_lines: int
    ) -> FoundAnswers:
        """Answer the requests in the file `path`, with at most so many lines together."""


def journal_writer(dialect: object, options: object | None) -> WritesJournals | None:
    """Return the dialect as a writer of journals, or None if it writes none or no option names a local node."""
    return dialect if options is not None and isinstance(dialect, WritesJournals) else None
