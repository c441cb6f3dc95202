"""What `maintain` removes from the log of a table whose rows delta-rs appends."""

import os
import time

import pytest
from deltalake import DeltaTable

from strandline.contracts.load import contract
from strandline.tables.appends import append_with_delta_rs
from strandline.tables.commits import transaction
from strandline.tables.location import Location
from strandline.tables.maintain import LOG_CLEANUP, RUN_DAYS, remove_old_commits
from strandline.tables.reads import TableReads
from support.delta_rs_lake import WHEN, add_feature, change_first_commit, write
from unit.tables.test_appends import ROW

RUNS = 30
EVERY = 10


@pytest.fixture
def lake(tmp_path):
    """A lake with `RUNS` rows in `run` and a checkpoint for each `EVERY` commits."""
    write(tmp_path, "run", [])
    state(tmp_path, {**contract("run").properties, "delta.checkpointInterval": str(EVERY)})
    for number in range(RUNS):
        once = transaction(f"r{number}/run/row", 0, f"r{number}")
        append_with_delta_rs(DeltaTable(tmp_path / "run"), {**ROW, "run_id": f"r{number}"}, once, WHEN)
    return tmp_path


def state(lake, properties):
    def change(actions):
        actions["metaData"]["configuration"] |= properties

    change_first_commit(lake, "run", change)


def age(lake, days, *, until):
    """Make the files of the log old, up to those of a version."""
    for file in (lake / "run" / "_delta_log").glob("0*"):
        if int(file.name[:20]) <= until:
            at = time.time() - days * 86_400
            os.utime(file, (at, at))


def versions(lake, suffix):
    return sorted(int(file.name[:20]) for file in (lake / "run" / "_delta_log").glob(f"0*{suffix}"))


def remove(lake):
    remove_old_commits(TableReads(None, Location.lake(str(lake))), "run")


def test_commits_before_a_checkpoint_go_when_they_are_older_than_the_table_keeps_them(lake):
    age(lake, RUN_DAYS + 1, until=25)
    before = DeltaTable(lake / "run").to_pyarrow_table().sort_by("run_id")
    remove(lake)
    # Versions 19 to 25 are as old, but those that stay need this checkpoint, and it needs its commit.
    assert versions(lake, ".json") == [*range(19, RUNS + 1)]
    assert versions(lake, ".checkpoint.parquet") == [19, 29]
    assert DeltaTable(lake / "run").to_pyarrow_table().sort_by("run_id").equals(before)
    assert DeltaTable(lake / "run", version=20).to_pyarrow_table().num_rows == 20


def test_commits_stay_for_as_long_as_the_table_says(lake):
    age(lake, RUN_DAYS - 1, until=25)
    remove(lake)
    assert versions(lake, ".json") == [*range(RUNS + 1)]


def test_commits_of_a_log_that_its_owner_keeps_stay(lake):
    state(lake, {LOG_CLEANUP: "False"})
    for file in (lake / "run" / "_delta_log").glob("*checkpoint*"):
        file.unlink()
    DeltaTable(lake / "run").create_checkpoint()
    age(lake, RUN_DAYS + 1, until=RUNS)
    remove(lake)
    assert versions(lake, ".json") == [*range(RUNS + 1)]


def test_commits_stay_if_spark_appends_the_rows(lake):
    for file in (lake / "run" / "_delta_log").glob("*checkpoint*"):
        file.unlink()
    add_feature(lake, "run", "deletionVectors")
    DeltaTable(lake / "run").create_checkpoint()
    age(lake, RUN_DAYS + 1, until=RUNS)
    remove(lake)
    assert versions(lake, ".json") == [*range(RUNS + 1)]
