"""What a run wrote is told by its own MERGE: not by a commit after it, nor by the answer to a repeated statement."""

from types import SimpleNamespace

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.errors import AnalysisException

from strandline.config import defaults
from strandline.tables.commits import METADATA_OF_COMMIT, Retry
from strandline.tables.location import Location
from strandline.tables.metadata import COMMITS_SEARCHED
from strandline.tables.store import TableStore
from strandline.tables.written import Written
from unit.tables.test_reduced_versions import edited

TABLE, OURS, THEIRS = "quarantine", "ours", "theirs"


class Spark:
    """A session in which Delta does what the statements of `does` say, one at each MERGE."""

    def __init__(self, *does) -> None:
        self.does = list(does)
        self.conf = SimpleNamespace(get=lambda *_: None, set=lambda *_: None, unset=lambda _: None)
        self.catalog = SimpleNamespace(dropTempView=lambda _: None)

    def sql(self, _statement):
        rows = self.does.pop(0)()
        return SimpleNamespace(collect=lambda: rows)


def merged(lake, run_id, *counts):
    """Commit a MERGE of a run that inserted, updated and deleted so many rows."""
    write_deltalake(lake / TABLE, pa.table({"n": [1]}), mode="append")
    metrics = {
        f"numTargetRows{kind}": str(count)
        for kind, count in zip(("Inserted", "Updated", "Deleted"), counts, strict=True)
    }
    stated = {METADATA_OF_COMMIT: run_id, "operationMetrics": metrics}
    edited(lake, TABLE, newest(lake), operation="MERGE", **stated)


def compacted(lake, run_id):
    """Commit what Delta's auto compaction commits: it names the run, too."""
    write_deltalake(lake / TABLE, pa.table({"n": [1]}), mode="append")
    stated = {METADATA_OF_COMMIT: run_id, "operationMetrics": {"numAddedFiles": "1"}}
    edited(lake, TABLE, newest(lake), operation="OPTIMIZE", **stated)


def newest(lake):
    return len([*(lake / TABLE / "_delta_log").glob("*.json")]) - 1


def store_of(lake, *does):
    retry = Retry(defaults().merge, sleep=lambda _: None)
    return TableStore(Spark(*does), Location.lake(str(lake)), retry, run_id=OURS)


@pytest.fixture
def lake(tmp_path):
    write_deltalake(tmp_path / TABLE, pa.table({"n": [0]}))
    return tmp_path


def test_a_merge_is_found_below_a_compaction_and_the_merges_of_others(lake):
    store, given = store_of(lake), Written(7, 1)
    merged(lake, THEIRS, 1, 0, 0)
    assert store.merge_of(TABLE, OURS, given) == given
    merged(lake, OURS, 9, 0, 0)
    merged(lake, OURS, 2, 3, 4)
    compacted(lake, OURS)
    merged(lake, THEIRS, 5, 0, 0)
    compacted(lake, THEIRS)
    assert store.merge_of(TABLE, OURS, given) == Written(3, 2, 3, 4)
    for _ in range(COMMITS_SEARCHED):
        merged(lake, THEIRS, 5, 0, 0)
    assert store.merge_of(TABLE, OURS, given) == Written(3, 2, 3, 4)


def test_a_merge_that_was_committed_although_its_writer_was_told_otherwise_is_counted_by_its_commit(
    lake, monkeypatch
):
    def lost():
        merged(lake, OURS, 2, 3, 0)
        raise AnalysisException("[DELTA_CONCURRENT_TRANSACTION] The commit was there.")

    # Delta skips the repeated statement by its transaction id, and says nothing.
    store = store_of(lake, lost, list)
    rows = SimpleNamespace(select=lambda *_: None)
    monkeypatch.setattr(
        "strandline.tables.merges.laid_out", lambda *_: SimpleNamespace(createOrReplaceTempView=id)
    )
    assert (store.upsert(TABLE, rows, (0,)), store.spark.does) == (Written(1, 2, 3, 0), [])


def test_two_marks_of_a_run_on_one_table_have_different_transaction_ids(lake, monkeypatch):
    ids = []
    monkeypatch.setattr(
        TableStore, "touch", lambda self, table: ids.append((self.run_id, table, self.attempt))
    )
    store = store_of(lake)
    store.mark_race(TABLE)
    store.mark_race(TABLE)
    assert {each[:2] for each in ids} == {(f"{OURS}-raced", TABLE)}
    assert len(set(ids)) == 2
