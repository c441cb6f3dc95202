"""What a dialect asks of the pipeline that calls it: its input, the lake, and Spark jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, Row

from strandline.kernels.reading import ReadContent, ReadOptions


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A large file that is not compressed: its format if it has one, how it begins behind a mark, how it ends."""

    format: str | None
    head: bytes
    tail: Callable[[], bytes]
    options: ReadOptions


@dataclass(frozen=True, slots=True)
class SplitFormat:
    """A plain file that Spark's splitting reader may take.

    `form` names the reader of its lines, `label` is what the head of the file states for all lines, or None,
    `line_bytes` the most that one line may hold.
    """

    form: str
    label: str | None
    line_bytes: int


class InputScan(Protocol):
    """The input of one run, as the dialect reads it."""

    @property
    def options(self) -> ReadOptions:
        """The lake's choices and limits."""

    @property
    def has_text(self) -> bool:
        """True if Spark's splitting reader takes some file."""

    def lines(self) -> DataFrame:
        """Lines of large plain text: file_no, part, label, mark, size, raw, in the order of each part."""

    def pieces(self, read_content: ReadContent, extra: tuple[pa.Field, ...]) -> DataFrame | None:
        """Pieces of all other files (`kernels.pieces`), or None without such files."""

    def sources(self) -> DataFrame:
        """file_no, source (the path as text)."""

    def without_truncated(self, read_bytes: DataFrame) -> InputScan | None:
        """A scan that reads the files again of which Spark's reader lost bytes, or None.

        Reads:  file_no, bytes (what the lines of the file took).
        """


class LakeSnapshot(Protocol):
    """What a lake holds: every frame is of one version of its table."""

    @property
    def buckets(self) -> int:
        """N of the lake."""

    def read(self, table: str) -> DataFrame:
        """All rows of a table, lazy."""


class Tables(LakeSnapshot, Protocol):
    """The lake as a dialect sees it, each table as it is when its frame is made."""

    def read_version(self, table: str, version: int) -> DataFrame:
        """All rows of a table as of a version, lazy."""

    def has_partial_run(self, tables: tuple[str, ...]) -> bool:
        """True if the run that last wrote one of the tables has no row in `run`: it was killed, or is under way."""


class Jobs(Protocol):
    """The actions that a dialect may ask of its pipeline, so that its frames stay lazy."""

    def persist(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows, computed once and kept until the run ends; `name` is shown as progress."""

    def checkpoint(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows as `persist` does, and cut the plan they came from: for small frames that follow
        another.
        """

    def row(self, frame: DataFrame) -> Row:
        """Return the single row of an aggregate."""

    def has_rows(self, frame: DataFrame) -> bool:
        """Return whether the frame has a row."""

    def unpersist(self, frame: DataFrame) -> None:
        """Release what `persist` or `checkpoint` computed."""
