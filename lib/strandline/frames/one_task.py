"""Settings by which each query is one job with one task a stage."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

ONE_TASK: Final = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""One job with one task a stage for each query of few bytes: no broadcast jobs and no adaptive stages."""


def has_one_task(spark: SparkSession) -> bool:
    """Return whether each stage has one task, as `ONE_TASK` sets it."""
    return all(spark.conf.get(name) == value for name, value in ONE_TASK.items())


def broadcast(frame: DataFrame) -> DataFrame:
    """Return `frame` with the broadcast hint, but not where each stage has one task: there it would cost a job."""
    return frame if has_one_task(frame.sparkSession) else F.broadcast(frame)
