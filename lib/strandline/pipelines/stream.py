"""`stream`: follows a batches folder or a topic; every micro-batch is landed by `ingest` and folded by `reduce`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, StreamingQueryException

from strandline.config.settings import Settings
from strandline.core.errors import FaultError, StrandlineError, UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import GivenOption
from strandline.pipelines import init, reducer_options
from strandline.pipelines.micro_batches import MicroBatchOptions, MicroBatchRun
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext, no_signals
from strandline.pipelines.stream_source import Followed, FollowedFolder, FollowedTopic
from strandline.tables import lake
from strandline.tables.location import Location
from strandline.tables.store import TableStore
from strandline.tables.stream import bind, checkpoint_damaged, landing_folder
from strandline.tables.topics import Topic, topic_of

WATCH_SECONDS: Final = 2
"""How often the source is looked for while nothing comes."""
LOST: Final = ("KAFKA_DATA_LOSS", "KafkaIllegalStateException")
"""What Spark's connector says of messages that are no longer there: its condition, and from tasks its exception."""


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """What `stream` was asked for.

    `source` is a folder, or a topic as `topics.topic_of` reads it. `format` overrides what names tell. `every`: seconds
    between two looks at it; None: land what is there and end. `checkpoint`: a folder or URI; None: one in the lake,
    named after source and dialect. `own` says whose journals are written, if any; `files` are those given for
    dialects' reducer options, as `reduce` takes them.
    """

    source: str
    format: str | None = None
    every: float | None = None
    max_files: int | None = None
    max_records: int | None = None
    checkpoint: str | None = None
    options: object | None = None
    files: Mapping[str, GivenOption | None] = field(default_factory=dict)


def topic_in(request: StreamRequest) -> Topic | None:
    """Return the topic that is followed, None where a folder is.

    Raises: UsageError TOPIC_INVALID, OPTION_OF_FOLDER, OPTION_OF_TOPIC.
    """
    topic = topic_of(request.source)
    if topic is None and request.max_records is not None:
        raise UsageError(
            "OPTION_OF_TOPIC",
            "--max-records bounds the batches of a topic: how many records a file holds is told by reading it",
            "bound the batches of a folder by --max-files",
        )
    named = (
        "--format" if request.format is not None else "--max-files" if request.max_files is not None else None
    )
    if topic is not None and named is not None:
        raise UsageError(
            "OPTION_OF_FOLDER",
            f"{named} is for folders, and {topic.source} is a topic",
            "leave it out: each message is one line of the dialect; --max-records bounds the batches of a topic",
        )
    return topic


def check_source(request: StreamRequest, location: Location) -> Topic | None:
    """Return the topic as `topic_in` does, and see what can be seen of source and checkpoint without Spark.

    Raises: UsageError as `topic_in`, SOURCE_MISSING, SOURCE_NOT_A_FOLDER, SOURCE_IS_PATTERN, CHECKPOINT_MISSING.
    """
    topic = topic_in(request)
    if topic is None:
        landing_folder(request.source)
    if request.checkpoint is None:
        _check_room(location)
    return topic


def run(
    store: TableStore, dialect: Dialect, request: StreamRequest, settings: Settings, context: RunContext,
    runs: Callable[[str], RunContext],
) -> Report:  # fmt: skip
    """Land and reduce what comes into folder or topic, batch by batch; with the rows and state hashes of batch runs.

    Each micro-batch is one run of `ingest` and one of `reduce`, named by `runs`, which makes the context of a run of
    a command. Killed anywhere, the stream takes up the same batch again: its records are then known.
    Raises: UsageError (a source that is no folder and no topic, a lake that is not ours, no place for the checkpoint),
    FaultError CHECKPOINT_FOREIGN, CHECKPOINT_DAMAGED, SOURCE_GONE, SOURCE_UNREACHABLE, KAFKA_MISSING, MESSAGES_GONE,
    STREAM_STOPPED, and what `ingest` and `reduce` raise.
    """
    reducer_options.check((dialect,), request.files)
    followed = _followed(store, request, settings)
    try:
        return _follow(store, dialect, followed, request, settings, context, runs)
    finally:
        followed.close()


