"""Turns Spark's errors about a query into UsageErrors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    IllegalArgumentException,
    NumberFormatException,
    PySparkException,
    PySparkTypeError,
    PythonException,
    SparkRuntimeException,
    UnsupportedOperationException,
)

from strandline.contracts.views import view_names
from strandline.core.errors import UsageError
from strandline.core.nearest import did_you_mean
from strandline.tables import views
from strandline.tables.spark_errors import spark_errors, unclassed

_PLACE: Final = re.compile(r"line (?P<line>\d+),? (?:(?P<from0>pos)|position) (?P<at>\d+)")
"""A place in a query, counted from 0 (`pos`) or from 1 (`position`)."""

_OURS: Final = re.compile(r"^strandline\.[\w.]+: (?P<message>.+)$", re.MULTILINE)
"""The line of a worker's traceback with an error of Strandline."""

_OF_THE_QUERY: Final = (
    AnalysisException, ArithmeticException, ArrayIndexOutOfBoundsException, DateTimeException, IllegalArgumentException,
    NumberFormatException, PySparkTypeError, SparkRuntimeException, UnsupportedOperationException,
)  # fmt: skip
"""What Spark raises for an invalid query, or one that fails on a value."""


@contextmanager
def query_errors() -> Iterator[None]:
    """Turn errors of Spark about a query, and of rows that cannot be shown, into UsageError QUERY_INVALID."""
    try:
        yield
    except _OF_THE_QUERY as error:
        raise _invalid(error) from None
    except PythonException as error:
        ours = _OURS.search(str(error))
        if ours is None:
            raise
        raise UsageError("QUERY_INVALID", ours["message"], "") from None
    except spark_errors() as error:
        raised = unclassed(error)
        if raised is None:
            raise
        name, message = raised
        if name.endswith(".SqlScriptingException"):
            raise UsageError("QUERY_INVALID", first_sentence(message), "write one query") from None
        if name != "java.lang.StackOverflowError":
            raise
        raise UsageError(
            "QUERY_INVALID",
            "the query is nested too deeply for the stack of Spark's JVM",
            "write it with fewer levels of brackets, functions or subqueries",
        ) from None
    except OverflowError as error:
        raise UsageError(
            "QUERY_INVALID",
            f"the rows hold a date that cannot be shown: {error}",
            "convert it to text: CAST(x AS STRING)",
        ) from None
    except UnicodeDecodeError:
        raise UsageError(
            "QUERY_INVALID",
            "the rows hold a text that is not UTF-8",
            "show it with make_valid_utf8(x) or hex(x)",
        ) from None


def _invalid(error: PySparkException) -> UsageError:
    if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND":
        given = (error.getMessageParameters() or {}).get("relationName", "").replace("`", "")
        is_missing = given.lower() in view_names()
        return UsageError(
            "QUERY_INVALID",
            f"there is no table or view {given}{_place(str(error))}",
            "create the views of the lake: `strandline init --schema CATALOG.SCHEMA` keeps its tables"
            if is_missing
            else did_you_mean(given.rpartition(".")[2], views.names()),
        )
    return UsageError(
        "QUERY_INVALID",
        first_sentence(str(error)),
        "correct the query; `strandline sql 'SHOW TABLES'` lists tables",
    )


def first_sentence(text: str) -> str:
    """Return the first line of a Spark error without error class and SQLSTATE, with the position in the query."""
    first = text.strip().partition("\n")[0]
    sentence = first.partition(" SQLSTATE: ")[0]
    return f"{sentence.partition('] ')[2] or sentence}".rstrip(".") + _place(text)


def _place(text: str) -> str:
    """Return the position as ` (line 1, position 8)`, or an empty text; Spark has several formats for it."""
    found = _PLACE.search(text)
    return (
        f" (line {found['line']}, position {int(found['at']) + (found['from0'] is not None)})"
        if found
        else ""
    )
