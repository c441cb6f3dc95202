"""Finds persisted frames that Spark drops while a run uses them: their plan reads a table that the run changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from pyspark.sql import DataFrame

from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.store import TableStore


@contextmanager
def dropped_frames() -> Iterator[list[tuple[str, str]]]:
    """Collect, while the block runs, the table of each MERGE and the name of each computed frame that it drops."""
    found: list[tuple[str, str]] = []
    frames: list[tuple[str, DataFrame]] = []
    persist, merge = SparkJobs.persist, TableStore._merge

    def noted(jobs, frame, name):
        frames.append((name, persist(jobs, frame, name)))
        return frames[-1][1]

    def watched(store, described, *arguments, **named):
        before = [(name, frame, cached) for name, frame in frames if (cached := _computed(frame))]
        written = merge(store, described, *arguments, **named)
        found.extend((described.table, name) for name, frame, cached in before if _computed(frame) != cached)
        return written

    with patch.object(SparkJobs, "persist", noted), patch.object(TableStore, "_merge", watched):
        yield found


def _computed(frame: DataFrame) -> int | None:
    """Identify the computed rows of a frame that is persisted; None without any."""
    spark = frame.sparkSession
    cached = spark._jsparkSession.sharedState().cacheManager().lookupCachedData(frame._jdf)
    if cached.isEmpty():
        return None
    rows = cached.get().cachedRepresentation().cacheBuilder()
    return spark._jvm.java.lang.System.identityHashCode(rows) if rows.isCachedColumnBuffersLoaded() else None
