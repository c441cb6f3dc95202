"""A Kafka topic as a stream of offsets; Spark's checkpoint stores which messages were read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from strandline.core.errors import FaultError, UsageError
from strandline.frames.provenance import message_source

SCHEME: Final = "kafka://"
_SOURCE: Final = re.compile(
    r"kafka://((?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}"
    r"(?:,(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5})*)/([A-Za-z0-9._-]{1,249})"
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: `brokers` (host:port, separated by commas), its name, and the client's settings of security.

    The settings may be secrets: no text about a topic shows them.
    """

    brokers: str
    name: str
    security: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def source(self) -> str:
        """Its form on the command line."""
        return f"{SCHEME}{self.brokers}/{self.name}"

    @property
    def options(self) -> Mapping[str, str]:
        """The options of Spark's connector for its brokers."""
        return {
            "kafka.bootstrap.servers": self.brokers,
            **{f"kafka.{name}": value for name, value in self.security.items()},
        }


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages of a topic: for each partition the first offset and the offset after the last.

    `count` and `size` (bytes of their values) are as of the micro-batch.
    """

    topic: Topic
    offsets: Mapping[int, tuple[int, int]]
    count: int
    size: int

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the messages, each as a file of one line.

        Gives:  source (the topic's, then `/partition@offset`), content (BINARY: the value, with a line feed added if it
                ends with none; empty for a message without a value).
        Rows:   one per message.
        """
        topic = self.topic

        def ends(at: int) -> str:
            return json.dumps({topic.name: {str(part): each[at] for part, each in self.offsets.items()}})

        rows = (
            spark.read.format("kafka")
            .options(**topic.options)
            .option("assign", json.dumps({topic.name: sorted(self.offsets)}))
            .option("startingOffsets", ends(0))
            .option("endingOffsets", ends(1))
            .option("failOnDataLoss", "true")
            .load()
        )
        value, end = F.coalesce("value", F.lit(b"")), F.lit(b"\n")
        is_whole = (F.length(value) == 0) | F.endswith(value, end)
        return rows.select(
            message_source(topic.source, F.col("partition"), F.col("offset")).alias("source"),
            F.when(is_whole, value).otherwise(F.concat(value, end)).alias("content"),
        )


def topic_of(source: str) -> Topic | None:
    """Return the topic that `kafka://HOST:PORT[,HOST:PORT…]/TOPIC` names, None for a folder.

    Raises: UsageError TOPIC_INVALID.
    """
    if not source.startswith(SCHEME):
        return None
    found = _SOURCE.fullmatch(source)
    if found is None or found[2] in (".", ".."):
        raise UsageError(
            "TOPIC_INVALID",
            f"{source} is not a topic",
            "write kafka://HOST:PORT/TOPIC, with several brokers kafka://HOST:PORT,HOST:PORT/TOPIC",
        )
    return Topic(found[1], found[2])


def check_connector(spark: SparkSession, coordinate: str) -> None:
    """Check that the session has Spark's Kafka connector. Raises: FaultError KAFKA_MISSING."""
    try:
        spark.readStream.format("kafka").option("kafka.bootstrap.servers", "-").option(
            "subscribe", "-"
        ).load()
    except AnalysisException:
        raise FaultError(
            "KAFKA_MISSING",
            "this Spark session has no Kafka connector, and a running session cannot load jars",
            f"submit with `--packages {coordinate}` in addition to your options",
        ) from None


def topic_frame(spark: SparkSession, topic: Topic, most: int) -> DataFrame:
    """Return the messages of a topic as a stream from the oldest one, at most `most` in a micro-batch."""
    return (
        spark.readStream.format("kafka")
        .options(**topic.options)
        .option("subscribe", topic.name)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", most)
        # Messages that were removed before they were read must end the stream with an error.
        .option("failOnDataLoss", "true")
        .load()
    )


def messages_in(frame: DataFrame, topic: Topic) -> tuple[Messages, datetime | None]:
    """Return the offsets of a micro-batch, and the time of its oldest message (UTC)."""
    rows = (
        frame.groupBy("partition")
        .agg(
            F.min("offset").alias("first"),
            F.max("offset").alias("last"),
            F.count(F.lit(1)).alias("messages"),
            F.sum(F.length("value")).alias("bytes"),
            F.min("timestamp").alias("oldest"),
        )
        .collect()
    )
    offsets = {row["partition"]: (row["first"], row["last"] + 1) for row in rows}
    count, size = sum(row["messages"] for row in rows), sum(row["bytes"] or 0 for row in rows)
    oldest = min((row["oldest"] for row in rows), default=None)
    return Messages(topic, offsets, count, size), None if oldest is None else oldest.astimezone(UTC)
