"""An S3 server in a process of its own, and a session with `hadoop-aws` that knows it."""

from pathlib import Path

import pytest

from support.s3 import store_of_its_own
from support.store_sessions import known, store_session

LOCK = Path(__file__).with_name("hadoop_aws.lock")


@pytest.fixture(scope="session")
def served():
    with known(store_of_its_own, AWS_ALLOW_HTTP="true") as running:  # for delta-rs
        yield running


@pytest.fixture(scope="session", autouse=True)
def session(served, settings, tmp_path_factory):
    more = {"spark.hadoop.fs.s3a.endpoint": served.url, "spark.hadoop.fs.s3a.path.style.access": "true"}
    with store_session(settings, tmp_path_factory.mktemp("spark"), LOCK, more) as started:
        yield started
