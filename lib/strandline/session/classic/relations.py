"""A table's files read with a schema of our own, which only the JVM can do."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame


def nullable(rows: DataFrame) -> DataFrame:
    """Return the same rows of a table, with all columns nullable.

    Spark does not check for nulls in a column that a table declares as NOT NULL: one in a file ends the job.
    """
    plan: Any = rows._jdf.queryExecution()  # noqa: SLF001 - pyspark has no other way to the plan
    leaf = plan.analyzed().collectLeaves().head()
    if leaf.getClass().getSimpleName() != "LogicalRelation":
        return rows
    files, spark = leaf.relation(), rows.sparkSession
    as_nullable = files.copy(
        files.location(), files.partitionSchema().asNullable(), files.dataSchema().asNullable(), files.bucketSpec(),
        files.fileFormat(), files.options(), files.sparkSession(),
    )  # fmt: skip
    session = spark._jsparkSession  # noqa: SLF001 - pyspark has no other way to a relation's own schema
    return ClassicDataFrame(session.baseRelationToDataFrame(as_nullable), spark)
