"""A client of Spark Connect as an engine. The server has the JVM: here are only plans, rows and settings."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Final
from weakref import WeakSet

from pyspark.sql import DataFrame, SparkSession

from strandline.session.package_archive import pack
from strandline.session.private import make_private

_HAVE_THE_PACKAGE: Final[WeakSet[SparkSession]] = WeakSet()
"""Sessions to which the package was sent: a server refuses the same artifact with other bytes."""


class ConnectEngine:
    """Implements `engine.Engine`."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def ship(self, package: ModuleType) -> None:
        """Send the package as an artifact of this session; the server puts it on the path of workers, before others."""
        if self._spark in _HAVE_THE_PACKAGE:
            return
        folder = make_private(Path(tempfile.gettempdir())).path
        self._spark.addArtifacts(str(pack(package, folder)), pyfile=True)
        _HAVE_THE_PACKAGE.add(self._spark)

    def copy(self) -> None:
        """Return None: another client of the server would not have the frames of this one."""

    def new_counter(self) -> None:
        """Return None: there are no accumulators."""

    def nullable(self, rows: DataFrame) -> DataFrame:
        """Return the rows as they are: a client cannot change the schema with which a server reads a table."""
        return rows

    def open_brokers(self, addresses: str, security: Mapping[str, str]) -> None:
        """Return None: Kafka's client is in the server."""

    def read_properties(self, text: str) -> None:
        """Return None: there is no JVM here."""

    def plans(self) -> None:
        """Return None: plans stay in the server."""

    def ender(self) -> Callable[[], None]:
        """Return the function that interrupts the session's queries."""
        return self._end

    def _end(self) -> None:
        self._spark.interruptAll()
