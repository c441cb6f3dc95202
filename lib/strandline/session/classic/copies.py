"""Copies of a session, for statements that run at once."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame


class SessionCopy:
    """A session in the same JVM, `spark`, with the settings and temporary views that the original had then."""

    def __init__(self, original: SparkSession) -> None:
        session: Any = original._jsparkSession  # noqa: SLF001 - a new session of pyspark has none of the settings
        self.spark = SparkSession(original.sparkContext, session.cloneSession())

    def adopt(self, rows: DataFrame) -> DataFrame:
        """Return a frame of the original as one of the copy: the same analysed plan."""
        jvm: Any = self.spark.sparkContext._jvm  # noqa: SLF001 - pyspark cannot make a frame of a plan
        plan: Any = rows._jdf.queryExecution().analyzed()  # noqa: SLF001
        session: Any = self.spark._jsparkSession  # noqa: SLF001
        return ClassicDataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, plan), self.spark)