def _follow(
    store: TableStore, dialect: Dialect, followed: Followed, request: StreamRequest, settings: Settings,
    context: RunContext, runs: Callable[[str], RunContext],
) -> Report:  # fmt: skip
    checkpoint = request.checkpoint or _checkpoint(store.location, followed.key, dialect.info.name)
    followed.check(checkpoint)
    lake.require(store, init.design_by(settings, (dialect,)))
    owner = {
        "lake": store.table_id(dialect.info.record_table), "dialect": dialect.info.name, **followed.owner()
    }  # fmt: skip
    bind(store.spark, checkpoint, owner)
    for note in followed.notes():
        context.progress.note(note)
    asked = MicroBatchOptions(followed.folder, request.format, request.options, request.files)
    batches = MicroBatchRun(store, dialect, asked, settings, context, runs)
    if request.files:
        batches.apply_options()
    # Who follows a source without end ends that by Ctrl-C: after the batch of the moment.
    signals = no_signals if request.every is None else context.deferred_signals
    try:
        query = followed.start(checkpoint, batches.process_batch)
    except (Py4JJavaError, PySparkException) as stopped:
        raise _why(stopped, batches, followed, checkpoint) from None
    try:
        with signals() as is_asked_to_stop:
            while not query.awaitTermination(WATCH_SECONDS):
                if not followed.is_there():
                    raise followed.gone()
                if is_asked_to_stop():
                    context.progress.note("stopping after this batch; the next start goes on behind it")
                    batches.close()
                    break
    except StreamingQueryException as stopped:
        raise _why(stopped, batches, followed, checkpoint) from None
    finally:
        query.stop()
    return batches.report(checkpoint)


def _followed(store: TableStore, request: StreamRequest, settings: Settings) -> Followed:
    topic, spark, every = topic_in(request), store.spark, request.every
    if topic is None:
        most = request.max_files or settings.stream.max_files
        return FollowedFolder(spark, request.source, every=every, most=most)
    return FollowedTopic(spark, topic, every=every, most=request.max_records or settings.stream.max_records)


def _checkpoint(location: Location, key: bytes, dialect: str) -> str:
    """Return the checkpoint's place in the lake: one for each source and dialect."""
    _check_room(location)
    name = hashlib.sha256(key + b"\n" + dialect.encode()).hexdigest()[:16]
    return location.table_path(f"_checkpoints/{name}")


def _check_room(location: Location) -> None:
    """See that a lake has a place for a checkpoint. Raises: UsageError CHECKPOINT_MISSING."""
    if not location.is_path():
        raise UsageError(
            "CHECKPOINT_MISSING",
            f"{location.describe()} is a schema, and a schema has no place for a checkpoint",
            "add --checkpoint with a folder or URI that stays",
        )


def _why(
    stopped: BaseException, batches: MicroBatchRun, followed: Followed, checkpoint: str
) -> BaseException:
    """Return what ended the stream: what one of our runs told, if it did, else what there is to see."""
    failed = batches.failed
    if isinstance(failed, StrandlineError):
        return failed
    if not followed.is_there():
        return followed.gone()
    if any(name in str(stopped) for name in LOST):
        return FaultError(
            "MESSAGES_GONE",
            "The topic no longer has messages that were not landed yet: they were removed before",
            "name a new --checkpoint: it begins with the oldest message that is there; then see what is waiting",
        )
    if failed is not None:
        return failed
    first = next((line for line in str(stopped).splitlines() if line.strip()), "no message")
    if not batches.has_begun:
        return checkpoint_damaged(checkpoint, first[:300])
    return FaultError(
        "STREAM_STOPPED",
        f"Spark ended the stream: {first[:300]}",
        "start it again: it goes on where it was; if that does not help, name a new --checkpoint",
    )
