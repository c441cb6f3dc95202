"""A server of Google Cloud Storage in a process of its own, and a session with Google's connector that knows it."""

from pathlib import Path

import pytest

from support.gcs import google_store
from support.store_sessions import known, store_session

# Hadoop 3.5 has defaults of these for a file system of its own, as `64m`, which Google's connector cannot read.
SIZES = {
    "fs.gs.block.size": "67108864",
    "fs.gs.inputstream.inplace.seek.limit": "8388608",
    "fs.gs.inputstream.min.range.request.size": "2097152",
    "fs.gs.outputstream.buffer.size": "8388608",
    "fs.gs.rewrite.max.chunk.size": "536870912",
}
LOCK = Path(__file__).with_name("gcs_connector.lock")


@pytest.fixture(scope="session")
def served():
    with known(google_store) as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def session(served, settings, tmp_path_factory):
    more = {
        "spark.hadoop.fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
        "spark.hadoop.fs.gs.storage.root.url": f"{served.url}/",
        "spark.hadoop.fs.gs.auth.service.account.enable": "false",
        "spark.hadoop.fs.gs.auth.null.enable": "true",
        "spark.hadoop.fs.gs.project.id": "tests",
        **{f"spark.hadoop.{name}": size for name, size in SIZES.items()},
    }
    with store_session(settings, tmp_path_factory.mktemp("spark"), LOCK, more) as started:
        yield started
