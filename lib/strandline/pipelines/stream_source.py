"""The sources that `stream` can follow: a folder or a topic; a prefix of a store is in `stream_objects`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from pyspark.sql import SparkSession

from strandline.core.errors import FaultError, StrandlineError, UsageError
from strandline.session.jars import kafka_coordinate
from strandline.tables.checkpoint import is_bound
from strandline.tables.paths import path_text
from strandline.tables.stream import (
    MicroBatch,
    follow_folder,
    follow_topic,
    landing_folder,
    names_not_utf8,
)
from strandline.tables.topic_brokers import CONFIG, TopicWatch, denied, with_security
from strandline.tables.topics import Topic, check_connector

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_LOST: Final = ("KAFKA_DATA_LOSS", "KafkaIllegalStateException")
"""The error of Spark's connector about removed messages: its condition, and the exception of its tasks."""

_REFUSAL: Final = re.compile(
    r"org\.apache\.kafka\.common\.errors\.\w*Auth(?:entication|orization)Exception: (.+)"
)
"""Such an error about the right of a user, with the text of the broker."""

ProcessBatch = Callable[[MicroBatch], None]


class StreamSource(Protocol):
    """A source of a stream."""

    @property
    def key(self) -> bytes:
        """Return the key that distinguishes its checkpoint from others."""

    @property
    def folder(self) -> bytes | None:
        """Return the folder or prefix, None for a topic."""

    def check(self, checkpoint: str) -> None:
        """Check that it exists, before anything is written."""

    def owner(self) -> Mapping[str, str]:
        """Return what a checkpoint stores about it."""

    def notes(self) -> tuple[str, ...]:
        """Return notes to print about it."""

    def start(self, checkpoint: str, process: ProcessBatch) -> StreamingQuery:
        """Start to follow it."""

    def exists(self) -> bool:
        """Return whether it still exists."""

    def gone_error(self) -> FaultError:
        """Return the error for a source that no longer exists."""

    def error_of(self, text: str) -> StrandlineError | None:
        """Return the error for Spark's message about the source itself, None for another message."""

    def close(self) -> None:
        """Release its resources."""


class FolderSource:
    """A folder in which files appear."""

    def __init__(self, spark: SparkSession, source: str, *, every: float | None, most: int) -> None:
        self.folder = self.key = landing_folder(source)
        self._spark = spark
        self._every = every
        self._most = most

    def check(self, checkpoint: str) -> None:
        """Do nothing: the constructor has checked it."""

    def owner(self) -> Mapping[str, str]:
        """Return what a checkpoint stores about it."""
        return {"source": path_text(self.folder)}

    def notes(self) -> tuple[str, ...]:
        """Return notes to print about it."""
        return tuple(
            f"skipped, since its name is not UTF-8: {name}; `strandline ingest` reads it"
            for name in names_not_utf8(self.folder)
        )

    def start(self, checkpoint: str, process: ProcessBatch) -> StreamingQuery:
        """Start to follow it."""
        return follow_folder(
            self._spark, self.folder, checkpoint, most_files=self._most, every=self._every, process=process
        )

    def exists(self) -> bool:
        """Return whether it still exists."""
        return os.path.isdir(self.folder)

    def gone_error(self) -> FaultError:
        """Return the error for a source that no longer exists."""
        return FaultError(
            "SOURCE_GONE",
            f"The folder {path_text(self.folder)} no longer exists",
            "restore it and start the stream again: it continues where it stopped",
        )

    def error_of(self, text: str) -> FaultError | None:
        """Return None: Spark's messages do not tell a folder from a checkpoint."""

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


class TopicSource:
    """A topic of Kafka."""

    folder = None

    def __init__(
        self, spark: SparkSession, topic: Topic, config: bytes | None, *, every: float | None, most: int
    ) -> None:
        check_connector(spark, kafka_coordinate())
        topic, self._without_effect = with_security(spark, topic, config)
        self.key = topic.source.encode()
        self._topic = topic
        self._spark = spark
        self._every = every
        self._most = most
        self._watch = TopicWatch(spark, topic)
        self._id = ""

    def check(self, checkpoint: str) -> None:
        """Raise UsageError SOURCE_MISSING without a topic, FaultError SOURCE_GONE if it was followed before."""
        found = self._watch.topic_id()
        if found is None and is_bound(self._spark, checkpoint):
            raise self.gone_error()
        if found is None:
            raise UsageError(
                "SOURCE_MISSING",
                f"There is no topic {self._topic.name} at {self._topic.brokers}",
                "create it, or name an existing topic",
            )
        self._id = found

    def owner(self) -> Mapping[str, str]:
        """Return what a checkpoint stores about it."""
        # A recreated topic has the old name, but its offsets begin at 0 again.
        return {"source": self._topic.source, **({"topic": self._id} if self._id else {})}

    def notes(self) -> tuple[str, ...]:
        """Return notes to print about it."""
        if not self._without_effect:
            return ()
        return (f"settings of {CONFIG} without effect here: {', '.join(self._without_effect)}",)

    def start(self, checkpoint: str, process: ProcessBatch) -> StreamingQuery:
        """Start to follow it."""
        return follow_topic(
            self._spark, self._topic, checkpoint, most_records=self._most, every=self._every, process=process
        )

    def exists(self) -> bool:
        """Return whether the brokers know it; True if they do not answer, since they may be back later."""
        try:
            return self._watch.topic_id() is not None
        except FaultError:
            return True

    def gone_error(self) -> FaultError:
        """Return the error for a source that no longer exists."""
        return FaultError(
            "SOURCE_GONE",
            f"The topic {self._topic.source} no longer exists",
            "what was ingested stays; to follow a recreated topic, name a new --checkpoint",
        )

    def error_of(self, text: str) -> StrandlineError | None:
        """Return the error for Spark's message about removed messages or a refusal, None for another message."""
        refusal = _REFUSAL.search(text)
        if refusal is not None:
            return denied(self._topic, refusal[1])
        if not any(name in text for name in _LOST):
            return None
        return FaultError(
            "MESSAGES_GONE",
            "The topic no longer has messages that were not ingested yet: Kafka removed them",
            "name a new --checkpoint, which begins with the oldest message; then check `strandline quarantine`",
        )

    def close(self) -> None:
        """Release its resources."""
        self._watch.close()
