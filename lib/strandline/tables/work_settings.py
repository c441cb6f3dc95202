"""Spark's settings for work by its size: small work in few jobs with few tasks, and joins of many keys."""

from __future__ import annotations

from typing import Final

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
KEYS_HASHED: Final = {"spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": str(64 * 1024 * 1024)}
"""Joins of records with keys hash the keys, at most 64 MiB of them in a task, in place of sorting both sides."""
