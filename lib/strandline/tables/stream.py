"""A folder or a topic as a stream of what is new in it: that is Spark's own bookkeeping, kept in a checkpoint."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from strandline.core.errors import FaultError, UsageError
from strandline.tables.paths import path_text, walk
from strandline.tables.sources import MANIFEST_SUFFIX
from strandline.tables.topics import Messages, Topic, messages_in, topic_frame

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

BINDING: Final = "strandline"
"""The folder in a checkpoint that tells whose it is."""

_FILES: Final = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
"""What Spark's reader of whole files gives; it reads no content where none is asked for."""
_FOR_EVER: Final = "36500d"
_UNSPELLED_SHOWN: Final = 3
_SPARKS_OWN: Final = "metadata"
_PATTERN: Final = re.compile(r"[*?\[\]{}\\]")


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """One micro-batch: its number, the paths of its files or its messages, how old the oldest of them is (UTC)."""

    number: int
    oldest: datetime | None
    paths: tuple[bytes, ...] = ()
    messages: Messages | None = None


def landing_folder(source: str) -> bytes:
    """Return the absolute path of the folder that is followed.

    Raises: UsageError SOURCE_MISSING, SOURCE_NOT_A_FOLDER, SOURCE_IS_PATTERN (signs that Spark takes for a glob).
    """
    folder = os.path.abspath(os.fsencode(source))
    if not os.path.lexists(folder):
        raise UsageError(
            "SOURCE_MISSING",
            f"The folder {source} does not exist",
            "make it, or name the folder in which files land",
        )
    if not os.path.isdir(folder):
        raise UsageError(
            "SOURCE_NOT_A_FOLDER",
            f"{source} is no folder, and only a folder can be followed",
            f"land it with `strandline ingest {source}`",
        )
    if _PATTERN.search(path_text(folder)):
        raise UsageError(
            "SOURCE_IS_PATTERN",
            f"Spark takes the name of the folder {source} for a pattern",
            "name a folder without * ? [ ] { } and backslashes in its path",
        )
    return folder


def unspelled(folder: bytes) -> tuple[str, ...]:
    """Return the files whose names are not UTF-8, as text: Spark passes over them without a word."""
    inside = os.path.realpath(folder)
    names = (path_text(path) for path, _ in walk(folder, inside) if not _is_text(path))
    return tuple(islice(names, _UNSPELLED_SHOWN))


def _is_text(path: bytes) -> bool:
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def bind(spark: SparkSession, checkpoint: str, owner: Mapping[str, str]) -> None:
    """Make a new checkpoint that of `owner` (lake, source, dialect); see that one that is there is theirs.

    A checkpoint knows which files were seen. With another lake behind it those would be missing there without a word.
    Raises: FaultError CHECKPOINT_FOREIGN, CHECKPOINT_DAMAGED.
    """
    binding = f"{checkpoint}/{BINDING}"
    text = _text(spark, binding)
    if text is None and _text(spark, f"{checkpoint}/{_SPARKS_OWN}") is None:
        told = spark.createDataFrame([(json.dumps(dict(owner), sort_keys=True),)], "value STRING")
        # Overwritten, since a kill may have left half of one.
        told.coalesce(1).write.mode("overwrite").text(binding)
        return
    try:
        found = json.loads(text or "{}")
        differing = sorted(name for name in owner if found.get(name) != owner[name])
    except (ValueError, AttributeError):
        raise checkpoint_damaged(checkpoint, f"the folder {BINDING} in it does not say whose it is") from None
    if differing:
        raise FaultError(
            "CHECKPOINT_FOREIGN",
            f"The checkpoint {checkpoint} belongs to another stream: it differs in {', '.join(differing)}",
            "name another with --checkpoint, or delete it: then all is landed again, and records are known",
        )


def checkpoint_damaged(checkpoint: str, what: str) -> FaultError:
    """Return the error of a checkpoint that no stream can go on from."""
    return FaultError(
        "CHECKPOINT_DAMAGED",
        f"The stream cannot go on from the checkpoint {checkpoint}: {what}",
        "name another with --checkpoint, or delete it: then all is landed again, and records are known",
    )


def is_bound(spark: SparkSession, checkpoint: str) -> bool:
    """Return whether a checkpoint is that of some stream."""
    return _text(spark, f"{checkpoint}/{BINDING}") is not None


def _text(spark: SparkSession, place: str) -> str | None:
    """Return the one line of text at a place, or None if nothing is there."""
    try:
        rows = spark.read.text(place).head(1)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    return str(rows[0]["value"]) if rows else None


def follow_folder(
    spark: SparkSession,
    folder: bytes,
    checkpoint: str,
    *,
    most_files: int,
    every: float | None,
    process: Callable[[MicroBatch], None],
) -> StreamingQuery:
    """Start to follow a folder and the folders in it; `process` gets each micro-batch and returns when it is written.

    Files are read when they have landed, by `process`: the stream carries paths. They are to appear whole, by
    a rename; names that begin with `.` or `_` are passed over. Manifests are found beside the files that they name.
    `every` is the time between two looks, seconds; None: what is there is landed, then the stream ends.
    """
    files = (
        spark.readStream.format("binaryFile")
        .schema(_FILES)
        .option("recursiveFileLookup", "true")
        .option("maxFilesPerTrigger", most_files)
        # Spark passes over files much older than the newest one: a file from last year may come today.
        .option("maxFileAge", _FOR_EVER)
        # Hadoop's usual file system looks for a check sum beside each file, and fails for ever at a colon in a name.
        .option("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem")
        .option("fs.file.impl.disable.cache", "true")
        .load(os.fsdecode(folder))
    )

    def batch(frame: DataFrame, number: int) -> None:
        rows = frame.select("path", "modificationTime").collect()
        paths = sorted(_local(row["path"]) for row in rows)
        oldest = min((row["modificationTime"] for row in rows), default=None)
        process(
            MicroBatch(
                number,
                None if oldest is None else oldest.astimezone(UTC),
                paths=tuple(path for path in paths if not path.endswith(MANIFEST_SUFFIX)),
            )
        )

    return _start(files, batch, checkpoint, every)


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

    return _start(topic_frame(spark, topic, most_records), batch, checkpoint, every)


def _start(
    frame: DataFrame, batch: Callable[[DataFrame, int], None], checkpoint: str, every: float | None
) -> StreamingQuery:
    writer = frame.writeStream.foreachBatch(batch).option("checkpointLocation", checkpoint)
    if every is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{round(every * 1000)} milliseconds").start()


def _local(uri: str) -> bytes:
    """Return the path that tasks open for a path as Spark spells it."""
    scheme, colon, rest = uri.partition(":")
    if not colon or "/" in scheme:
        return os.fsencode(uri)
    path = "/" + rest.lstrip("/")
    on_dbfs = scheme == "dbfs" and not path.startswith("/Volumes/")
    return os.fsencode(f"/dbfs{path}" if on_dbfs else path)
