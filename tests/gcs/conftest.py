"""A server of Google Cloud Storage in a process of its own, and a session with Google's connector that knows it."""

import sys
from pathlib import Path

import pytest

from support.gcs import google_store
from support.store_sessions import store_session

LOCK = Path(__file__).with_name("gcs_connector.lock")


@pytest.fixture(scope="session")
def served():
    with google_store() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        yield running


@pytest.fixture(scope="session", autouse=True)
def session(served, settings, tmp_path_factory):
    more = {
        "spark.hadoop.fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
        "spark.hadoop.fs.gs.storage.root.url": f"{served.url}/",
        "spark.hadoop.fs.gs.auth.service.account.enable": "false",
        "spark.hadoop.fs.gs.auth.null.enable": "true",
        "spark.hadoop.fs.gs.project.id": "tests",
    }
    with store_session(settings, tmp_path_factory.mktemp("spark"), LOCK, more) as started:
        yield started
