"""What a command costs Spark and Delta: counts, which are stable where seconds are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Counted:
    """What was spent: Spark jobs, queries that run jobs or commands, ids of stages, commits."""

    jobs: int
    queries: int
    stages: range
    commits: int


def counted(spark: SparkSession, lake: str | Path, command: Callable[[], object]) -> Counted:
    """Run a command that writes to the tables below a folder, and return what it cost."""
    jobs, queries, stages, commits = _totals(spark, lake)
    command()
    jobs_after, queries_after, stages_after, commits_after = _totals(spark, lake)
    return Counted(
        jobs_after - jobs, queries_after - queries, range(stages, stages_after), commits_after - commits
    )


def _totals(spark: SparkSession, lake: str | Path) -> tuple[int, int, int, int]:
    """Return how many jobs, queries, stages and commits there were up to now."""
    context: Any = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    session: Any = spark._jsparkSession
    # In the order of their ids; Spark keeps a thousand.
    executions = session.sharedState().statusStore().executionsList()
    queries = -1 if executions.isEmpty() else executions.last().executionId()
    commits = sum(path.stem.isdigit() for path in Path(lake).glob("*/_delta_log/*.json"))
    scheduler = context.dagScheduler()
    return scheduler.numTotalJobs(), queries, scheduler.nextStageId(), commits


def kept_frames(spark: SparkSession) -> int:
    """Return how many persisted frames Spark knows."""
    manager: Any = spark._jsparkSession.sharedState().cacheManager()
    kept = manager.getClass().getDeclaredField("cachedData")
    kept.setAccessible(True)
    return int(kept.get(manager).size())
