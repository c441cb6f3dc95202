"""An S3 server in a process of its own, and a session with `hadoop-aws` that knows it."""

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from strandline.session.conf import spark_conf
from strandline.session.jars import cached_jars
from support.fetched_jars import fetched_jars
from support.s3 import store_of_its_own

LOCK = Path(__file__).with_name("hadoop_aws.lock")


@pytest.fixture(scope="session")
def served():
    with store_of_its_own() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        patch.setenv("AWS_ALLOW_HTTP", "true")  # delta-rs
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        yield running


@pytest.fixture(scope="session", autouse=True)
def session(served, settings, tmp_path_factory):
    temporary, cache = tmp_path_factory.mktemp("spark"), Path(settings.spark.cache)
    jars = (*cached_jars(cache), *fetched_jars(LOCK, cache / "hadoop-aws"))
    conf = spark_conf(settings, temporary=temporary, jars=jars) | {
        "spark.hadoop.fs.s3a.endpoint": served.url,
        "spark.hadoop.fs.s3a.path.style.access": "true",
    }
    (temporary / "log4j2.properties").write_text("rootLogger.level = error\n")
    started = SparkSession.builder.config(map=conf).getOrCreate()
    yield started
    started.stop()
