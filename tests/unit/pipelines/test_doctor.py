"""`doctor`: what it asks of a machine, and of a cluster that brings its own Spark."""

import os
import platform
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest

from strandline.config import defaults, effective, options_layer
from strandline.core.errors import FaultError
from strandline.pipelines import doctor
from strandline.pipelines.run_context import RunContext
from strandline.session import jars
from strandline.tables.location import Location
from support.lakes import Lake


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


def test_without_spark_every_other_check_is_made_and_told(monkeypatch, tmp_path):
    def version(package):
        raise PackageNotFoundError(package)

    for module in (doctor, jars):
        monkeypatch.setattr(module, "version", version)

    def start():
        raise AssertionError("Spark was started")

    location = Location.lake(str(tmp_path / "lake"))
    checks = doctor.run(
        defaults(), location, {}, start, Lake.context(SimpleNamespace(run_id="1"), "doctor")
    ).members["checks"]
    failed = {check["name"]: check["mend"] for check in checks if not check["ok"]}
    assert len(checks) == 9
    assert failed.keys() - {"Java"} == {"Spark and Delta", "Delta jar", "Spark session"}
    assert "pyspark==4.2.0 delta-spark==4.4.0" in failed["Spark and Delta"]
    assert failed["Delta jar"] == failed["Spark session"] == "repair the faults above first"


def test_a_folder_that_cannot_be_searched_is_a_failed_check_that_names_it(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir()

    def refusing(real):
        def call(path, *given, **more):
            if str(path).startswith(f"{closed}/"):
                raise PermissionError(13, "Permission denied", path)
            return real(path, *given, **more)

        return call

    # A test may run as root, whom no mode of a folder keeps out.
    for name in ("stat", "open"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))
    for check in (
        doctor._lake(Location.lake(f"{closed}/a/lake")),
        doctor._writable("jar cache", closed / "cache", "--set spark.cache=FOLDER"),
    ):
        assert (check.ok, check.found) == (False, f"{closed}: Permission denied")
        assert check.next_step.startswith(f"give write access to {closed}, or name another folder with --")


def test_each_check_is_told_and_a_session_that_does_not_start_is_a_finding(tmp_path):
    def start():
        raise FaultError("SPARK_NOT_STARTED", "Spark did not start.", "Look there.")

    (tmp_path / "file").touch()
    settings = effective(
        (options_layer([f"spark.cache={tmp_path}/a/b", f"spark.state={tmp_path}"]),)
    ).settings
    seconds = iter(range(9))
    context = RunContext(
        "r", "doctor", "1", datetime.now(UTC), elapsed=lambda: next(seconds), session_seconds=7.0
    )
    hosted = {"DATABRICKS_RUNTIME_VERSION": "18.0"}
    location = Location.lake("s3a://bucket/lake")
    report = doctor.run(settings, location, hosted, start, context)
    assert (report.outcome, report.exit, report.lake) == ("found", 1, "s3a://bucket/lake")
    assert report.session_seconds == 1
    checks = report.members["checks"]
    assert [each["name"] for each in checks] == [
        "Python", "Java", "Spark and Delta", "Delta jar", "Arrow", "lake", "jar cache", "state folder", "Spark session",
    ]  # fmt: skip
    assert checks[-1] == {
        "name": "Spark session", "ok": False, "found": "Spark did not start.", "mend": "Look there.",
    }  # fmt: skip
    assert [(each["ok"], each["mend"]) for each in checks[:-1]] == [(True, "")] * 8
    found = {each["name"]: each["found"] for each in checks}
    assert found["Python"] == platform.python_version()
    assert found["Java"] == "the Java of the active session"
    assert found["lake"] == "s3a://bucket/lake, not a folder of this machine"
    free = shutil.disk_usage(tmp_path).free / 2**20
    folder, mebibytes = found["jar cache"].removesuffix(" MiB free").split(", ")
    assert folder == f"{tmp_path}/a/b"
    assert abs(int(mebibytes.replace(",", "")) - free) < 1_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
    at_a_file = doctor.run(
        settings, Location.lake(f"{tmp_path}/file/lake"), hosted, start, replace(context, elapsed=lambda: 0.0)
    )
    [lake] = [each for each in at_a_file.members["checks"] if each["name"] == "lake"]
    assert (lake["ok"], lake["found"]) == (False, f"{tmp_path}/file is a file")
    assert lake["mend"] == f"give write access to {tmp_path}/file, or name another folder with --lake FOLDER"
    assert at_a_file.members["checks"][-1]["mend"] == "repair the faults above first"
