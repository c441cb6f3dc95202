"""Asks the brokers of Kafka, with the client that Spark's connector brings into the JVM."""

from __future__ import annotations

from typing import Any, Final

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from strandline.session.engine import BrokersSilentError

SECONDS: Final = 20
"""Timeout of a question to the brokers."""
_MISSING: Final = "UnknownTopicOrPartitionException"


class Brokers:
    """A connection to brokers. Must be closed."""

    def __init__(self, jvm: Any, client: Any) -> None:
        self._jvm = jvm
        self._admin = client

    def topic_id(self, name: str) -> str | None:
        """Return the id of a topic, None if it does not exist. Raises: BrokersSilentError."""
        asked = self._admin.describeTopics([name]).allTopicNames()
        try:
            found = asked.get(SECONDS, self._jvm.java.util.concurrent.TimeUnit.SECONDS)
        except Py4JJavaError as error:
            if _MISSING in str(error.java_exception.toString()):
                return None
            raise BrokersSilentError from None
        return str(found.get(name).topicId().toString())

    def close(self) -> None:
        """Close the connection."""
        self._admin.close(self._jvm.java.time.Duration.ofSeconds(1))


def open_brokers(spark: SparkSession, addresses: str) -> Brokers | None:
    """Connect to brokers (`host:port`, separated by commas); None if the JVM has Kafka's classes under other names.

    Raises: BrokersSilentError.
    """
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - pyspark has no other way to Kafka's own client
    client = jvm.org.apache.kafka.clients.admin.AdminClient
    if not isinstance(client, JavaClass):
        return None
    settings = jvm.java.util.Properties()
    settings.put("bootstrap.servers", addresses)
    settings.put("default.api.timeout.ms", str(SECONDS * 1000))
    settings.put("request.timeout.ms", str(SECONDS * 500))
    try:
        return Brokers(jvm, client.create(settings))
    except Py4JJavaError:
        raise BrokersSilentError from None
