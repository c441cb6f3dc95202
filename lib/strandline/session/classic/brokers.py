"""Asks the brokers of Kafka, with the client that Spark's connector brings into the JVM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from strandline.session.engine import BrokersRefuseError, BrokersSilentError, ClientRefusesError

SECONDS: Final = 20
"""Timeout of a question to the brokers."""
_MISSING: Final = "UnknownTopicOrPartitionException"
_REFUSED: Final = ("AuthenticationException", "AuthorizationException")
"""How the names of classes end that Kafka's client throws when a broker refuses a login or a right."""
_ADDRESSES: Final = "bootstrap"
_SAFE: Final = ("ConfigException", "KafkaException", "NoSuchFileException")
"""Exceptions of the client whose texts show no secret: those about a JAAS configuration show parts of it."""


class Brokers:
    """A connection to brokers. Must be closed."""

    def __init__(self, jvm: Any, client: Any) -> None:
        self._jvm = jvm
        self._admin = client

    def topic_id(self, name: str) -> str | None:
        """Return the id of a topic, None if it does not exist. Raises: BrokersSilentError, BrokersRefuseError."""
        asked = self._admin.describeTopics([name]).allTopicNames()
        try:
            found = asked.get(SECONDS, self._jvm.java.util.concurrent.TimeUnit.SECONDS)
        except Py4JJavaError as error:
            kind, text = _cause(error)
            if kind == _MISSING:
                return None
            if kind.endswith(_REFUSED):
                raise BrokersRefuseError(text) from None
            raise BrokersSilentError from None
        return str(found.get(name).topicId().toString())

    def close(self) -> None:
        """Close the connection."""
        self._admin.close(self._jvm.java.time.Duration.ofSeconds(1))


def open_brokers(spark: SparkSession, addresses: str, security: Mapping[str, str]) -> Brokers | None:
    """Connect to brokers (`host:port`, separated by commas); None if the JVM has Kafka's classes under other names.

    Raises: BrokersSilentError, ClientRefusesError.
    """
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - pyspark has no other way to Kafka's own client
    client = jvm.org.apache.kafka.clients.admin.AdminClient
    if not isinstance(client, JavaClass):
        return None
    settings = jvm.java.util.Properties()
    for name, value in security.items():
        settings.put(name, value)
    settings.put("bootstrap.servers", addresses)
    settings.put("default.api.timeout.ms", str(SECONDS * 1000))
    settings.put("request.timeout.ms", str(SECONDS * 500))
    try:
        return Brokers(jvm, client.create(settings))
    except Py4JJavaError as error:
        kind, text = _cause(error)
        if _ADDRESSES in text:
            raise BrokersSilentError from None
        raise ClientRefusesError(text if kind in _SAFE else kind) from None


def read_properties(spark: SparkSession, text: str) -> dict[str, str] | None:
    """Return the names and values of a text of Java properties, None if it is none."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - Java knows its own format
    found = jvm.java.util.Properties()
    try:
        found.load(jvm.java.io.StringReader(text))
    except IllegalArgumentException:
        return None
    return {str(name): str(found.getProperty(name)) for name in found.stringPropertyNames()}


def _cause(error: Py4JJavaError) -> tuple[str, str]:
    """Return the class, without its package, and the text of the first cause of an exception of the JVM."""
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return str(cause.getClass().getSimpleName()), str(cause.getMessage() or "")
