"""Whether reduced tables may name records that are gone, and which commits of other runs stand for rows of theirs."""

import json
import shutil

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from strandline.tables import reduced_versions
from strandline.tables.commits import METADATA_OF_COMMIT
from strandline.tables.location import Location
from strandline.tables.metadata import COMMITS_SEARCHED, is_merge
from strandline.tables.reads import TableReads
from strandline.tables.reduced_versions import (
    is_committed_by_others,
    is_unlike_reduced,
    reduced_before,
    reduced_dialects,
    was_recreated,
)
from strandline.tables.store import TableStore

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


@pytest.mark.large
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
    assert asked(4, dialect="ipfslog")
    assert reduced_before(reads(tmp_path), "sdmp") == (4, 2)
    assert reduced_before(reads(tmp_path), "aura") == (None, 0)
    DeltaTable(str(tmp_path / TABLE)).restore(1)
    assert asked(3)
    assert not asked(4)
    write_deltalake(tmp_path / TABLE, pa.table({"n": [9]}), mode="append")
    assert asked(3)
    assert not asked(4)
    assert set(found) == {True, False}


def appended(lake, table, count, **columns):
    for n in range(count):
        write_deltalake(lake / table, pa.table(columns or {"n": [n]}), mode="append")


@pytest.mark.large
def test_a_table_stays_unlike_its_reduction_until_the_next_one_however_many_commits_follow(tmp_path):
    appended(tmp_path, TABLE, 4)
    states(tmp_path, 3)
    DeltaTable(str(tmp_path / TABLE)).restore(1)
    for _ in range(COMMITS_SEARCHED + 2):
        assert is_unlike_reduced(reads(tmp_path), TABLE, "sdmp")
        appended(tmp_path, TABLE, 1)
    # Of more commits than the newest ones, those after the version that the states name count.
    assert is_unlike_reduced(reads(tmp_path), TABLE, "ipfslog")
    for version, is_unlike in ((3, True), (4, False), (26, False)):
        states(tmp_path, version)
        assert is_unlike_reduced(reads(tmp_path), TABLE, "sdmp") == is_unlike
    # `init` made the table anew, and twenty runs added lines to it.
    states(tmp_path, 0, operation="UPDATE")
    assert is_unlike_reduced(reads(tmp_path), TABLE, "sdmp")
    # The log has forgotten the commits after the version that the states name.
    states(tmp_path, 5)
    assert not is_unlike_reduced(reads(tmp_path), TABLE, "sdmp")
    opened = DeltaTable(str(tmp_path / TABLE))
    opened.create_checkpoint()
    for version in range(7):
        (tmp_path / TABLE / "_delta_log" / f"{version:020}.json").unlink()
    assert is_unlike_reduced(reads(tmp_path), TABLE, "sdmp")
    states(tmp_path, 6)
    assert not is_unlike_reduced(reads(tmp_path), TABLE, "sdmp")


@pytest.mark.large
def test_reductions_of_other_dialects_do_not_hide_that_a_table_was_made_anew(tmp_path):
    appended(tmp_path, TABLE, 2)
    states(tmp_path, 0, operation="UPDATE")
    others = {"dialect": ["ipfslog"], "reduced_version": [1], "record_count": [4]}
    for _ in range(COMMITS_SEARCHED + 2):
        assert is_unlike_reduced(reads(tmp_path), TABLE, "sdmp")
        appended(tmp_path, STATES, 1, **others)


def test_a_table_that_was_made_anew_is_unlike_its_reduction_before_its_first_record(tmp_path):
    write_deltalake(tmp_path / TABLE, pa.table({"n": pa.array([], pa.int64())}))
    states(tmp_path, 0, operation="UPDATE")
    tables = reads(tmp_path)
    assert was_recreated(tables, TABLE, 0, 0)
    assert is_unlike_reduced(tables, TABLE, "sdmp")
    # A clone has records at the version 0, and they may be reduced.
    shutil.rmtree(tmp_path / TABLE)
    appended(tmp_path, TABLE, 1)
    assert [was_recreated(tables, TABLE, *each) for each in ((0, 0), (1, 0), (0, 1), (1, 1))] == [
        False, True, True, False
    ]  # fmt: skip
    assert reduced_dialects(tables) == {"sdmp"}


