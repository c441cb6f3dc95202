"""Starts a JVM with a configuration that is complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession


def start(conf: Mapping[str, str], out: BinaryIO, *, owners: Sequence[int]) -> SparkSession | None:
    """Return a session in a new JVM, or None if the JVM ended before it answered.

    Spark's scripts and the JVM write to both streams, and neither may reach the standard output of the command: both
    go to `out`. The JVM inherits the descriptors `owners`.
    """
    given = SparkConf(loadDefaults=False)
    given.setAll(list(conf.items()))
    launch: Callable[..., Any] = launch_gateway
    try:
        gateway = launch(given, {"stdout": out, "stderr": out, "pass_fds": list(owners)})
        return SparkSession(SparkContext(conf=given, gateway=gateway))
    except PySparkRuntimeError:
        return None


def another_session() -> SparkSession | None:
    """Return a new session, with settings and views of its own, in the JVM that runs; None if none runs.

    Of the first session it has the access to stores. Other settings of that one may be those of a statement that runs.
    """
    running = SparkContext._active_spark_context  # noqa: SLF001 - Spark has no public question that starts nothing
    if running is None:
        return None
    first = SparkSession.builder.getOrCreate()
    session = first.newSession()
    for key, value in first.conf.getAll.items():
        if key.startswith(("fs.", "spark.hadoop.fs.")):
            session.conf.set(key, value)
    return session
