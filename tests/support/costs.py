"""What a command costs Spark and Delta: counts, which are stable where seconds are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Costs:
    """What was spent: Spark jobs, queries that run jobs or commands, tasks, bytes written to shuffles, commits."""

    jobs: int
    queries: int
    tasks: int
    shuffled_bytes: int
    commits: int


def costs_of(spark: SparkSession, lake: str | Path, command: Callable[[], object]) -> Costs:
    """Run a command that writes to the tables below a folder, and return what it cost."""
    before = _totals(spark, lake)
    command()
    after = _totals(spark, lake)
    jobs, queries, stages, commits = (end - start for start, end in zip(before, after, strict=True))
    tasks, shuffled = _of_stages(spark, range(after[2] - stages, after[2]))
    return Costs(jobs, queries, tasks, shuffled, commits)


def _totals(spark: SparkSession, lake: str | Path) -> tuple[int, int, int, int]:
    """Return how many jobs, queries, stages and commits there were up to now."""
    context: Any = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    session: Any = spark._jsparkSession
    executions = session.sharedState().statusStore().executionsList()
    queries = max((executions.apply(at).executionId() for at in range(executions.size())), default=-1)
    commits = sum(path.stem.isdigit() for path in Path(lake).glob("*/_delta_log/*.json"))
    scheduler = context.dagScheduler()
    return scheduler.numTotalJobs(), queries, scheduler.nextStageId(), commits


def _of_stages(spark: SparkSession, stages: range) -> tuple[int, int]:
    """Return the tasks of stages and the bytes that they wrote to shuffles; one that was skipped has neither."""
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    found = [store.lastStageAttempt(stage) for stage in stages]
    return sum(each.numCompleteTasks() for each in found), sum(each.shuffleWriteBytes() for each in found)
