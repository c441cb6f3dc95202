"""When versions were committed, by clocks that go back."""

import json
import os
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError
from pyspark.errors import PySparkException

from strandline.tables.delta_rs import DeltaRsLake
from strandline.tables.history import history
from strandline.tables.location import Location
from strandline.tables.lost_versions import has_no_changes, is_removed
from strandline.tables.old_versions import committed_at, last_removed_version
from strandline.tables.reads import TableReads

TABLE = "run"


def reads(lake, *hours):
    """A table with a commit at each of these hours of a day, by the clock of its writer."""
    for hour in hours:
        write_deltalake(lake / TABLE, pa.table({"n": [hour]}), mode="append")
    for version, hour in enumerate(hours):
        commit = lake / TABLE / "_delta_log" / f"{version:020}.json"
        actions = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
        for each in actions:
            if "commitInfo" in each:
                each["commitInfo"]["timestamp"] = int(at(hour).timestamp() * 1000)
        commit.write_text("".join(json.dumps(each) + "\n" for each in actions), encoding="utf-8")
    return TableReads(None, Location.lake(str(lake)))


def at(hour):
    return datetime(2026, 11, 25, hour, tzinfo=UTC)


def test_a_version_is_old_if_all_before_it_are(tmp_path):
    tables = reads(tmp_path, 8, 12, 9, 13)
    # What the commit of twelve removed is there at ten, although a later commit says nine.
    assert [last_removed_version(tables, TABLE, at(hour)) for hour in (7, 8, 10, 12, 13)] == [
        None,
        0,
        0,
        2,
        3,
    ]


@pytest.mark.parametrize("operation", ["RESTORE", "CLONE", "TRUNCATE", "CREATE OR REPLACE TABLE"])
def test_nothing_has_gone_while_a_younger_commit_replaced_rows(tmp_path, operation):
    """Files that older commits removed may be live again, or the younger commit removed them once more."""
    tables = reads(tmp_path, 8, 9, 10, 11)
    commit = tmp_path / TABLE / "_delta_log" / f"{2:020}.json"
    written = commit.read_text(encoding="utf-8")
    found = []
    for stated in ("WRITE", "OPTIMIZE", operation):
        commit.write_text(written.replace('"WRITE"', f'"{stated}"'), encoding="utf-8")
        found.append([last_removed_version(tables, TABLE, at(hour)) for hour in (8, 9, 10, 11)])
    assert found == [[0, 1, 2, 3], [0, 1, 2, 3], [None, None, 2, 3]]


def test_a_restored_version_is_found_although_others_commit_meanwhile(tmp_path):
    tables = reads(tmp_path, 8, 9, 10)
    DeltaTable(str(tmp_path / TABLE)).restore(0)
    write_deltalake(tmp_path / TABLE, pa.table({"n": [11]}), mode="append")
    # The version 3 restored: asked after the version 2, up to it, from it on, and up to the one before.
    asked = [(2, 3), (2, 4), (3, 4), (0, 2), (0, 3)]
    assert [tables.was_replaced(TABLE, *each) for each in asked] == [True, True, False, False, True]


def test_a_version_of_which_all_rows_were_replaced_is_found(tmp_path):
    tables = reads(tmp_path, 8, 9)
    write_deltalake(tmp_path / TABLE, pa.table({"n": [10]}), mode="overwrite")
    commit = tmp_path / TABLE / "_delta_log" / f"{1:020}.json"
    written = commit.read_text(encoding="utf-8")
    for operation in ("TRUNCATE", "CLONE", "CREATE OR REPLACE TABLE AS SELECT", "DELETE"):
        commit.write_text(written.replace('"WRITE"', f'"{operation}"'), encoding="utf-8")
        assert tables.was_replaced(TABLE, 0, 1) == (operation != "DELETE")
    assert tables.was_replaced(TABLE, 1, 2)


def test_files_may_go_from_the_earliest_time_of_the_commits_that_follow(tmp_path):
    tables = reads(tmp_path, 8, 12, 9, 13)
    assert [committed_at(tables, TABLE, version, 3) for version in (0, 1, 2, 3)] == [
        at(8),
        at(9),
        at(9),
        at(13),
    ]
    assert committed_at(tables, TABLE, 4, 4) is None
    # A writer that commits meanwhile moves nothing.
    assert committed_at(tables, TABLE, 1, 2) == at(9)


def test_a_clone_of_spark_states_a_version_that_delta_rs_does_not_read(tmp_path):
    tables = reads(tmp_path, 8, 12, 9)
    commit = tmp_path / TABLE / "_delta_log" / f"{0:020}.json"
    stated = commit.read_text(encoding="utf-8")
    commit.write_text(
        stated.replace('"commitInfo": {', '"commitInfo": {"readVersion": -1, '), encoding="utf-8"
    )
    with pytest.raises(DeltaError):
        DeltaTable(str(tmp_path / TABLE)).history()
    assert [last_removed_version(tables, TABLE, at(hour)) for hour in (7, 8, 10, 12)] == [None, 0, 0, 2]
    assert committed_at(tables, TABLE, 1, 2) == at(9)
    assert not tables.was_replaced(TABLE, 0, 2)
    lake = DeltaRsLake(tables.location, {TABLE: DeltaTable(str(tmp_path / TABLE))})
    assert lake.newest_addition(TABLE, -1) == 2
    # What others commit meanwhile is not of the version that was opened.
    write_deltalake(tmp_path / TABLE, pa.table({"n": [11]}), mode="append")
    assert [each["version"] for each in history(lake.tables[TABLE], tmp_path / TABLE)] == [2, 1, 0]


def test_a_commit_that_states_nothing_keeps_its_version(tmp_path):
    """Delta needs no statement in a commit, and delta-rs lists only commits that have one."""
    tables = reads(tmp_path, 8, 9, 10, 11)
    commit = tmp_path / TABLE / "_delta_log" / f"{2:020}.json"
    lines = commit.read_text(encoding="utf-8").splitlines(keepends=True)
    commit.write_text("".join(line for line in lines if "commitInfo" not in line), encoding="utf-8")
    os.utime(commit, (at(10).timestamp(), at(10).timestamp()))
    found = tables.newest_commits(TABLE)
    assert [(each["version"], each["operation"]) for each in found] == [
        (3, "WRITE"), (2, None), (1, "WRITE"), (0, "WRITE"),
    ]  # fmt: skip
    assert [each["version"] for each in tables.newest_commits(TABLE, 2)] == [3, 2]
    assert [committed_at(tables, TABLE, version, 3) for version in range(4)] == [at(8), at(9), at(10), at(11)]
    assert [last_removed_version(tables, TABLE, at(hour)) for hour in (7, 8, 9, 10, 11)] == [None, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "removed", "unchanged"),
    [
        ("[DELTA_VERSION_NOT_FOUND] no", True, True),
        ("[DELTA_MISSING_CHANGE_DATA] no", False, True),
        ("[FAILED_READ_FILE.FILE_NOT_EXIST] no", True, True),
        ("java.io.FileNotFoundException: /lake/run/a.parquet", True, True),
        ("java.nio.file.NoSuchFileException: /lake/run/a.parquet", True, True),
        ("File a.parquet: No such file or directory", True, True),
        ("[DELTA_CONCURRENT_APPEND] no", False, False),
        ("out of memory", False, False),
    ],
)
def test_a_version_is_gone_by_its_condition_or_by_a_file_that_spark_does_not_find(text, removed, unchanged):
    error = PySparkException(text)
    assert (is_removed(error), has_no_changes(error)) == (removed, unchanged)
