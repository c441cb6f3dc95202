"""A bug in a kernel, inside of Spark's Python workers, for as long as a block runs."""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql.classic.dataframe import DataFrame

SECRET = "what a record holds"
"""The text of the bug, which may tell of the record: nobody is shown it."""


@contextmanager
def broken_kernel(module: str, name: str, is_met: Callable[..., bool]) -> Iterator[None]:
    """The function `name` of `module` raises in every task where `is_met` says so of its arguments.

    `is_met` travels to the workers by value: it is a lambda, or a function inside of a function.
    """
    original = DataFrame.mapInArrow

    def with_bug(frame: DataFrame, kernel: Callable[..., Any], *given: Any, **more: Any) -> DataFrame:
        def run(batches: Iterator[Any]) -> Iterator[Any]:
            broken = importlib.import_module(module)
            sound = getattr(broken, name)

            def function(*arguments: Any, **named: Any) -> Any:
                if is_met(*arguments):
                    raise ZeroDivisionError(SECRET)
                return sound(*arguments, **named)

            setattr(broken, name, function)
            try:
                yield from kernel(batches)
            finally:
                setattr(broken, name, sound)

        return original(frame, run, *given, **more)

    DataFrame.mapInArrow = with_bug
    try:
        yield
    finally:
        DataFrame.mapInArrow = original
