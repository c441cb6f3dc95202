"""What a text asks of Spark: one query, or something else; and what Spark says of it, as errors of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from py4j.java_gateway import is_instance_of
from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    IllegalArgumentException,
    NumberFormatException,
    ParseException,
    PySparkException,
    PySparkTypeError,
    PythonException,
    SparkRuntimeException,
    UnsupportedOperationException,
)
from pyspark.sql import SparkSession

from strandline.core.errors import FaultError, UsageError
from strandline.core.nearest import did_you_mean
from strandline.tables import views

_COMMAND: Final = "org.apache.spark.sql.catalyst.plans.logical.Command"
_LOOKS: Final = ("Show", "Describe", "Explain")
"""Commands of these names look and change nothing."""

_PLACE: Final = re.compile(r"line (?P<line>\d+),? (?:(?P<from0>pos)|position) (?P<at>\d+)")
"""A place in a query, counted from 0 (`pos`) or from 1 (`position`)."""

_TAIL: Final = re.compile(r";(\s|--[^\n]*|/\*.*?\*/)*\Z", re.DOTALL)
"""A semicolon with nothing but comments behind it."""

_STARTS_PROCESSES: Final = "ScriptTransformation"
_CALLS_JAVA: Final = frozenset({"reflect", "java_method", "try_reflect"})

_OURS: Final = re.compile(r"^strandline\.[\w.]+: (?P<message>.+)$", re.MULTILINE)
"""The line in which a worker tells an error of ours."""

_OF_THE_QUERY: Final = (
    AnalysisException, ArithmeticException, ArrayIndexOutOfBoundsException, DateTimeException, IllegalArgumentException,
    NumberFormatException, PySparkTypeError, SparkRuntimeException, UnsupportedOperationException,
)  # fmt: skip
"""What Spark raises for a query that it does not understand, or that fails on a value."""


def check_changes_nothing(spark: SparkSession, text: str) -> None:
    """See that `text` is one query, or looks at tables; Spark's own parser says so, and nothing is run.

    These hold of what is let through:
    - it is one statement, and that is SHOW, DESCRIBE, EXPLAIN or a query. A query is what also stands in parentheses:
      `SELECT * FROM (text)` parses, which no INSERT, WITH .. INSERT, CALL or EXECUTE IMMEDIATE does;
    - a query starts no process (TRANSFORM .. USING) and calls no Java method by name (reflect).

    Raises: UsageError QUERY_INVALID, QUERY_REFUSED; FaultError PARSER_NOT_REACHED in a session of Spark Connect.
    """
    plan = _parsed(spark, text)
    name = str(plan.getClass().getSimpleName())
    if name.startswith(_LOOKS):
        return
    if is_instance_of(spark.sparkContext._gateway, plan, _COMMAND) or not _stands_in_parentheses(spark, text):  # noqa: SLF001
        raise _refused("this is no query but a statement that may change something, or more than one")
    for node in _nodes(plan):
        if node.getClass().getSimpleName() == _STARTS_PROCESSES:
            raise _refused("TRANSFORM .. USING starts a process")
        called = _CALLS_JAVA & set(_functions(node))
        if called:
            raise _refused(f"{min(called)} calls Java by name")


@contextmanager
def asked_of_spark() -> Iterator[None]:
    """Turn what Spark says of a query into UsageError QUERY_INVALID."""
    try:
        yield
    except _OF_THE_QUERY as error:
        raise _invalid(error) from None
    except PythonException as error:
        ours = _OURS.search(str(error))
        if ours is None:
            raise
        raise UsageError("QUERY_INVALID", ours["message"], "") from None
    except OverflowError as error:
        raise UsageError(
            "QUERY_INVALID",
            f"the rows hold a date that cannot be shown: {error}",
            "give it as text: CAST(x AS STRING)",
        ) from None


def _parsed(spark: SparkSession, text: str) -> Any:
    try:
        parser = spark._jsparkSession.sessionState().sqlParser()  # noqa: SLF001
    except (AttributeError, PySparkException):
        raise FaultError(
            "PARSER_NOT_REACHED",
            "over Spark Connect a query cannot be checked to change nothing",
            "run the query in the platform's own SQL editor, over the same tables and views",
        ) from None
    return parser.parsePlan(text)


def _stands_in_parentheses(spark: SparkSession, text: str) -> bool:
    bodies = {text.rstrip().rstrip(";"), _TAIL.sub("", text)}
    return any(_parses(spark, body) for body in bodies)


def _parses(spark: SparkSession, body: str) -> bool:
    # On lines of its own, so that a comment at the end does not swallow the closing parenthesis.
    try:
        _parsed(spark, f"SELECT * FROM (\n{body}\n)")
    except ParseException:
        return False
    return True


def _nodes(plan: Any) -> Iterator[Any]:
    """Yield every node of a plan: children, common table expressions, subqueries."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        yield node
        for more in (node.children(), node.innerChildren(), node.subqueries()):
            waiting += _items(more)


def _functions(node: Any) -> Iterator[str]:
    """Yield the names of the functions that a node's own expressions call, folded."""
    waiting = _items(node.expressions())
    while waiting:
        expression = waiting.pop()
        waiting += _items(expression.children())
        if expression.getClass().getSimpleName() == "UnresolvedFunction":
            yield str(expression.nameParts().last()).casefold()


def _items(found: Any) -> list[Any]:
    return [found.apply(at) for at in range(found.size())]


def _refused(why: str) -> UsageError:
    return UsageError(
        "QUERY_REFUSED",
        f"sql runs one query and changes nothing: {why}",
        "write one SELECT, WITH, VALUES, SHOW, DESCRIBE or EXPLAIN; use spark-sql for anything else",
    )


def _invalid(error: PySparkException) -> UsageError:
    if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND":
        given = (error.getMessageParameters() or {}).get("relationName", "").replace("`", "")
        return UsageError(
            "QUERY_INVALID",
            f"there is no table or view {given}{_place(str(error))}",
            did_you_mean(given.rpartition(".")[2], views.names()),
        )
    return UsageError(
        "QUERY_INVALID", told(str(error)), "mend the query; `strandline sql 'SHOW TABLES'` lists tables"
    )


def told(text: str) -> str:
    """Return Spark's first line of an error, with its position, without its marks for machines."""
    first = text.strip().partition("\n")[0]
    sentence = first.partition(" SQLSTATE: ")[0]
    return f"{sentence.partition('] ')[2] or sentence}".rstrip(".") + _place(text)


def _place(text: str) -> str:
    """Return ` (line 1, position 8)`, in the words of whichever part of Spark names it, or nothing."""
    found = _PLACE.search(text)
    return (
        f" (line {found['line']}, position {int(found['at']) + (found['from0'] is not None)})"
        if found
        else ""
    )
