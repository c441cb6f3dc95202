"""Names the column that a table has lost or has with another type, after Spark refused a statement."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strandline.cli.invocation import Invocation

_CAUSE = "AnalysisException"
"""Spark's error about a statement, on a classic session and over Connect: nothing was read or written."""


class LostColumns:
    """Raises TABLE_DIFFERS in place of an error of Spark's analysis, if the columns of a table differ.

    A local lake is looked at when it is opened. Of any other that would take a statement for each table, so it is
    looked at after an error.
    """

    def __init__(self, call: "Invocation") -> None:
        self._call = call

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise UsageError TABLE_DIFFERS in place of `error`."""
        if kind is None or kind.__name__ != _CAUSE or self._call.location.is_local():
            return
        from strandline.tables.column_checks import lost_column
        from strandline.tables.reads import TableReads

        sessions: Any = sys.modules["pyspark.sql"]
        spark = sessions.SparkSession.getActiveSession()
        lost = None if spark is None else lost_column(TableReads(spark, self._call.location))
        if lost is not None:
            raise lost from error
