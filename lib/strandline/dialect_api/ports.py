"""Interfaces that a pipeline gives a dialect: the input, the lake, and Spark jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, Row

from strandline.kernels.judging import Judging
from strandline.kernels.reading import ReadContent, ReadOptions


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A large uncompressed file: its format or None, its first bytes after a byte order mark, its last bytes."""

    format: str | None
    head: bytes
    tail: Callable[[], bytes]
    options: ReadOptions


@dataclass(frozen=True, slots=True)
class SplitFormat:
    """How a plain file can be split.

    `form` names what its lines are, `label` is what the head of the file states for all lines, or None.
    """

    form: str
    label: str | None


class InputScan(Protocol):
    """The input of one run, as the dialect reads it."""

    @property
    def options(self) -> ReadOptions:
        """The lake's options and the limits."""

    @property
    def is_small(self) -> bool:
        """True if the files have few bytes as they lie there, and none is read in splits: work for one task."""

    def pieces(
        self, read_content: ReadContent, extra: tuple[pa.Field, ...], judging: Judging | None = None
    ) -> DataFrame | None:
        """Pieces of all files (`kernels.pieces`), with the facts of their blocks if they are judged as they are read;
        or None without files.
        """

    def sources(self) -> DataFrame:
        """file_no, source (the path as text)."""

    def source_of(self) -> Mapping[int, str] | None:
        """The source of each file by file_no, where the driver has them; None: only `sources` tells."""


class LakeSnapshot(Protocol):
    """A snapshot of a lake: all frames of a table have the same version."""

    @property
    def buckets(self) -> int:
        """The number of buckets of the lake."""

    def read(self, table: str) -> DataFrame:
        """All rows of a table, lazy."""

    def stored_bytes(self, table: str) -> int:
        """The bytes of a table's live data files, of the newest version: 0 if it has no row."""


class OtherLakeSnapshot(LakeSnapshot, Protocol):
    """A snapshot of another lake, whose rows are checked against the contracts of their tables."""

    def matching(self, table: str, keys: DataFrame, jobs: Jobs) -> DataFrame:
        """The rows of a table that have the columns of a row of `keys`: only these are checked."""


class Tables(LakeSnapshot, Protocol):
    """The lake: each frame has the version of its table at the time of the call."""

    def version(self, table: str) -> int:
        """The newest version of a table."""

    def read_version(self, table: str, version: int) -> DataFrame:
        """All rows of a table at a version, lazy."""

    def few_rows(self, table: str, version: int | None = None) -> pa.Table | None:
        """All rows of a small table at a version, in memory; None if only Spark should read them."""

    def few_changes(self, table: str, first: int, last: int) -> pa.Table | None:
        """The rows that the versions `first` to `last` inserted, in memory; None as in `few_rows`."""

    def has_files(self, table: str) -> bool:
        """False if a table is known to have no row; True also where only a query tells."""

    def begin_repair(self, tables: tuple[str, ...]) -> bool:
        """Begin to repair the tables if a run that last wrote one has no row in `run`: it was killed or is running.

        Return whether. If True, this run must write what that one may have left: its commits to these tables then end
        the search for later runs.
        """


class Jobs(Protocol):
    """The Spark actions that a dialect can request; all its frames stay lazy."""

    def persist(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows, computed once and persisted until the run ends; `name` is the step in progress."""

    def checkpoint(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows, as `persist` does, without the plan that computes them: for small frames in chains
        of steps, and for frames made of tables that the run changes.
        """

    def row(self, frame: DataFrame) -> Row:
        """Return the single row of an aggregate."""

    def has_rows(self, frame: DataFrame) -> bool:
        """Return whether the frame has a row."""

    def few(self, frame: DataFrame, most: int) -> list[Row] | None:
        """Return the rows if there are at most `most`, else None. The caller bounds their size."""