@pytest.mark.large
def test_the_states_are_asked_only_if_the_newest_commits_do_not_say_enough(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(reduced_versions, "reduced_before", lambda *_: asked.append(None) or (1, 1))

    def counted(tables):
        asked.clear()
        return is_unlike_reduced(tables, TABLE, "sdmp"), len(asked)

    appended(tmp_path, TABLE, 2)
    states(tmp_path, 1)
    assert counted(reads(tmp_path)) == (False, 0)
    appended(tmp_path, TABLE, COMMITS_SEARCHED)
    # A stream, whose batches are runs of their own, asks once, as long as it sees the commit that it knows.
    stream = TableStore(None, Location.lake(str(tmp_path)), None, run_id="stream")
    batches = [counted(stream.of_run(f"batch {number}")) for number in range(2)]
    assert batches == [(False, 1), (False, 0)]
    appended(tmp_path, TABLE, COMMITS_SEARCHED - 1)
    assert counted(stream) == (False, 0)
    appended(tmp_path, TABLE, COMMITS_SEARCHED)
    assert [counted(stream), counted(stream)] == [(False, 1), (False, 0)]
    DeltaTable(str(tmp_path / TABLE)).restore(1)
    appended(tmp_path, TABLE, 1)
    assert [counted(stream), counted(stream)] == [(True, 1), (True, 1)]
    # Another table of this name has no commit that it knows.
    shutil.rmtree(tmp_path / TABLE)
    appended(tmp_path, TABLE, COMMITS_SEARCHED + 1)
    assert counted(stream) == (False, 1)


def test_what_a_first_reduction_without_states_left_does_not_count_after_a_restore(tmp_path):
    appended(tmp_path, TABLE, 4)
    others = {"dialect": ["ipfslog"], "reduced_version": [1], "record_count": [4]}
    appended(tmp_path, STATES, 1, **others)
    stream = TableStore(None, Location.lake(str(tmp_path)), None, run_id="stream")
    assert not is_unlike_reduced(stream, TABLE, "sdmp")
    DeltaTable(str(tmp_path / TABLE)).restore(1)
    for number in range(2):
        assert is_unlike_reduced(stream.of_run(f"batch {number}"), TABLE, "sdmp")
    # It read the table before the RESTORE, and ends after it.
    states(tmp_path, 3)
    assert is_unlike_reduced(stream.of_run("batch 2"), TABLE, "sdmp")
    states(tmp_path, 4)
    assert not is_unlike_reduced(stream.of_run("batch 3"), TABLE, "sdmp")


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


def merging(tables):
    """The runs of the MERGEs of the states, the newest first."""
    return [each[METADATA_OF_COMMIT] for each in filter(is_merge, tables.every_commit(STATES))]


def test_merges_are_found_newest_first_and_those_of_others_after_a_version(tmp_path):
    for n in range(5):
        write_deltalake(tmp_path / STATES, pa.table({"n": [n]}), mode="append")
    tables = reads(tmp_path)
    assert merging(tables) == []
    merged(tmp_path, 1, "theirs", 2)
    merged(tmp_path, 3, "ours", 2)
    assert merging(tables) == ["ours", "theirs"]
    # What this run saw when it began is no commit that came since.
    assert [tables.is_merged_by_others(STATES, "ours", seen) for seen in (-1, 0, 1, 2, 3)] == [
        True, True, False, False, False
    ]  # fmt: skip
    assert tables.is_merged_by_others(STATES, "theirs", 2)
    # Also by a commit that is no MERGE: the version 4 names no run.
    assert [is_committed_by_others(tables, "ours", seen) for seen in (2, 3, 4)] == [True, True, False]
    edited(tmp_path, STATES, 4, operation="UPDATE", **{METADATA_OF_COMMIT: "ours"})
    assert [is_committed_by_others(tables, "ours", seen) for seen in (1, 2, 3)] == [True, False, False]


@pytest.mark.large
def test_commits_of_others_are_found_however_many_commits_follow(tmp_path):
    appended(tmp_path, STATES, 3)
    merged(tmp_path, 1, "theirs", 0)
    # Maintenance, and this run: the newest commits of the log have no other run.
    appended(tmp_path, STATES, COMMITS_SEARCHED + 2)
    for version in range(3, COMMITS_SEARCHED + 5):
        edited(tmp_path, STATES, version, operation="OPTIMIZE", **{METADATA_OF_COMMIT: "ours"})
    merged(tmp_path, COMMITS_SEARCHED + 4, "ours", 2)
    tables = reads(tmp_path)
    assert [
        [each(STATES, "ours", since) for since in (0, 1)]
        for each in (tables.is_merged_by_others, tables.is_touched_by_others)
    ] == [[True, False]] * 2
    assert [is_committed_by_others(tables, "ours", since) for since in (1, 2)] == [True, False]
    assert merging(tables) == ["ours", "theirs"]
    edited(tmp_path, STATES, COMMITS_SEARCHED + 4, operation="WRITE")
    assert merging(tables) == ["theirs"]
    edited(tmp_path, STATES, 1, operation="WRITE")
    assert merging(tables) == []


def test_a_dialect_is_reduced_up_to_the_newest_version_that_any_of_its_states_names(tmp_path):
    for versions in ((3, 1), (1, 3), (1, 7, 3)):
        states(tmp_path, *versions)
        assert reduced_before(reads(tmp_path), "sdmp") == (max(versions), 2 * len(versions))
