"""A cluster of HDFS, and a session of Spark that knows no more of it than the URIs."""

import sys

import pytest

from support.hdfs import hdfs
from support.store_sessions import store_session


@pytest.fixture(scope="session")
def cluster():
    with hdfs() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        yield running


@pytest.fixture(scope="session")
def session(cluster, settings, tmp_path_factory):
    with store_session(settings, tmp_path_factory.mktemp("spark"), None, {}) as started:
        yield started
