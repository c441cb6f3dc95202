"""Azurite, and a session with `hadoop-azure` that knows it: by its address, and without TLS."""

from pathlib import Path

import pytest

from support.azurite import ACCOUNT, KEY, azure_store
from support.store_sessions import known, store_session

LOCK = Path(__file__).with_name("hadoop_azure.lock")


@pytest.fixture(scope="session")
def served():
    with known(azure_store) as running:
        yield running


@pytest.fixture(scope="session")
def session(served, settings, tmp_path_factory):
    more = {
        "spark.hadoop.fs.abfss.impl": "org.apache.hadoop.fs.azurebfs.AzureBlobFileSystem",
        "spark.hadoop.fs.azure.abfs.endpoint": served.url.partition("://")[2],
        "spark.hadoop.fs.azure.account.hns.enabled": "false",
        "spark.hadoop.fs.azure.always.use.https": "false",
        # The other client, of Apache, does not speak without TLS.
        "spark.hadoop.fs.azure.networking.library": "JDK_HTTP_URL_CONNECTION",
        "spark.hadoop.fs.azure.io.retry.max.retries": "1",
        "spark.hadoop.fs.azure.fns.account.service.type": "BLOB",
        f"spark.hadoop.fs.azure.account.key.{ACCOUNT}.dfs.core.windows.net": KEY,
        f"spark.hadoop.fs.azure.account.key.{ACCOUNT}.blob.core.windows.net": KEY,
    }
    with store_session(settings, tmp_path_factory.mktemp("spark"), LOCK, more) as started:
        yield started
