"""The SQL table functions of dialects."""

from typing import Any

from pyspark.sql import SparkSession

from strandline.core.errors import FaultError
from strandline.dialects import every


def register(spark: SparkSession) -> None:
    """Register the table functions of all dialects in a session.

    Raises: FaultError `SPARK_TOO_OLD`.
    """
    try:
        from pyspark.sql.functions import arrow_udtf
    except ImportError:
        raise FaultError(
            "SPARK_TOO_OLD",
            f"this session has Spark {spark.version}, and Strandline needs Spark 4.1 or later",
            "use a newer Spark; on Databricks a runtime of 18 LTS or later",
        ) from None
    for dialect in every():
        for name, (handler, columns) in dialect.table_functions.items():
            made: Any = arrow_udtf(handler, returnType=columns)
            spark.udtf.register(name, made)
