"""Rows of another lake on a runtime whose classes are not those of Spark."""

from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JError

from strandline.session.classic.relations import nullable

NO_COPY = (
    "An error occurred while calling o55.copy. Trace:\n"
    "py4j.Py4JException: Method copy([class X, class Y]) does not exist\n"
)


class Relation:
    """A relation of files whose copy cannot be made: py4j says why."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __getattr__(self, name: str):
        return lambda: self

    def copy(self, *_: object) -> None:
        raise Py4JError(self.why)


def rows_of(why: str) -> SimpleNamespace:
    leaf = SimpleNamespace(
        getClass=lambda: SimpleNamespace(getSimpleName=lambda: "LogicalRelation"),
        relation=lambda: Relation(why),
    )
    plan = SimpleNamespace(
        analyzed=lambda: SimpleNamespace(collectLeaves=lambda: SimpleNamespace(head=lambda: leaf))
    )
    return SimpleNamespace(_jdf=SimpleNamespace(queryExecution=lambda: plan), sparkSession=None)


def test_a_runtime_with_other_classes_gives_the_rows_as_they_are():
    rows = rows_of(NO_COPY)
    assert nullable(rows) is rows


def test_another_error_of_the_bridge_is_not_passed_over():
    with pytest.raises(Py4JError, match="Answer from Java side is empty"):
        nullable(rows_of("Answer from Java side is empty"))
