"""Which runs leave a table to be repaired, and which runs after them hide it."""

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
COUNTS = {
    "ingest": {"read": 3, "new": 3},
    "empty": {"read": 0, "new": 0},
    "nodes": {"read": 0, "new": 0, "authored": 2},
    "reduce": {"new_records": 1, "reduced": 1},
    "from": {"read": 0, "new": 0, "reduced": 0, "authored": 1},
    "sync": {"authored": 2, "reduced": 1},
    "gc": {"prunable": 2, "pruned": 2},
    "charge": {"new": 1},
    "old": {},
}
COMMANDS = {"empty": "ingest", "nodes": "ingest", "from": "sync", "charge": "effects", "old": "ingest"}


def store_of(lake, run_id="later", attempt=""):
    return TableStore(None, Location.lake(str(lake)), None, run_id=run_id, attempt=attempt)


def merged(lake, table, *run_ids):
    for run_id in run_ids:
        write_deltalake(lake / table, pa.table({"n": [1]}), mode="append")
        stated = {} if run_id is None else {METADATA_OF_COMMIT: run_id}
        edited(lake, table, DeltaTable(str(lake / table)).version(), operation="MERGE", **stated)


@pytest.fixture
def lake(tmp_path):
    """A lake with a row for each run of COUNTS."""
    for run_id, counts in COUNTS.items():
        row = {"run_id": run_id, "command": COMMANDS.get(run_id, run_id), "counts": list(counts.items())}
        delta_rs_lake.write(tmp_path, RUNS, [row])
    return tmp_path


@pytest.mark.large
@pytest.mark.parametrize(
    ("table", "hiding", "open_"),
    [
        (RECORDS, ["ingest", "empty", "from", "old"], ["nodes", "sync", "gc", "charge", None]),
        (REDUCED, ["reduce", "from", "sync", "old"], ["ingest", "gc", None]),
    ],
)
def test_a_killed_run_is_hidden_only_by_a_run_that_repaired_the_table(lake, table, hiding, open_):
    merged(lake, table, "gc", "killed")
    assert store_of(lake).begin_repair_of(table) == "killed"
    for after in open_:
        merged(lake, table, after, after)
        assert store_of(lake).begin_repair_of(table) == "killed"
    for after in hiding:
        merged(lake, table, "killed", after)
        assert not store_of(lake).begin_repair((table,))
        merged(lake, table, "gc")
        assert not store_of(lake).begin_repair((table,))


def test_of_more_runs_than_are_asked_for_the_oldest_counts_as_killed(lake, monkeypatch):
    merged(lake, RECORDS, "charge", "nodes", "gc", "sync")
    assert store_of(lake).begin_repair_of(RECORDS) is None
    monkeypatch.setattr(recorded_runs, "ASKED_AT_ONCE", (1, 2))
    assert store_of(lake).begin_repair_of(RECORDS) == "nodes"
    merged(lake, RECORDS, "ingest")
    assert store_of(lake).begin_repair_of(RECORDS) is None


def test_this_run_ends_a_repair_by_its_own_merge_and_hides_no_other_run_in_a_shared_table(lake):
    merged(lake, REDUCED, "killed", "gc")
    store = store_of(lake)
    assert store.partial_runs([REDUCED], still=True) == {REDUCED: "killed"}
    merged(lake, REDUCED, store.run_id, "gc")
    assert store.partial_runs([REDUCED], still=True) == {}
    assert store.partial_runs([REDUCED], still=False) == {REDUCED: "killed"}


def test_a_retry_repairs_what_its_own_attempt_left_that_was_killed(lake):
    merged(lake, RECORDS, "ingest", "later")
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
    row = {"run_id": "later", "command": "ingest", "counts": [("read", 1)]}
    delta_rs_lake.write(lake, RUNS, [row])
    assert store_of(lake, attempt="c-").begin_repair_of(RECORDS) is None


@pytest.mark.large
def test_a_merge_above_a_mark_that_came_after_its_run_had_read_hides_it(lake):
    store = store_of(lake)
    merged(lake, RECORDS, "ingest", "early-raced", "ingest")
    began = store.version(RECORDS)
    merged(lake, RECORDS, "ingest")
    assert not store.hides_mark(RECORDS, began)
    merged(lake, RECORDS, "later", "ingest-raced")
    # It is above the MERGE of this run: the next one finds it.
    assert not store.hides_mark(RECORDS, began)
    merged(lake, RECORDS, "gc", "later", "ingest")
    assert store.hides_mark(RECORDS, began)
    assert store_of(lake, "next").begin_repair_of(RECORDS) is None
    merged(lake, RECORDS, "later-raced")
    assert not store.hides_mark(RECORDS, began)
    assert store_of(lake, "next").begin_repair_of(RECORDS) == "later-raced"


@pytest.mark.parametrize("hides", [True, False])
@pytest.mark.parametrize("races", [True, False])
def test_a_run_leaves_one_mark_if_it_raced_or_hides_one(races, hides):
    left = []
    store = SimpleNamespace(
        run_id="ours", end_repair=dict, is_merged_by_others=lambda *_: races, hides_mark=lambda *_: hides,
        mark_race=left.append, spark=None,
    )  # fmt: skip
    admitter = Admitter.__new__(Admitter)
    admitter._store, admitter._dialect = store, dialect("sdmp")
    admitter.quarantine = SimpleNamespace(written=None)
    admitter._written, admitter._seen = {RECORDS: Written(5, 2)}, {RECORDS: 3, "quarantine": 1}
    admitter.end()
    assert left == [RECORDS] * (races or hides)
    left.clear()
    # After local journals, which this run wrote above its mark; without records to admit there is none.
    admitter.keep_mark(Written(7, 1))
    for written, seen in ((None, 3), (Written(4, 1), 3), (Written(7, 1), None)):
        admitter._seen = {} if seen is None else {RECORDS: seen}
        admitter.keep_mark(written)
    assert left == [RECORDS] * hides


def test_the_newest_rows_of_a_large_table_say_the_same_of_a_run(lake, monkeypatch):
    few = recorded_runs.recorded_runs(store_of(lake), COUNTS)
    assert few.keys() == COUNTS.keys()
    assert len(set(few.values())) == 4
    monkeypatch.setattr(small_tables, "MOST_FILES", 0)
    monkeypatch.setattr(TableStore, "read", None)
    assert recorded_runs.recorded_runs(store_of(lake), COUNTS) == few
    assert recorded_runs.recorded_runs(store_of(lake), ()) == {}
