"""The two kinds of session, and what one can do that the other cannot.

A classic session has its JVM behind this process. A session of Spark Connect is a client: it sends plans to a server,
and neither a JVM nor a SparkContext is here. Code that needs one asks `engine_of`; without it, it takes another way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import DataFrame, SparkSession

if TYPE_CHECKING:
    from strandline.session.classic.brokers import Brokers
    from strandline.session.classic.copies import SessionCopy
    from strandline.session.classic.plans import Plans


class BrokersSilentError(Exception):
    """No broker of Kafka answered in time."""


class BrokersRefuseError(Exception):
    """A broker of Kafka refused the login, or a right. The text is the broker's."""


class ClientRefusesError(Exception):
    """Kafka's client refused its settings. The text says why, without a secret."""


class Counter(Protocol):
    """A sum that tasks add to, and that this process reads while they run."""

    @property
    def value(self) -> int:
        """The sum so far."""

    def add(self, term: int) -> None:
        """Add, in a task."""


class Engine(Protocol):
    """What depends on the kind of a session."""

    def ship(self, package: ModuleType) -> None:
        """Make a package importable in Python workers, if this process runs it and the workers may lack it."""

    def copy(self) -> SessionCopy | None:
        """Return a copy of the session for a statement in another thread, or None if it cannot be copied."""

    def new_counter(self) -> Counter | None:
        """Return a counter for tasks, or None without one."""

    def nullable(self, rows: DataFrame) -> DataFrame:
        """Return the rows of a table with all columns nullable, where the session can read them so."""

    def open_brokers(self, addresses: str, security: Mapping[str, str]) -> Brokers | None:
        """Connect to brokers of Kafka, or return None if the session cannot ask them.

        `security` has the client's settings of encryption and login.
        Raises: BrokersSilentError, ClientRefusesError.
        """

    def read_properties(self, text: str) -> dict[str, str] | None:
        """Return the names and values of a text of Java properties; None if it is none, or without a JVM here."""

    def plans(self) -> Plans | None:
        """Return the session's plans, or None if they cannot be read."""

    def ender(self) -> Callable[[], None]:
        """Return the function that ends the session at once."""


def is_connect(spark: SparkSession) -> bool:
    """Return whether the session is a client of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def engine_of(spark: SparkSession) -> Engine:
    """Return the engine of a session."""
    if is_connect(spark):
        from strandline.session.connect import ConnectEngine

        return ConnectEngine(spark)
    from strandline.session.classic.engine import ClassicEngine

    return ClassicEngine(spark)
