"""Which runs leave a table to be repaired, and which runs after them hide it."""

import json
from types import SimpleNamespace

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from strandline.dialects import dialect
from strandline.pipelines.admission import Admitter
from strandline.tables import recorded_runs, small_tables
from strandline.tables.commits import METADATA_OF_COMMIT
from strandline.tables.location import Location
from strandline.tables.merges import LAST_COMMIT
from strandline.tables.store import TableStore
from strandline.tables.written import Written
from support import delta_rs_lake
from unit.tables.test_reduced_versions import edited

RECORDS, REDUCED, RUNS = "node_journal_line", "node_journal", "run"


def store_of(lake, run_id="later", attempt=""):
    return TableStore(None, Location.lake(str(lake)), None, run_id=run_id, attempt=attempt)


def merged(lake, table, *run_ids):
    for run_id in run_ids:
        write_deltalake(lake / table, pa.table({"n": [1]}), mode="append")
        stated = {} if run_id is None else {METADATA_OF_COMMIT: run_id}
        edited(lake, table, DeltaTable(str(lake / table)).version(), operation="MERGE", **stated)


def recorded(lake, run_id, **repaired):
    """Write the row of a run that had repaired tables up to these versions."""
    detail = {"repaired_versions": repaired} if repaired else {}
    delta_rs_lake.write(lake, RUNS, [{"run_id": run_id, "command": "any", "detail": json.dumps(detail)}])


@pytest.fixture
def lake(tmp_path):
    """A lake in which the runs `gc` and `charge` have a row, and repaired nothing."""
    recorded(tmp_path, "gc")
    recorded(tmp_path, "charge")
    return tmp_path


def test_a_killed_run_is_found_until_a_run_that_read_its_merge_has_a_row(lake):
    merged(lake, RECORDS, "gc", "killed")
    for after in ("gc", "charge", None):
        merged(lake, RECORDS, after, after)
        assert store_of(lake).begin_repair_of(RECORDS) == "killed"
    # Its row names another table, or a version before.
    recorded(lake, "other", **{REDUCED: 9})
    recorded(lake, "overlapped", **{RECORDS: 0})
    merged(lake, RECORDS, "other", "overlapped")
    assert store_of(lake).begin_repair_of(RECORDS) == "killed"
    store = store_of(lake)
    assert store.begin_repair((RECORDS,))
    assert store.repaired_versions == {RECORDS: DeltaTable(str(lake / RECORDS)).version()}
    merged(lake, RECORDS, store.run_id)
    recorded(lake, store.run_id, **store.repaired_versions)
    for after in ("charge", "gc", "overlapped"):
        merged(lake, RECORDS, after)
        assert not store_of(lake, "next").begin_repair((RECORDS,))


def test_a_merge_that_came_after_a_run_had_read_is_found_below_the_merges_of_that_run(lake):
    """That of a killed run, or a mark; also its own mark."""
    recorded(lake, "reader", **{RECORDS: 1})
    recorded(lake, "beside")
    merged(lake, RECORDS, "charge", "beside", "reader", "reader")
    assert store_of(lake).begin_repair_of(RECORDS) is None
    merged(lake, RECORDS, "reader-raced", "reader")
    assert store_of(lake).begin_repair_of(RECORDS) == "reader-raced"
    recorded(lake, "later", **{RECORDS: 5})
    merged(lake, RECORDS, "later")
    assert store_of(lake, "next").begin_repair_of(RECORDS) is None


def test_a_version_of_a_table_that_was_dropped_repairs_none_of_the_new_one(lake):
    recorded(lake, "reader", **{RECORDS: 40})
    merged(lake, RECORDS, "killed", "reader", "gc")
    assert store_of(lake).begin_repair_of(RECORDS) == "killed"


def test_of_more_runs_than_are_asked_for_the_oldest_counts_as_killed(lake, monkeypatch):
    runs = [f"charge {number}" for number in range(6)]
    for each in runs:
        recorded(lake, each)
    merged(lake, RECORDS, *runs)
    assert store_of(lake).begin_repair_of(RECORDS) is None
    monkeypatch.setattr(recorded_runs, "ASKED_AT_ONCE", (1, 2))
    assert store_of(lake).begin_repair_of(RECORDS) == runs[2]
    recorded(lake, "reader", **{RECORDS: 5})
    merged(lake, RECORDS, "reader")
    assert store_of(lake).begin_repair_of(RECORDS) is None


def test_this_run_ends_a_repair_by_its_own_merge_and_hides_no_other_run_in_a_shared_table(lake):
    merged(lake, REDUCED, "killed", "gc")
    store = store_of(lake)
    assert store.partial_runs([REDUCED], still=True) == {REDUCED: "killed"}
    merged(lake, REDUCED, store.run_id, "gc")
    assert store.partial_runs([REDUCED], still=True) == {}
    assert store.partial_runs([REDUCED], still=False) == {REDUCED: "killed"}


def test_a_retry_repairs_what_its_own_attempt_left_that_was_killed(lake):
    merged(lake, RECORDS, "gc", "later")
    # A run whose id nobody gave has no other process.
    assert store_of(lake).begin_repair_of(RECORDS) is None
    store = store_of(lake, attempt="b-")
    assert store.begin_repair_of(RECORDS) == "later"
    assert store.partial_runs([RECORDS], still=True) == {RECORDS: "later"}
    # As a MERGE of this process notes it.
    merged(lake, RECORDS, "later")
    session = {LAST_COMMIT: str(store.version(RECORDS))}
    store.spark = SimpleNamespace(conf=SimpleNamespace(get=session.get))
    store.through(store.spark)._committed(RECORDS)
    assert store.partial_runs([RECORDS], still=True) == {}
    assert store.begin_repair_of(RECORDS) == "later"
    # The attempt had written its row: nothing is left of it.
    recorded(lake, "later", **{RECORDS: 1})
    assert store_of(lake, attempt="c-").begin_repair_of(RECORDS) is None


@pytest.mark.parametrize("races", [True, False])
def test_a_run_leaves_a_mark_if_it_raced(races):
    left = []
    store = SimpleNamespace(
        run_id="ours", end_repair=dict, is_merged_by_others=lambda *_: races, mark_race=left.append
    )
    admitter = Admitter.__new__(Admitter)
    admitter._store, admitter._dialect = store, dialect("sdmp")
    admitter.quarantine = SimpleNamespace(written=None)
    admitter._written, admitter._seen = {RECORDS: Written(5, 2)}, {RECORDS: 3, "quarantine": 1}
    admitter.end()
    assert left == [RECORDS] * races


def test_the_newest_rows_of_a_large_table_say_the_same_of_a_run(lake, monkeypatch):
    recorded(lake, "reader", **{RECORDS: 4, REDUCED: 2})
    delta_rs_lake.write(lake, RUNS, [{"run_id": "edited", "detail": '{"repaired_versions": {"run": "4"}}'}])
    expected = {"gc": {}, "reader": {RECORDS: 4, REDUCED: 2}, "edited": {}}
    assert recorded_runs.recorded_runs(store_of(lake), {*expected, "killed"}) == expected
    monkeypatch.setattr(small_tables, "MOST_FILES", 0)
    monkeypatch.setattr(TableStore, "read", None)
    assert recorded_runs.recorded_runs(store_of(lake), {*expected}) == expected
