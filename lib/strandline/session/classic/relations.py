"""A table's files read with a schema of our own, which only the JVM can do."""

from __future__ import annotations

from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

_NO_METHOD: Final = "Py4JException: Method "
"""What py4j says of an object without a method of this name and these arguments."""


def nullable(rows: DataFrame) -> DataFrame:
    """Return the same rows of a table, with all columns nullable.

    Spark does not check for nulls in a column that a table declares as NOT NULL: one in a file ends the job. A runtime
    whose classes are not those of Spark, as that of Databricks may be, gives the rows as they are.
    """
    plan: Any = rows._jdf.queryExecution()  # noqa: SLF001 - pyspark has no other way to the plan
    leaf = plan.analyzed().collectLeaves().head()
    if leaf.getClass().getSimpleName() != "LogicalRelation":
        return rows
    files, spark = leaf.relation(), rows.sparkSession
    try:
        as_nullable = files.copy(
            files.location(), files.partitionSchema().asNullable(), files.dataSchema().asNullable(), files.bucketSpec(),
            files.fileFormat(), files.options(), files.sparkSession(),
        )  # fmt: skip
    except Py4JError as unlike:
        if _NO_METHOD not in str(unlike):
            raise
        return rows
    session = spark._jsparkSession  # noqa: SLF001 - pyspark has no other way to a relation's own schema
    return ClassicDataFrame(session.baseRelationToDataFrame(as_nullable), spark)
