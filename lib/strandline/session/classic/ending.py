"""Ends a session at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext


def end_context(context: SparkContext) -> None:
    """Kill the JVM of a context that this process started; its commits stay."""
    started: Any = getattr(context._gateway, "proc", None)  # noqa: SLF001 - pyspark has no public access to its JVM
    if started is None:
        return
    # The server for accumulators prints a traceback if the JVM ends while it sends an update.
    updates: Any = getattr(context, "_accumulatorServer", None)
    if updates is not None:
        updates.handle_error = _pass_over
    started.kill()


def _pass_over(_request: object, _address: object) -> None:
    """Do nothing about an error of a request."""
