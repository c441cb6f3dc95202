"""`doctor`: what it asks of a machine, and of a cluster that brings its own Spark."""

from importlib.metadata import PackageNotFoundError

import pytest

from strandline.config import defaults
from strandline.pipelines import doctor


@pytest.fixture
def other_pair(monkeypatch):
    """The Spark of a cluster, which has no delta-spark that pip knows."""

    def version(package):
        if package == "pyspark":
            return "4.1.0"
        raise PackageNotFoundError(package)

    monkeypatch.setattr(doctor, "version", version)


def test_a_cluster_keeps_its_own_spark_and_delta(other_pair):
    hosted = {"DATABRICKS_RUNTIME_VERSION": "18.0"}
    for check in (doctor._pair(hosted), doctor._jar(defaults(), hosted)):
        assert (check.ok, check.next_step) == (True, "")
        assert "of the active session" in check.found


def test_on_one_machine_another_pair_is_named_with_the_right_one(other_pair):
    check = doctor._pair({})
    assert (check.ok, check.found) == (False, "pyspark 4.1.0, delta-spark not installed")
    assert "pyspark==4.2.0 delta-spark==4.4.0" in check.next_step
