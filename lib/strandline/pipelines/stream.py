"""`stream`: follows a folder, a prefix of a store or a topic; every micro-batch goes through `ingest` and `reduce`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pyspark.errors import StreamingQueryException

from strandline.config.settings import Settings
from strandline.core.errors import FaultError, StrandlineError, UsageError
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import GivenOption
from strandline.kernels.formats import Formats
from strandline.pipelines import init, reducer_options
from strandline.pipelines.micro_batches import MicroBatchOptions, MicroBatchRun
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext, no_signals
from strandline.pipelines.stream_objects import ObjectSource
from strandline.pipelines.stream_source import FolderSource, StreamSource, TopicSource
from strandline.session.engine import is_connect
from strandline.tables import lake
from strandline.tables.checkpoint import bind, checkpoint_damaged
from strandline.tables.formats import check_format
from strandline.tables.location import Location
from strandline.tables.paths import path_text
from strandline.tables.spark_errors import spark_errors
from strandline.tables.store import TableStore
from strandline.tables.stream import MicroBatch, await_commit, landing_folder
from strandline.tables.stream_objects import landing_prefix
from strandline.tables.topic_brokers import CONFIG
from strandline.tables.topics import Topic, topic_of

WATCH_SECONDS: Final = 2
"""Interval of the check that the source still exists."""


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """The arguments of `stream`.

    `source` is a folder, a prefix of an object store, or a topic in the form of `topics.topic_of`. `format` overrides
    the format by name. `every` is the interval between two checks for input, in seconds; None: process what is there
    and end. `checkpoint` is a folder or URI; None: one in the lake, named after source and dialect. `options` is the
    result of the dialect's `parse_options`, or None; `files` are files of sticky options, as in `reduce`.
    `kafka_config` is a file of settings of Kafka's client, of which encryption and login are used.
    """

    source: str
    format: str | None = None
    every: float | None = None
    max_files: int | None = None
    max_records: int | None = None
    checkpoint: str | None = None
    options: object | None = None
    files: Mapping[str, GivenOption | None] = field(default_factory=dict)
    kafka_config: bytes | None = field(default=None, repr=False)


_IN_USE: Final = "CONCURRENT_STREAM_LOG_UPDATE"
"""Spark's condition of a stream whose checkpoint another one uses: it must not be deleted."""


def topic_in(request: StreamRequest) -> Topic | None:
    """Return the topic, or None if the source is a folder or a prefix.

    Raises: UsageError TOPIC_INVALID, OPTION_OF_FOLDER, OPTION_OF_TOPIC.
    """
    topic = topic_of(request.source)
    if topic is None and request.max_records is not None:
        raise UsageError(
            "OPTION_OF_TOPIC",
            "--max-records is for topics: the number of records of a file is not known before it is read",
            "use --max-files for a folder or a prefix",
        )
    if topic is None and request.kafka_config is not None:
        raise UsageError(
            "OPTION_OF_TOPIC",
            f"{CONFIG} is for topics, but {request.source} is a folder or a prefix",
            "leave it out: credentials of stores come from the environment",
        )
    named = (
        "--format" if request.format is not None else "--max-files" if request.max_files is not None else None
    )
    if topic is not None and named is not None:
        raise UsageError(
            "OPTION_OF_FOLDER",
            f"{named} is for folders and prefixes, but {topic.source} is a topic",
            "leave it out: each message is one line of the dialect; use --max-records for a topic",
        )
    return topic


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A source that was checked without Spark: the topic, or None, and the scheme of a prefix's URI, or None."""

    topic: Topic | None
    scheme: str | None


def check_source(request: StreamRequest, formats: Formats, location: Location) -> CheckedSource:
    """Check source, format and checkpoint as far as possible without Spark; `formats` are those of the dialect.

    Raises: UsageError as `topic_in`, FORMAT_UNKNOWN, SOURCE_URI, SOURCE_MISSING, SOURCE_NOT_A_FOLDER,
    SOURCE_IS_PATTERN, SOURCE_DENIED, CHECKPOINT_MISSING; FaultError SOURCE_UNREADABLE.
    """
    topic = topic_in(request)
    check_format(formats, request.format)
    prefix = landing_prefix(request.source) if topic is None else None
    if topic is None and prefix is None:
        landing_folder(request.source)
    if request.checkpoint is None:
        _check_has_folder(location)
    return CheckedSource(topic, None if prefix is None else path_text(prefix).partition(":")[0])


