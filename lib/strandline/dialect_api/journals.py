"""The class of dialects that write journals of local nodes, the operator's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from strandline.dialect_api.ports import Jobs, Tables


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


class WritesJournals(ABC):
    """A dialect that also writes journals of local nodes.

    `options` is what its `parse_options` returned: which nodes are local and how their journals are written.
    """

    @abstractmethod
    def stopped(
        self, options: object, tables: Tables, jobs: Jobs, version: int
    ) -> Mapping[str, tuple[str, ...]]:
        """Return, by local node, the reason codes for which its writer must not go on, as of a version."""

    @abstractmethod
    def next_commit(
        self, options: object, tables: Tables, jobs: Jobs, scope: AuthorScope
    ) -> NextCommit | None:
        """Return the records that the writer adds next, or None if nothing is left to write."""

    @abstractmethod
    def peers(self, options: object, tables: Tables, jobs: Jobs, version: int) -> Mapping[str, DataFrame]:
        """Return, by table, all rows of what local nodes know of their peers, as of the version that was reduced."""

    @abstractmethod
    def requests(self, options: object, tables: Tables) -> DataFrame:
        """Return what local nodes ask of their peers, from the tables of peers.  Gives: line."""

    @abstractmethod
    def answers(self, options: object, tables: Tables, jobs: Jobs, path: str) -> FoundAnswers:
        """Answer the requests in the file `path`."""


def journal_writer(dialect: object, options: object | None) -> WritesJournals | None:
    """Return the dialect as a writer of journals, or None: it writes none, or no options name a local node."""
    return dialect if options is not None and isinstance(dialect, WritesJournals) else None
