"""The Spark actions of one run. Persisted frames are released at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.frames.one_task import has_one_task
from strandline.frames.union import union
from strandline.pipelines.run_context import Progress
from strandline.tables.spark_errors import spark_errors


class SparkJobs:
    """Implements `dialect_api.ports.Jobs`. A context manager that unpersists its frames on exit."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._persisted: list[DataFrame] = []
        self._level = StorageLevel.MEMORY_AND_DISK

    def persist_on_disk(self) -> None:
        """Persist later frames only on disk.

        Spark reads a block that was spilled to disk back into memory, whole: for millions of rows a small heap has
        too little room for a partition.
        """
        self._level = StorageLevel.DISK_ONLY

    def persist(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows, computed at their first use and persisted in memory; what does not fit goes to disk."""
        self._progress.step(name)
        persisted = frame.persist(self._level)
        self._persisted.append(persisted)
        return persisted

    def checkpoint(self, frame: DataFrame, name: str) -> DataFrame:
        """Return the same rows, computed at their first use and persisted, without the plan that computes them.

        For steps that build on each other: the text of a plan doubles with each step, and Spark writes it at every
        change of plan (measured: minutes at the seventh step, then out of memory). And for rows of a table that the
        run changes: when a table changes, Spark drops all persisted frames whose plan reads it.
        """
        if has_one_task(frame.sparkSession):
            # A checkpoint keeps the order of its plan, by columns that it may not have any more: then Spark fails. Rows
            # of one partition that are not ordered need no shuffle either.
            frame = frame.coalesce(1)
        # The default level keeps rows in memory; a given level keeps them serialised.
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

    def asking(self, frames: Mapping[str, DataFrame]) -> Callable[[str], bool]:
        """Return a function that tells by its name whether a frame has a row.

        If each stage has one task, one query asks all of them at once. Else each is asked when the function is called:
        frames that are not needed until later are computed later.
        """
        if not frames or not has_one_task(next(iter(frames.values())).sparkSession):
            return lambda name: self.has_rows(frames[name])
        firsts = (frame.select(F.lit(name).alias("name")).limit(1) for name, frame in frames.items())
        found = {row["name"] for row in union(firsts).coalesce(1).collect()}
        return found.__contains__

    def few(self, frame: DataFrame, most: int) -> list[Row] | None:
        """Return the rows if there are at most `most`, else None."""
        rows = frame.limit(most + 1).collect()
        return rows if len(rows) <= most else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After Spark has ended, unpersist fails, too: the first error is the one to report.
        expected = (*spark_errors(), OSError) if error is not None else ()
        for frame in self._persisted:
            with suppress(*expected):
                frame.unpersist()
