"""A table is opened once for its newest commit, whoever made that."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from deltalake.exceptions import TableNotFoundError

from strandline.tables.history import history
from strandline.tables.location import Location
from strandline.tables.opened_tables import OpenedTables
from strandline.tables.reads import TableReads
from support import delta_rs_lake

TABLE = "node_journal_line"


def write(lake, number):
    delta_rs_lake.write(lake, TABLE, [{"namespace": f"node:{number}", "bucket": number}])


@pytest.fixture
def lake(tmp_path):
    write(tmp_path, 1)
    return tmp_path


@pytest.fixture
def opened(lake):
    return OpenedTables(Location.lake(str(lake)))


def test_a_table_is_opened_again_only_after_a_commit(lake, opened):
    first = opened.table(TABLE)
    assert opened.table(TABLE) is first
    write(lake, 2)
    later = opened.table(TABLE)
    assert (first.version(), later.version()) == (1, 2)
    assert opened.table(TABLE) is later


def test_a_commit_of_the_opened_table_itself_counts_too(opened):
    first = opened.table(TABLE)
    first.alter.set_table_description("another")
    assert opened.table(TABLE) is not first
    assert opened.table(TABLE).version() == 2


def test_a_table_that_was_recreated_with_the_same_version_is_opened_again(lake, opened):
    first = opened.table(TABLE)
    shutil.rmtree(lake / TABLE)
    write(lake, 3)
    later = opened.table(TABLE)
    assert first.version() == later.version()
    assert first.metadata().id != later.metadata().id


def test_a_checkpoint_after_which_commits_may_go_counts_as_a_change(lake, opened):
    first = opened.table(TABLE)
    first.create_checkpoint()
    assert opened.table(TABLE) is not first


def test_a_table_that_is_gone_is_not_found_any_more(lake, opened):
    opened.table(TABLE)
    shutil.rmtree(lake / TABLE)
    with pytest.raises(TableNotFoundError):
        opened.table(TABLE)


def test_a_thread_opens_its_own(opened):
    first = opened.table(TABLE)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(opened.table, TABLE).result() is not first
    assert opened.table(TABLE) is first


def test_a_lake_that_is_not_local_opens_none():
    assert OpenedTables(Location.schema("main", "strandline")).table(TABLE) is None


def test_all_questions_of_a_command_share_an_opened_table(lake):
    tables = TableReads(None, Location.lake(str(lake)))
    assert tables.stored_bytes(TABLE) > 0
    opened = tables.delta_rs_table(TABLE)
    assert tables.version(TABLE) == 1
    assert tables.delta_rs_table(TABLE) is opened


def test_a_log_is_listed_once_however_often_its_table_is_asked(lake, monkeypatch):
    """A log has half a million files after a month of micro-batches: a listing of them takes a second."""
    tables, logs, list_names = TableReads(None, Location.lake(str(lake))), [], os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: logs.append(folder) or list_names(folder))
    for number in (2, 3):
        for _ in range(5):
            assert tables.version(TABLE) == number - 1
            assert tables.few_rows(TABLE).num_rows == number - 1
            assert [each["version"] for each in tables.newest_commits(TABLE, 2)] == [number - 1, number - 2]
        write(lake, number)
    # For the opened table and for its rows.
    assert len(logs) == 2
    assert (tables.version(TABLE), tables.few_rows(TABLE).num_rows) == (3, 3)


def test_newest_commits_are_those_that_delta_rs_lists(lake, opened):
    for number in (2, 3):
        write(lake, number)
    table = opened.table(TABLE)
    for limit in (1, 2, 4, 9, None):
        stated = history(table, lake / TABLE, limit)
        assert stated == [{"operation": None, **each} for each in table.history(limit)]
        assert len(stated) == min(limit or 4, 4)
