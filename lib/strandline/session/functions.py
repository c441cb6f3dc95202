"""The SQL table functions of dialects."""

from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udtf

from strandline.dialects import every


def register(spark: SparkSession) -> None:
    """Register the table functions of all dialects in a session."""
    for dialect in every():
        for name, (handler, columns) in dialect.table_functions.items():
            made: Any = arrow_udtf(handler, returnType=columns)
            spark.udtf.register(name, made)
