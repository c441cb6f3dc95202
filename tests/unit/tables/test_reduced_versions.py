"""Whether reduced tables may name records that are gone, and which commits of other runs stand for rows of theirs."""

import json

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from strandline.tables.commits import METADATA_OF_COMMIT
from strandline.tables.location import Location
from strandline.tables.reads import TableReads
from strandline.tables.reduced_versions import is_unlike_reduced, reduced_before

TABLE, STATES = "node_journal_line", "namespace_state"


def reads(lake):
    return TableReads(None, Location.lake(str(lake)))


def states(lake, *versions, operation="WRITE"):
    rows = {
        "dialect": ["sdmp"] * len(versions),
        "reduced_version": versions,
        "record_count": [2] * len(versions),
    }
    write_deltalake(lake / STATES, pa.table(rows), mode="overwrite")
    edited(lake, STATES, DeltaTable(str(lake / STATES)).version(), operation=operation)


def edited(lake, table, version, **members):
    """Change what a commit states of itself."""
    commit = lake / table / "_delta_log" / f"{version:020}.json"
    actions = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
    for each in actions:
        if "commitInfo" in each:
            each["commitInfo"] |= members
    commit.write_text("".join(json.dumps(each) + "\n" for each in actions), encoding="utf-8")


def test_a_table_that_was_restored_or_made_anew_after_its_reduction_is_unlike_it(tmp_path):
    for n in range(4):
        write_deltalake(tmp_path / TABLE, pa.table({"n": [n]}), mode="append")
    found = []

    def asked(*versions, dialect="sdmp", operation="WRITE"):
        states(tmp_path, *versions, operation=operation)
        found.append(is_unlike_reduced(reads(tmp_path), TABLE, dialect))
        return found[-1]

    # Commits 0 to 3 make the table and add rows; the newest version that a state names counts.
    assert not asked(3, 1)
    assert not asked(1)
    # `init` made the table anew, and updated the states that were there.
    assert not asked(4)
    assert asked(4, operation="UPDATE")
    assert asked(0)
    assert not asked(3)
    assert not asked(4, dialect="ipfslog")
    assert reduced_before(reads(tmp_path), "sdmp") == (4, 2)
    assert reduced_before(reads(tmp_path), "aura") == (None, 0)
    DeltaTable(str(tmp_path / TABLE)).restore(1)
    assert asked(3)
    assert not asked(4)
    write_deltalake(tmp_path / TABLE, pa.table({"n": [9]}), mode="append")
    assert asked(3)
    assert not asked(4)
    assert set(found) == {True, False}


def test_a_table_whose_newest_commits_only_add_rows_asks_for_no_state(tmp_path):
    for n in range(22):
        write_deltalake(tmp_path / TABLE, pa.table({"n": [n]}), mode="append")
    # There is no table of states at all.
    assert not is_unlike_reduced(reads(tmp_path), TABLE, "sdmp")


def test_an_empty_merge_of_another_run_is_found_after_a_version(tmp_path):
    for n in range(4):
        write_deltalake(tmp_path / STATES, pa.table({"n": [n]}), mode="append")
    merged(tmp_path, 1, "theirs", 0)
    merged(tmp_path, 2, "theirs", 5)
    merged(tmp_path, 3, "ours", 0)
    tables = reads(tmp_path)
    assert [tables.is_touched_by_others(STATES, "ours", since) for since in (-1, 0, 1, 2)] == [
        True, True, False, False
    ]  # fmt: skip
    assert tables.is_touched_by_others(STATES, "another", 2)
    merged(tmp_path, 2, "theirs", 0, kind="numTargetRowsDeleted", deleted=3)
    assert not tables.is_touched_by_others(STATES, "ours", 1)


def merged(lake, version, run_id, rows, kind="numTargetRowsInserted", deleted=0):
    """Make a commit a MERGE of a run that inserted so many rows."""
    metrics = dict.fromkeys(("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"), "0")
    stated = {METADATA_OF_COMMIT: run_id, "operationMetrics": metrics | {kind: str(rows or deleted)}}
    edited(lake, STATES, version, operation="MERGE", **stated)


def test_the_last_merge_is_found_with_and_without_those_of_one_run_and_after_a_version(tmp_path):
    for n in range(5):
        write_deltalake(tmp_path / STATES, pa.table({"n": [n]}), mode="append")
    tables = reads(tmp_path)
    assert tables.merged_by(STATES) is None
    merged(tmp_path, 1, "theirs", 2)
    merged(tmp_path, 3, "ours", 2)
    assert tables.merged_by(STATES) == tables.merged_by(STATES, besides="theirs") == "ours"
    assert tables.merged_by(STATES, besides="ours") == "theirs"
    # What this run saw when it began is no commit that came since.
    assert [tables.is_merged_by_others(STATES, "ours", seen) for seen in (-1, 0, 1, 2, 3)] == [
        True, True, False, False, False
    ]  # fmt: skip
    assert tables.is_merged_by_others(STATES, "theirs", 2)


def test_a_dialect_is_reduced_up_to_the_newest_version_that_any_of_its_states_names(tmp_path):
    for versions in ((3, 1), (1, 3), (1, 7, 3)):
        states(tmp_path, *versions)
        assert reduced_before(reads(tmp_path), "sdmp") == (max(versions), 2 * len(versions))
