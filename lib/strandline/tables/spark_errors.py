"""Errors of Spark, the same for a classic session and for Spark Connect: known by conditions, not by classes.

A condition is a name in Spark's or Delta's list of errors, for example `DELTA_CONCURRENT_APPEND`. The classes differ: a
classic session raises errors of py4j for what Spark itself does not know, a client of Spark Connect has no py4j.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Final

from pyspark.errors import PySparkException

_ABSENT: Final = frozenset(
    {
        "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "PATH_NOT_FOUND", "DELTA_TABLE_NOT_FOUND",
        "DELTA_MISSING_DELTA_TABLE", "DELTA_PATH_DOES_NOT_EXIST",
    }
)  # fmt: skip
_CONDITION: Final = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")


def spark_errors() -> tuple[type[Exception], ...]:
    """Return the classes of the errors that Spark raises in this process."""
    # Without this module no error of py4j can exist.
    bridge: Any = sys.modules.get("py4j.protocol")
    return (PySparkException,) if bridge is None else (PySparkException, bridge.Py4JError)


def condition_of(error: BaseException) -> str | None:
    """Return the condition of an error without its subcondition, or None for an error without one."""
    stated: str | None = error.getCondition() if isinstance(error, PySparkException) else None
    if stated is None:
        # Delta's own classes have no condition on a classic session, but all messages begin with it.
        found = _CONDITION.search(str(error).partition("\n\tat ")[0])
        stated = found[1] if found else None
    return None if stated is None else stated.partition(".")[0]


def is_absent(error: BaseException) -> bool:
    """Return whether the table, its schema or its path does not exist."""
    return condition_of(error) in _ABSENT


def unclassed(error: BaseException) -> tuple[str, str] | None:
    """Return Java's class and message of an error that pyspark has no class for, on a classic session, else None."""
    raised: Any = getattr(error, "java_exception", None)
    return None if raised is None else (str(raised.getClass().getName()), str(raised.getMessage()))