def run(
    store: TableStore, dialect: Dialect, request: StreamRequest, settings: Settings, context: RunContext,
    runs: Callable[[str], RunContext],
) -> Report:  # fmt: skip
    """Ingest and reduce the input of a source, batch by batch; rows and state hashes are those of batch runs.

    Each micro-batch is one run of `ingest` and one of `reduce`; `runs` makes the context of a run of a command. After
    a kill, the stream repeats the same batch: its records are then known.
    Raises: UsageError (STREAM_OVER_CONNECT, the source cannot be followed, the lake is foreign, no folder for the
    checkpoint, KAFKA_CONFIG_INVALID), FaultError CHECKPOINT_FOREIGN, CHECKPOINT_DAMAGED, SOURCE_GONE,
    SOURCE_UNREACHABLE, SOURCE_UNREADABLE, STORE_JAR_MISSING, KAFKA_MISSING, MESSAGES_GONE, STREAM_STOPPED, and what
    `ingest` and `reduce` raise.
    """
    reducer_options.check((dialect,), request.files)
    if is_connect(store.spark):
        raise UsageError(
            "STREAM_OVER_CONNECT",
            "a stream calls functions of this process for each batch, and Spark Connect runs them elsewhere",
            "run `strandline stream` by spark-submit or on this machine, or run `ingest` and `reduce` on a schedule",
        )
    source = _source(store, request, settings)
    try:
        return _follow(store, dialect, source, request, settings, context, runs)
    finally:
        source.close()


def _follow(
    store: TableStore, dialect: Dialect, source: StreamSource, request: StreamRequest, settings: Settings,
    context: RunContext, runs: Callable[[str], RunContext],
) -> Report:  # fmt: skip
    checkpoint = request.checkpoint or _checkpoint(store.location, source.key, dialect.info.name)
    source.check(checkpoint)
    lake.require(store, init.design_by(settings, (dialect,)))
    owner = {
        "lake": store.table_id(dialect.info.record_table), "dialect": dialect.info.name, **source.owner()
    }  # fmt: skip
    bind(store.spark, checkpoint, owner)
    for note in source.notes():
        context.progress.note(note)
    asked = MicroBatchOptions(source.folder, request.format, request.options, request.files)
    batches = MicroBatchRun(store, dialect, asked, settings, context, runs)
    batches.begin()
    # Ctrl-C is the normal end of a stream with --every: it ends after the current batch.
    signals = no_signals if request.every is None else context.deferred_signals
    with signals() as is_asked_to_stop:
        _process_all(source, checkpoint, batches, context, is_asked_to_stop)
    return batches.report(checkpoint)


def _process_all(
    source: StreamSource, checkpoint: str, batches: MicroBatchRun, context: RunContext,
    is_asked_to_stop: Callable[[], bool],
) -> None:  # fmt: skip
    """Process the batches of a source until it ends or the user asks to stop. Raises: as `run`."""

    def process(batch: MicroBatch) -> None:
        # The loop below looks only every few seconds; no batch may begin in between.
        if is_asked_to_stop():
            batches.close()
        batches.process_batch(batch)

    try:
        query = source.start(checkpoint, process)
    except spark_errors() as stopped:
        raise _stream_error(stopped, batches, source, checkpoint) from None
    try:
        while not query.awaitTermination(WATCH_SECONDS):
            if not source.exists():
                raise source.gone_error()
            if is_asked_to_stop():
                context.progress.note("stopping after this batch; the next start continues after it")
                await_commit(query, batches.close())
                break
    except StreamingQueryException as stopped:
        if not batches.has_refused:
            raise _stream_error(stopped, batches, source, checkpoint) from None
    finally:
        query.stop()
    if batches.failed is not None:
        raise _stream_error(batches.failed, batches, source, checkpoint)


def _source(store: TableStore, request: StreamRequest, settings: Settings) -> StreamSource:
    topic, spark, every = topic_in(request), store.spark, request.every
    if topic is not None:
        most = request.max_records or settings.stream.max_records
        return TopicSource(spark, topic, request.kafka_config, every=every, most=most)
    most = request.max_files or settings.stream.max_files
    prefix = landing_prefix(request.source)
    if prefix is not None:
        return ObjectSource(spark, prefix, every=every, most=most)
    return FolderSource(spark, request.source, every=every, most=most)


def _checkpoint(location: Location, key: bytes, dialect: str) -> str:
    """Return the path of the checkpoint in the lake, one per source and dialect."""
    _check_has_folder(location)
    name = hashlib.sha256(key + b"\n" + dialect.encode()).hexdigest()[:16]
    return location.table_path(f"_checkpoints/{name}")


def _check_has_folder(location: Location) -> None:
    """Check that the lake has a folder for the checkpoint. Raises: UsageError CHECKPOINT_MISSING."""
    if not location.is_path():
        raise UsageError(
            "CHECKPOINT_MISSING",
            f"{location.describe()} is a schema, which has no folder for a checkpoint",
            "add --checkpoint with a permanent folder or URI",
        )


def _stream_error(
    stopped: BaseException, batches: MicroBatchRun, source: StreamSource, checkpoint: str
) -> BaseException:
    """Return the error that ended the stream: that of a run if it failed, else one for Spark's error."""
    failed = batches.failed
    if isinstance(failed, StrandlineError):
        return failed
    if not source.exists():
        return source.gone_error()
    of_source = source.error_of(str(stopped))
    if of_source is not None:
        return of_source
    if failed is not None:
        return failed
    first = next((line for line in str(stopped).splitlines() if line.strip()), "no message")
    if not batches.has_begun and _IN_USE not in first:
        return checkpoint_damaged(checkpoint, first[:300])
    return FaultError(
        "STREAM_STOPPED",
        f"Spark ended the stream: {first[:300]}",
        "start it again: it continues where it stopped; if it stops again, name a new --checkpoint",
    )
