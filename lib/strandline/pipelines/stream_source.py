"""What `stream` follows: a folder or a topic, the same to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import SparkSession

from strandline.core.errors import FaultError, UsageError
from strandline.session.jars import kafka_coordinate
from strandline.tables.paths import path_text
from strandline.tables.stream import (
    MicroBatch,
    follow_folder,
    follow_topic,
    is_bound,
    landing_folder,
    unspelled,
)
from strandline.tables.topics import Topic, TopicWatch, check_connector

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

Land = Callable[[MicroBatch], None]


class Followed(Protocol):
    """A source that is followed."""

    @property
    def key(self) -> bytes:
        """Return what tells its checkpoint from others."""

    @property
    def folder(self) -> bytes | None:
        """Return the folder, None for a topic."""

    def check(self, checkpoint: str) -> None:
        """See that it is there, before anything is written."""

    def owner(self) -> Mapping[str, str]:
        """Return what a checkpoint says of it."""

    def notes(self) -> tuple[str, ...]:
        """Return what is to be told of it."""

    def start(self, checkpoint: str, land: Land) -> StreamingQuery:
        """Start to follow it."""

    def is_there(self) -> bool:
        """Return whether it is there still."""

    def gone(self) -> FaultError:
        """Return the error of a source that is not there."""

    def close(self) -> None:
        """Let it go."""


class FollowedFolder:
    """A folder in which files land."""

    def __init__(self, spark: SparkSession, source: str, *, every: float | None, most: int) -> None:
        self.folder = self.key = landing_folder(source)
        self._spark = spark
        self._every = every
        self._most = most

    def check(self, checkpoint: str) -> None:
        """Do nothing: that it is there was seen when it was named."""

    def owner(self) -> Mapping[str, str]:
        """Return what a checkpoint says of it."""
        return {"source": path_text(self.folder)}

    def notes(self) -> tuple[str, ...]:
        """Return what is to be told of it."""
        return tuple(
            f"passed over, since its name is not UTF-8: {name}; `strandline ingest` reads it"
            for name in unspelled(self.folder)
        )

    def start(self, checkpoint: str, land: Land) -> StreamingQuery:
        """Start to follow it."""
        return follow_folder(
            self._spark, self.folder, checkpoint, most_files=self._most, every=self._every, land=land
        )

    def is_there(self) -> bool:
        """Return whether it is there still."""
        return os.path.isdir(self.folder)

    def gone(self) -> FaultError:
        """Return the error of a source that is not there."""
        return FaultError(
            "SOURCE_GONE",
            f"The folder {path_text(self.folder)} is no longer there",
            "put it back and start the stream again: it goes on where it was",
        )

    def close(self) -> None:
        """Do nothing: nothing is held."""


class FollowedTopic:
    """A topic of Kafka."""

    folder = None

    def __init__(self, spark: SparkSession, topic: Topic, *, every: float | None, most: int) -> None:
        check_connector(spark, kafka_coordinate())
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
            raise self.gone()
        if found is None:
            raise UsageError(
                "SOURCE_MISSING",
                f"There is no topic {self._topic.name} at {self._topic.brokers}",
                "make it, or name the topic to which messages are sent",
            )
        self._id = found

    def owner(self) -> Mapping[str, str]:
        """Return what a checkpoint says of it."""
        # A topic that was made again has the name of the old one, but its offsets begin anew.
        return {"source": self._topic.source, **({"topic": self._id} if self._id else {})}

    def notes(self) -> tuple[str, ...]:
        """Return what is to be told of it."""
        return ()

    def start(self, checkpoint: str, land: Land) -> StreamingQuery:
        """Start to follow it."""
        return follow_topic(
            self._spark, self._topic, checkpoint, most_records=self._most, every=self._every, land=land
        )

    def is_there(self) -> bool:
        """Return whether brokers know it; those that do not answer now may answer again."""
        try:
            return self._watch.topic_id() is not None
        except FaultError:
            return True

    def gone(self) -> FaultError:
        """Return the error of a source that is not there."""
        return FaultError(
            "SOURCE_GONE",
            f"The topic {self._topic.source} is no longer there",
            "what was landed stands; to follow a topic made anew name a new --checkpoint",
        )

    def close(self) -> None:
        """Let it go."""
        self._watch.close()
