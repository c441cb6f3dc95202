"""The row of a run, appended to a local lake without Spark."""

import json
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from strandline.cli.failures import as_fault
from strandline.contracts.load import contract
from strandline.tables.appends import append_with_delta_rs, can_append
from strandline.tables.commits import transaction
from strandline.tables.delta_rs import open_table
from strandline.tables.location import Location
from support.delta_rs_lake import WHEN, add_feature, change_first_commit, write
from support.full_disks import full_disk

ROW = {
    "run_id": "r1", "command": "ingest", "version": "0.0.0", "outcome": "ok", "lake": "lake", "exit": 0,
    "started_at": WHEN, "seconds": 1.5, "counts": {"new": 3}, "reasons": {},
    "tables": {"node_journal_line": {"version": 7, "inserted": 3}}, "detail": "{}",
}  # fmt: skip

DAYS_KEPT = timedelta(days=7)


@pytest.fixture
def lake(tmp_path):
    write(tmp_path / "lake", "run", [])
    return Location.lake(str(tmp_path / "lake"))


def append(lake, row=ROW, at=WHEN):
    append_with_delta_rs(open_table(lake, "run"), row, transaction("r1/run/1", 0, "r1"), at)


def test_the_row_has_its_values_and_null_elsewhere_and_its_commit_names_run_and_statement(lake):
    append(lake)
    [row] = DeltaTable(lake.table_path("run")).to_pyarrow_table().to_pylist()
    assert {name: dict(value) if isinstance(value, list) else value for name, value in row.items()} == {
        **dict.fromkeys(row), **ROW,
    }  # fmt: skip
    commit = max((lake.local_path() / "run" / "_delta_log").glob("*.json")).read_text()
    actions = {name: value for line in commit.splitlines() for name, value in json.loads(line).items()}
    assert actions["commitInfo"]["userMetadata"] == "r1"
    assert (actions["txn"]["appId"], actions["txn"]["version"]) == ("r1/run/1", 0)


def test_the_ids_of_old_statements_are_not_in_later_checkpoints(lake):
    def configure(actions):
        actions["metaData"]["configuration"] |= contract("run").properties | {
            "delta.checkpointInterval": "10"
        }

    change_first_commit(lake.local_path(), "run", configure)
    now = datetime.now(UTC)
    append(lake, at=now - DAYS_KEPT)
    for number in range(2, 10):
        append_with_delta_rs(
            open_table(lake, "run"), ROW, transaction(f"r{number}/run/1", 0, f"r{number}"), now
        )
    [checkpoint] = (lake.local_path() / "run" / "_delta_log").glob("*.checkpoint.parquet")
    kept = [row["txn"]["appId"] for row in pq.read_table(checkpoint).to_pylist() if row.get("txn")]
    assert sorted(kept) == [f"r{number}/run/1" for number in range(2, 10)]


def constrain(lake, name, condition):
    """Give the table of runs a CHECK constraint."""

    def change(actions):
        actions["metaData"]["configuration"] |= {f"delta.constraints.{name}": condition}
        actions["protocol"]["minWriterVersion"] = 3

    change_first_commit(lake.local_path(), "run", change)


def test_rows_that_break_a_constraint_of_the_table_are_not_written(lake):
    constrain(lake, "outcome_is_known", "outcome IN ('ok', 'found', 'usage', 'fault')")
    assert can_append(open_table(lake, "run"), "run")
    with pytest.raises(DeltaError, match="1 rows failed validation check"):
        append(lake, ROW | {"outcome": "perhaps"})
    append(lake)
    assert DeltaTable(lake.table_path("run")).version() == 1


def test_a_full_disk_is_named_and_leaves_the_table_as_it_was(lake):
    with full_disk(100), pytest.raises((DeltaError, OSError)) as failed:
        append(lake)
    fault = as_fault(failed.value, None, lake.describe())
    assert fault is not None
    assert (fault.code, fault.exit_code) == ("DISK_FULL", 3)
    assert lake.describe() in fault.message
    assert DeltaTable(lake.table_path("run")).version() == 0


def test_a_table_with_features_is_left_to_spark(lake):
    assert can_append(open_table(lake, "run"), "run")
    add_feature(lake.local_path(), "run", "deletionVectors")
    assert not can_append(open_table(lake, "run"), "run")


def test_a_table_with_a_constraint_of_others_is_left_to_spark(lake):
    # Spark's `size` is no function of delta-rs.
    constrain(lake, "has_counts", "size(counts) > 0")
    with pytest.raises(DeltaError, match="Invalid function"):
        append(lake)
    assert not can_append(open_table(lake, "run"), "run")


def test_a_table_with_a_column_of_others_is_left_to_spark(lake):
    # It may be computed, counted, or never null: only Spark knows how.
    def add(actions):
        schema = json.loads(actions["metaData"]["schemaString"])
        schema["fields"].append({"name": "x", "type": "string", "nullable": False, "metadata": {}})
        actions["metaData"]["schemaString"] = json.dumps(schema)

    change_first_commit(lake.local_path(), "run", add)
    assert not can_append(open_table(lake, "run"), "run")


def test_a_table_with_a_column_that_somebody_made_not_null_is_left_to_spark(lake):
    def forbid(name):
        def change(actions):
            schema = json.loads(actions["metaData"]["schemaString"])
            for field in schema["fields"]:
                field["nullable"] &= field["name"] != name
            actions["metaData"]["schemaString"] = json.dumps(schema)

        change_first_commit(lake.local_path(), "run", change)

    forbid("run_id")
    assert can_append(open_table(lake, "run"), "run")
    forbid("dialect")
    with pytest.raises(DeltaError, match="'dialect' is declared as non-nullable"):
        append(lake)
    assert not can_append(open_table(lake, "run"), "run")


def test_a_row_is_appended_once_also_by_two_processes_at_a_time(lake):
    early, late = open_table(lake, "run"), open_table(lake, "run")
    named = transaction("r1/run", 0, "r1")
    for opened in (early, late):
        append_with_delta_rs(opened, ROW, named, WHEN)
    append_with_delta_rs(open_table(lake, "run"), ROW, named, WHEN)
    append_with_delta_rs(
        open_table(lake, "run"), ROW | {"run_id": "r2"}, transaction("r2/run", 0, "r2"), WHEN
    )
    rows = DeltaTable(lake.table_path("run")).to_pyarrow_table(columns=["run_id"]).to_pylist()
    assert sorted(row["run_id"] for row in rows) == ["r1", "r2"]


def test_a_row_is_appended_beside_a_run_that_changes_the_properties_of_the_table(lake):
    early = open_table(lake, "run")
    open_table(lake, "run").alter.set_table_properties({"delta.logRetentionDuration": "interval 60 days"})
    append_with_delta_rs(early, ROW, transaction("r1/run", 0, "r1"), WHEN)
    rows = DeltaTable(lake.table_path("run")).to_pyarrow_table(columns=["run_id"]).to_pylist()
    assert [row["run_id"] for row in rows] == ["r1"]
