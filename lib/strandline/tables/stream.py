"""Follows a folder or a topic with Structured Streaming; Spark's checkpoint stores what was read."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import nsmallest
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, SparkSession

from strandline.core.errors import UsageError
from strandline.tables.paths import LOCAL_URIS, MANIFEST_SUFFIX, has_hidden_part, local_path, path_text, walk
from strandline.tables.topics import Messages, Topic, messages_in, topic_frame

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamReader

_FILES: Final = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
"""The schema of Spark's source `binaryFile`; it does not read content that is not selected."""
_NO_AGE_LIMIT: Final = "36500d"
_NAMES_SHOWN: Final = 3
PATTERN: Final = re.compile(r"[*?\[\]{}\\]")


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """One micro-batch: its number, its input, the time of the oldest of it (UTC).

    The input is the paths of files, the objects of a store with their bytes, or messages.
    """

    number: int
    oldest: datetime | None
    paths: tuple[bytes, ...] = ()
    objects: Mapping[bytes, int] = field(default_factory=dict)
    messages: Messages | None = None


def landing_folder(source: str) -> bytes:
    """Return the absolute path of the folder to follow.

    Raises: UsageError SOURCE_NOT_LOCAL (a URI), SOURCE_MISSING, SOURCE_NOT_A_FOLDER, SOURCE_IS_PATTERN (characters that
    Spark reads as a glob).
    """
    if source.startswith(LOCAL_URIS):
        source = os.fsdecode(local_path(source))
    elif "://" in source:
        # Not shown whole: it may hold credentials.
        raise UsageError(
            "SOURCE_NOT_LOCAL",
            f"stream cannot follow a {source.partition('://')[0]}:// URI, only folders, topics and prefixes of S3, "
            "Google Cloud Storage, Azure and HDFS",
            "mount the store (a volume, a network folder) and give the mounted path",
        )
    folder = os.path.abspath(os.fsencode(source))
    if not os.path.lexists(folder):
        raise UsageError(
            "SOURCE_MISSING",
            f"The folder {source} does not exist",
            "create it, or name the folder in which files appear",
        )
    if not os.path.isdir(folder):
        raise UsageError(
            "SOURCE_NOT_A_FOLDER",
            f"{source} is not a folder, and stream follows folders, prefixes of a store and topics",
            f"name its folder, or read the file once: `strandline ingest {shlex.quote(source)} --dialect NAME`",
        )
    if PATTERN.search(path_text(folder)):
        raise UsageError(
            "SOURCE_IS_PATTERN",
            f"Spark reads the name of the folder {source} as a glob",
            "name a folder without * ? [ ] { } and backslashes in its path",
        )
    return folder


def names_not_utf8(folder: bytes) -> tuple[str, ...]:
    """Return the first files whose names are not UTF-8, as text: Spark skips them silently."""
    inside = os.path.realpath(folder)
    names = (path_text(path) for path, _ in walk(folder, inside) if not _is_text(path))
    return tuple(nsmallest(_NAMES_SHOWN, names))


def _is_text(path: bytes) -> bool:
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def follow_folder(
    spark: SparkSession,
    folder: bytes,
    checkpoint: str,
    *,
    most_files: int,
    every: float | None,
    process: Callable[[MicroBatch], None],
) -> StreamingQuery:
    """Start to follow a folder and its subfolders; `process` gets each micro-batch and returns after its commits.

    The stream carries only paths; `process` reads the files. Files must appear complete, by a rename; hidden names
    (`paths.is_hidden`) are skipped. Manifests are found in the folders of the files that they name. `every` is the
    interval between two checks for files, in seconds; None: process what is there, then end.
    """
    files = (
        listing(spark, most_files)
        # Hadoop's default file system looks for a checksum file of each file, and always fails at a colon in a name.
        .option("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem")
        .option("fs.file.impl.disable.cache", "true")
        .load(os.fsdecode(folder))
    )

    def batch(frame: DataFrame, number: int) -> None:
        sizes, oldest = listed(frame, folder, local_path)
        process(MicroBatch(number, oldest, paths=tuple(sizes)))

    return start(files, batch, checkpoint, every)


def listing(spark: SparkSession, most_files: int) -> DataStreamReader:
    """Return a reader of the files below a path, at most `most_files` in a micro-batch; it reads no content."""
    return (
        spark.readStream.format("binaryFile")
        .schema(_FILES)
        .option("recursiveFileLookup", "true")
        .option("maxFilesPerTrigger", most_files)
        # By default Spark skips files much older than the newest one, but an old file can arrive today.
        .option("maxFileAge", _NO_AGE_LIMIT)
    )


def listed(
    frame: DataFrame, root: bytes, as_path: Callable[[str], bytes]
) -> tuple[dict[bytes, int], datetime | None]:
    """Return the files of a micro-batch of `listing` with their bytes, in order, and the time of the oldest (UTC).

    Files with a hidden part below `root`, and manifests, are left out. `as_path` turns Spark's path into ours.
    """
    rows = frame.select("path", "modificationTime", "length").collect()
    sizes = sorted((as_path(row["path"]), row["length"]) for row in rows)
    oldest = min((row["modificationTime"] for row in rows), default=None)
    kept = {
        path: size
        for path, size in sizes
        if not has_hidden_part(path, root) and not path.endswith(MANIFEST_SUFFIX)
    }
    return kept, None if oldest is None else oldest.astimezone(UTC)


def follow_topic(
    spark: SparkSession,
    topic: Topic,
    checkpoint: str,
    *,
    most_records: int,
    every: float | None,
    process: Callable[[MicroBatch], None],
) -> StreamingQuery:
    """Follow a topic, like `follow_folder` a folder: the stream carries offsets, `process` reads messages."""

    def batch(frame: DataFrame, number: int) -> None:
        messages, oldest = messages_in(frame, topic)
        process(MicroBatch(number, oldest, messages=messages))

    return start(topic_frame(spark, topic, most_records), batch, checkpoint, every)


def start(
    frame: DataFrame, batch: Callable[[DataFrame, int], None], checkpoint: str, every: float | None
) -> StreamingQuery:
    """Start a stream whose micro-batches `batch` gets. `every` is that of `follow_folder`."""
    writer = frame.writeStream.foreachBatch(batch).option("checkpointLocation", checkpoint)
    if every is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{round(every * 1000)} milliseconds").start()


def await_commit(query: StreamingQuery, number: int) -> None:
    """Wait until Spark has stored that batch `number` was processed: a query that is stopped before repeats the batch.

    Raises: StreamingQueryException if the query ends meanwhile.
    """
    while query.status["isTriggerActive"]:
        progress = query.lastProgress
        if (progress is not None and progress.batchId >= number) or query.awaitTermination(1):
            return
