"""Copies of a session, for statements that run at once."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame


def copy_session(spark: SparkSession) -> SparkSession:
    """Return a session in the same JVM, with the settings and temporary views that `spark` has now."""
    session: Any = spark._jsparkSession  # noqa: SLF001 - a new session of pyspark has none of the settings
    return SparkSession(spark.sparkContext, session.cloneSession())


def adopted(rows: DataFrame, spark: SparkSession) -> DataFrame:
    """Return a frame of another session of the same JVM as one of `spark`: the same analysed plan."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - pyspark cannot make a frame of a plan
    plan: Any = rows._jdf.queryExecution().analyzed()  # noqa: SLF001
    session: Any = spark._jsparkSession  # noqa: SLF001
    return ClassicDataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, plan), spark)
