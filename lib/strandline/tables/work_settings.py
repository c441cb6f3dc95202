"""Spark's settings for work by its size: small work in few jobs with few tasks, and joins of many keys."""

from __future__ import annotations

from typing import Final

from pyspark.sql import SparkSession

from strandline.frames.listed import MOST_PUSHED

SMALL_WORK_BYTES: Final = 16 * 1024 * 1024
ONE_TASK_BYTES: Final = 1024 * 1024
NAMES_PUSHED: Final = {"spark.sql.parquet.pushdown.inFilterThreshold": str(MOST_PUSHED)}
SMALL_WORK: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
}
"""What costs more than it saves over a few megabytes is off.

On a fresh JVM, compiling a plan takes most of a second. Spark plans each join once more to find filters that it could
apply while the query runs: a sixth of the CPU of a small `gc`.
"""
ONE_TASK: Final = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""One job with one task a stage for each query of few bytes: no broadcast jobs and no adaptive stages."""

KEYS_HASHED: Final = {"spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": str(64 * 1024 * 1024)}
"""Joins of records with keys hash the keys, at most 64 MiB of them in a task, in place of sorting both sides."""


def has_one_task(spark: SparkSession) -> bool:
    """Return whether each stage has one task, as `ONE_TASK` sets it."""
    return all(spark.conf.get(name) == value for name, value in ONE_TASK.items())
