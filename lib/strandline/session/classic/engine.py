"""A classic session as an engine: everything is answered by its JVM."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType

from pyspark.sql import DataFrame, SparkSession

from strandline.session.classic import relations
from strandline.session.classic.brokers import Brokers, open_brokers, read_properties
from strandline.session.classic.copies import SessionCopy
from strandline.session.classic.ending import end_context
from strandline.session.classic.plans import Plans
from strandline.session.classic.shipping import ship_package
from strandline.session.engine import Counter


class ClassicEngine:
    """Implements `engine.Engine`."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._context = spark.sparkContext

    def ship(self, package: ModuleType) -> None:
        """Add the package's archive under a name that Spark puts on the path of workers."""
        ship_package(self._context, package)

    def copy(self) -> SessionCopy:
        """Return another session in the same JVM."""
        return SessionCopy(self._spark)

    def new_counter(self) -> Counter:
        """Return an accumulator."""
        return self._context.accumulator(0)

    def nullable(self, rows: DataFrame) -> DataFrame:
        """Return the rows, read with a nullable schema."""
        return relations.nullable(rows)

    def open_brokers(self, addresses: str, security: Mapping[str, str]) -> Brokers | None:
        """Connect by the client of Spark's connector."""
        return open_brokers(self._spark, addresses, security)

    def read_properties(self, text: str) -> dict[str, str] | None:
        """Return what the JVM reads."""
        return read_properties(self._spark, text)

    def plans(self) -> Plans:
        """Return the plans of the JVM."""
        return Plans(self._spark)

    def ender(self) -> Callable[[], None]:
        """Return the function that kills the JVM, if this process started it."""
        return partial(end_context, self._context)
