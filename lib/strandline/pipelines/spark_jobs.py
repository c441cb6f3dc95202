"""The actions of one run: frames computed once and kept, single rows fetched, all let go at the end."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Self

from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Row

from strandline.pipelines.run_context import Progress


class SparkJobs:
    """The actions that dialects ask for (`dialect_api.base.Stage`). A context: what was kept is let go on leaving."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._kept: list[DataFrame] = []
        self._level = StorageLevel.MEMORY_AND_DISK

    def persist_on_disk(self) -> None:
        """Keep what is kept from now on on disk alone.

        What went to disk because memory was full Spark brings back into memory when it is read, a partition at a time
        and whole: of millions of rows that is more than a small heap has left.
        """
        self._level = StorageLevel.DISK_ONLY

    def persist(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows, computed at their first use and kept; what does not fit into memory goes to disk."""
        self._progress.step(name)
        kept = frame.persist(self._level)
        self._kept.append(kept)
        return kept

    def checkpoint(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows, computed at their first use and kept, without the plan that they came from.

        For frames of steps that build on each other: the text of a plan over kept plans doubles with each step, and
        Spark writes it at every change of plan (measured: minutes, then no memory, at the seventh step).
        """
        # By default in memory as rows; a level that is named keeps them serialised.
        cut = (
            frame.localCheckpoint(eager=False, storageLevel=self._level)
            if self._level is StorageLevel.DISK_ONLY
            else frame.localCheckpoint(eager=False)
        )
        return self.persist(cut, name)

    def row(self, frame: DataFrame) -> Row:
        """Return the single row of an aggregate."""
        [row] = frame.collect()
        return row

    def has_rows(self, frame: DataFrame) -> bool:
        """Return whether the frame has a row."""
        return bool(frame.head(1))

    def unpersist(self, frame: DataFrame) -> None:
        """Forget what `keep` computed."""
        frame.unpersist()
        self._kept = [kept for kept in self._kept if kept is not frame]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Where Spark itself has ended, what ended it is to be told, not that nothing can be let go any more.
        gone = (Py4JError, OSError) if error is not None else ()
        for kept in self._kept:
            with suppress(*gone):
                kept.unpersist()
