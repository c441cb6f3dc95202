"""A cluster of HDFS, and a session of Spark that knows no more of it than the URIs."""

import pytest

from support.hdfs import hdfs
from support.store_sessions import known, store_session


@pytest.fixture(scope="session")
def cluster():
    with known(hdfs) as running:
        yield running


@pytest.fixture(scope="session")
def session(cluster, settings, tmp_path_factory):
    with store_session(settings, tmp_path_factory.mktemp("spark"), None, {}) as started:
        yield started
