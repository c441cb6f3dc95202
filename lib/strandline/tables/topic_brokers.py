"""The brokers of a topic: their addresses, the client's settings of encryption and login, and what they are asked."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import Final

from pyspark.sql import SparkSession

from strandline.core.errors import FaultError, UsageError
from strandline.session.engine import (
    BrokersRefuseError,
    BrokersSilentError,
    ClientRefusesError,
    engine_of,
)
from strandline.tables.topics import Topic

CONFIG: Final = "--kafka-config"
CONNECT_SECONDS: Final = 5
"""Timeout of a connection to a broker."""
_PROTOCOL: Final = "security.protocol"
_PREFIXES: Final = ("sasl.", "ssl.")


def with_security(spark: SparkSession, topic: Topic, config: bytes | None) -> tuple[Topic, tuple[str, ...]]:
    """Return the topic with the settings of `--kafka-config`, and the names in the file that have no effect, ascending.

    `config` is a file of Java properties, as `--command-config` of Kafka's tools takes it. Its settings of encryption
    and login are used, so that one file does for all programs of an operator; Spark sets the others.
    Raises: UsageError KAFKA_CONFIG_INVALID.
    """
    if config is None:
        return topic, ()
    # Kafka's tools read the file in this encoding.
    given = engine_of(spark).read_properties(config.decode("latin-1"))
    if given is None:
        raise config_invalid("it is no file of Java properties")
    used = {name: value for name, value in given.items() if name == _PROTOCOL or name.startswith(_PREFIXES)}
    if _PROTOCOL not in used:
        raise config_invalid(f"it does not set {_PROTOCOL}")
    return replace(topic, security=used), tuple(sorted(given.keys() - used.keys()))


def check_reachable(topic: Topic) -> None:
    """Check that one of the brokers accepts a connection. Raises: FaultError SOURCE_UNREACHABLE."""
    for broker in topic.brokers.split(","):
        host, _, port = broker.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS):
                return
        except (OSError, OverflowError):
            continue
    raise unreachable(topic)


class TopicWatch:
    """Asks the brokers whether a topic exists. Must be closed.

    Without a JVM of its own, or with Kafka's classes under other names, a session cannot ask: the answer is then "".
    """

    def __init__(self, spark: SparkSession, topic: Topic) -> None:
        self._topic = topic
        try:
            self._brokers = engine_of(spark).open_brokers(topic.brokers, topic.security)
        except BrokersSilentError:
            raise unreachable(topic) from None
        except ClientRefusesError as error:
            raise config_invalid(str(error)) from None

    def topic_id(self) -> str | None:
        """Return the id of the topic, None if it does not exist, "" if the session cannot ask the brokers.

        Raises: FaultError SOURCE_UNREACHABLE, UsageError SOURCE_DENIED.
        """
        if self._brokers is None:
            return ""
        try:
            return self._brokers.topic_id(self._topic.name)
        except BrokersSilentError:
            raise unreachable(self._topic) from None
        except BrokersRefuseError as error:
            raise denied(self._topic, str(error)) from None

    def close(self) -> None:
        """Close the connection."""
        if self._brokers is not None:
            self._brokers.close()


def unreachable(topic: Topic) -> FaultError:
    """Return the error of brokers that do not answer."""
    return FaultError(
        "SOURCE_UNREACHABLE",
        f"No broker of {topic.source} answers",
        f"check that it runs, that this machine can reach it, and that {CONFIG} has its encryption and login; "
        "then start the stream again: it continues",
    )


def denied(topic: Topic, why: str) -> UsageError:
    """Return the error of brokers that refuse a login or a right."""
    return UsageError(
        "SOURCE_DENIED",
        f"{topic.source} cannot be read: {why}",
        f"check the login in {CONFIG}, and that its user may describe and read the topic",
    )


def config_invalid(why: str) -> UsageError:
    """Return the error of a file that Kafka's client cannot use."""
    return UsageError(
        "KAFKA_CONFIG_INVALID",
        f"the file of {CONFIG} cannot be used: {why}",
        "name a file of Kafka's client settings: security.protocol, and what it needs of sasl.* and ssl.*",
    )
