"""Ends a session at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def end_session(session: SparkSession) -> None:
    """Kill the JVM of a session that this process started; its commits stay."""
    context = context_of(session)
    gateway = None if context is None else context._gateway  # noqa: SLF001 - pyspark has no public access to its JVM
    started: Any = getattr(gateway, "proc", None)
    if started is None:
        return
    # The server for accumulators prints a traceback if the JVM ends while it sends an update.
    updates: Any = getattr(context, "_accumulatorServer", None)
    if updates is not None:
        updates.handle_error = _pass_over
    started.kill()


def context_of(session: SparkSession) -> SparkContext | None:
    """Return the session's context, or None on Spark Connect."""
    from pyspark.errors import PySparkException

    try:
        return session.sparkContext
    except (PySparkException, AttributeError):
        return None


def _pass_over(_request: object, _address: object) -> None:
    """Do nothing about an error of a request."""
