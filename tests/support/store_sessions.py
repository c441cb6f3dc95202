"""Sessions of the tiers that keep lakes in stores, or follow prefixes there: with jars of Hadoop beside Delta's."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from pyspark.sql import SparkSession

from strandline.config import Settings
from strandline.session.conf import spark_conf
from strandline.session.jars import cached_jars
from support.fetched_jars import fetched_jars
from support.object_rules import ObjectServer

Server = TypeVar("Server", bound=ObjectServer)


@contextmanager
def known(serve: Callable[[], AbstractContextManager[Server]], **more: str) -> Iterator[Server]:
    """Run a server until the block ends; this process, and the workers of its session, may read it."""
    with serve() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in {**running.environment, **more, "PYSPARK_PYTHON": sys.executable}.items():
            patch.setenv(name, value)
        yield running


@contextmanager
def store_session(
    settings: Settings, temporary: Path, lock: Path | None, more: Mapping[str, str]
) -> Iterator[SparkSession]:
    """Run a session with the jars of a lock, fetched once, and with more settings than ours, until the block ends."""
    cache = Path(settings.spark.cache)
    others = () if lock is None else fetched_jars(lock, cache / lock.stem.replace("_", "-"))
    conf = spark_conf(settings, temporary=temporary, jars=(*cached_jars(cache), *others)) | more
    (temporary / "log4j2.properties").write_text("rootLogger.level = error\n")
    started = SparkSession.builder.config(map=dict(conf)).getOrCreate()
    yield started
    started.stop()
