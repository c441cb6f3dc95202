"""A log without commits is a table that another process creates, or the leftover of a killed one."""

import os
import shutil
from types import SimpleNamespace

import pytest

from strandline.core.errors import FaultError
from strandline.tables import leftovers
from strandline.tables.creating import TRIES, LakeDesign, make
from strandline.tables.leftovers import is_created
from strandline.tables.location import Location

COMMIT = "00000000000000000000.json"


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.setattr(leftovers, "SECONDS_BETWEEN", 0)
    path = tmp_path / "lake" / "run" / "_delta_log"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def lake(tmp_path):
    return Location.lake(str(tmp_path / "lake"))


def test_a_table_with_a_commit_is_created_and_stays(lake, log):
    (log / COMMIT).write_text("{}")
    (log / ".tmp").write_text("{}")
    assert is_created(lake, "run")
    assert sorted(path.name for path in log.iterdir()) == [".tmp", COMMIT]


def test_a_log_without_commits_is_removed_so_that_the_table_can_be_created(lake, log):
    (log / f".{COMMIT}.1234.tmp").write_text("{}")
    (log / "_staged_commits").mkdir()
    assert not is_created(lake, "run")
    assert not log.exists()
    assert log.parent.is_dir()


def test_a_table_that_another_process_is_about_to_commit_is_waited_for(lake, log, monkeypatch):
    slept = []

    def commit(seconds):
        slept.append(seconds)
        if len(slept) == 3:
            (log / COMMIT).write_text("{}")

    monkeypatch.setattr(leftovers.time, "sleep", commit)
    assert is_created(lake, "run")
    assert len(slept) == 3


@pytest.mark.parametrize("again", [False, True])
def test_the_files_of_a_process_that_found_the_leftover_first_stay(lake, log, monkeypatch, again):
    """It removes the leftover and begins to create the table when another one has waited to the end, too."""
    staged = log / f".{COMMIT}.1234.tmp"
    if again:
        staged.write_text("left")
    else:
        (log / "_staged_commits").mkdir()

    def create(seconds):
        if not (log / "begun").exists():
            shutil.rmtree(log)
            log.mkdir()
            (log / "begun").touch()
            staged.write_text("{}")
            os.utime(staged, ns=(0, 1))

    monkeypatch.setattr(leftovers.time, "sleep", create)
    assert not is_created(lake, "run")
    assert staged.read_text() == "{}"


def test_what_is_no_leftover_is_never_removed(lake, log):
    (log / "notes.txt").write_text("mine")
    assert not is_created(lake, "run")
    assert (log / "notes.txt").read_text() == "mine"


def test_a_folder_without_a_log_is_not_waited_for(lake, log, monkeypatch):
    monkeypatch.setattr(leftovers.time, "sleep", None)
    log.rmdir()
    assert not is_created(lake, "run")
    log.parent.rmdir()
    assert not is_created(lake, "run")


@pytest.mark.parametrize(("there", "code"), [(True, "TABLE_DAMAGED"), (False, "TABLE_ELSEWHERE")])
def test_a_table_that_no_statement_creates_is_damaged_or_somewhere_else(lake, log, there, code):
    if there:
        (log / "notes.txt").write_text("mine")
    else:
        shutil.rmtree(log.parent)
    made = []

    class Store:
        location, spark = lake, SimpleNamespace(conf=SimpleNamespace(getAll={}))

        def repeated(self, statement, *, table, buckets):
            made.append(table)

    with pytest.raises(FaultError) as refused:
        make(Store(), LakeDesign(16, {}), ["run"])
    assert (refused.value.code, made) == (code, ["run"] * TRIES)
    assert ("has files" in refused.value.message) == there


def test_data_without_a_log_are_damage(lake, log):
    (log.parent / "part-0.parquet").write_bytes(b"rows")
    with pytest.raises(FaultError) as damaged:
        is_created(lake, "run")
    assert damaged.value.code == "TABLE_DAMAGED"
    assert log.is_dir()


def test_the_log_of_a_lake_elsewhere_is_that_of_its_store(monkeypatch):
    monkeypatch.setattr(leftovers, "has_table", None)
    assert is_created(Location.lake("s3://bucket/lake"), "run")
