"""The notebooks run as they stand, over a classic session and over Spark Connect, and what they claim is so."""

import shutil
from pathlib import Path

import pytest

from strandline.session.jars import cached_jars
from support.connect_server import as_client, connect_server
from support.lakes import choose_buckets
from support.notebook_claims import LAKES, run
from support.packaged import JAVA_OPTIONS

SLOW = ("kill_replay_count", "replicas")
"""The notebooks that only the slow tier runs over Connect: the first one covers the same code."""


@pytest.fixture
def folder(empty_lakes, tmp_path):
    """Makes the folder of a notebook, with the lakes that its `init` finds."""

    def make(name: str) -> Path:
        for lake in LAKES[name]:
            shutil.copytree(empty_lakes[False], tmp_path / lake)
            choose_buckets(tmp_path / lake, 2)
        return tmp_path

    return make


@pytest.mark.parametrize("name", sorted(LAKES))
def test_a_notebook_runs_as_it_stands(spark, folder, monkeypatch, name):
    made = folder(name)
    monkeypatch.setenv("NOTEBOOK_FOLDER", str(made))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    # Of the process that a notebook starts.
    monkeypatch.setenv("JDK_JAVA_OPTIONS", JAVA_OPTIONS)
    run(name, made, spark=spark)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in sorted(LAKES) if name != "kill_replay_count"])
def test_a_notebook_runs_with_its_lakes_in_schemas(spark, tmp_path, monkeypatch, name):
    schemas = [f"spark_catalog.strandline_{name}_{lake}" for lake in LAKES[name]]
    monkeypatch.setenv("NOTEBOOK_FOLDER", str(tmp_path))
    monkeypatch.setenv("NOTEBOOK_SCHEMA", f"spark_catalog.strandline_{name}")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    try:
        run(name, tmp_path, spark=spark)
        assert not {path.name for path in tmp_path.iterdir()} & set(LAKES[name])
        assert all(spark.catalog.tableExists(f"{schema}.run") for schema in schemas)
    finally:
        for schema in schemas:
            spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in sorted(LAKES)],
)
def test_a_notebook_runs_as_it_stands_over_connect(remote, folder, name):
    assert over_connect(remote, name, folder(name)).startswith("pyspark.sql.connect.")


@pytest.mark.slow
def test_a_notebook_runs_over_a_server_that_has_no_setting_of_strandline(settings, folder, tmp_path):
    made = folder("damaged_fleet")
    with connect_server(tmp_path / "server", cached_jars(Path(settings.spark.cache))) as server:
        assert over_connect(server.remote, "damaged_fleet", made).startswith("pyspark.sql.connect.")


def over_connect(remote: str, name: str, made: Path) -> str:
    """Run a notebook as a client, and return the module of the DataFrames that it had."""
    words = ("-m", "support.notebook_claims", name, str(made))
    return as_client(remote, made, *words, NOTEBOOK_FOLDER=str(made), MPLBACKEND="Agg").splitlines()[-1]
