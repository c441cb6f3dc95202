"""The union merge: insert-only by the commit's own metrics, blind to other buckets, readable by delta-rs."""

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from strandline.core.ids import bucket_of
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.pipelines.runs import RunResult, record_run
from strandline.tables.commits import METADATA_OF_COMMIT, Retry
from strandline.tables.metadata import is_merge
from strandline.tables.store import TableStore
from support.lakes import write_files
from support.places import BUCKETS

JOURNALS = 12


def journal(number: int, lines: int) -> bytes:
    return render(synthetic(number, lines))


def node_of(number: int) -> str:
    return next(synthetic(number, 1)).decode()


def merges(lake) -> list[dict]:
    history = lake.spark.sql(f"DESCRIBE HISTORY delta.`{lake.path}/node_journal_line`").collect()
    return [row["operationMetrics"] for row in history if row["operation"] == "MERGE"]


def data_files(lake, table: str) -> list[Path]:
    return sorted((lake.path / table).glob("bucket=*/*.parquet"))


def test_news_of_one_bucket_are_added_without_a_look_at_any_other(new_lake, tmp_path):
    lake = new_lake()
    first = {f"{n}.journal": journal(n, 20 + n) for n in range(JOURNALS)}
    lake.ingest(write_files(tmp_path / "first", first))
    lake.reduce()
    bucket = bucket_of(f"node:{node_of(0)}", BUCKETS)
    others = [
        path for path in data_files(lake, "node_journal_line") if path.parent.name != f"bucket={bucket}"
    ]
    hidden = [(path, path.rename(path.with_suffix(".hidden"))) for path in others]
    assert hidden
    try:
        report = lake.ingest(write_files(tmp_path / "news", {"0.journal": journal(0, 50)}))
        reduced = lake.reduce()
    finally:
        for path, away in hidden:
            away.rename(path)
    assert (report.counts["read"], report.counts["new"], report.counts["known"]) == (50, 30, 20)
    assert reduced.namespaces == 1
    assert lake.reduce(full=True).outcome == "ok"
    again = lake.ingest(tmp_path / "first")
    assert (again.counts["new"], again.counts["known"]) == (0, sum(20 + n for n in range(JOURNALS)))
    done = merges(lake)
    # Known lines are not merged again.
    assert [int(metrics["numTargetRowsInserted"]) for metrics in done] == [
        30,
        sum(20 + n for n in range(JOURNALS)),
    ]
    for metrics in done:
        assert int(metrics["numTargetFilesRemoved"]) == 0
        assert int(metrics["numTargetRowsCopied"]) == 0


def test_a_row_that_breaks_a_constraint_is_refused_by_the_table(new_lake, tmp_path):
    lake = new_lake()
    lake.ingest(write_files(tmp_path / "in", {"0.journal": journal(0, 3)}))
    rows = lake.store().read("node_journal_line").toJSON().collect()
    assert len({json.loads(row)["n"] for row in rows}) == 3
    moved = (
        lake.store()
        .read("node_journal_line")
        .selectExpr("* EXCEPT (bucket)", f"(bucket + 1) % {BUCKETS} AS bucket")
    )
    with pytest.raises((PySparkException, Py4JJavaError), match="bucket_is_derived"):
        moved.write.format("delta").mode("append").save(str(lake.path / "node_journal_line"))


def newest_merge(store, table):
    """The version of a table, and the run of its newest MERGE."""
    return store.version(table), next(filter(is_merge, store.every_commit(table)))[METADATA_OF_COMMIT]


def test_a_merge_tells_its_own_version_though_another_writer_commits_right_after_it(new_lake, tmp_path):
    lake, other = new_lake(), new_lake("other")
    other.ingest(write_files(tmp_path / "first", {"0.journal": journal(0, 5)}))
    table = f"{lake.path}/node_journal_line"

    class Overtaken(Retry):
        def run(self, attempt, **told):
            done = super().run(attempt, **told)
            DeltaTable(table).alter.set_table_description("written by somebody else")
            return done

    store = lake.store()
    before = store.version("node_journal_line")
    rows = other.store().read("node_journal_line")
    retry = Overtaken(lake.settings.merge)
    overtaken = TableStore(lake.spark, store.location, retry, run_id="overtaken")
    written = overtaken.merge_new("node_journal_line", rows, tuple(range(BUCKETS)), {})
    assert (written.version, store.version("node_journal_line")) == (before + 1, before + 2)
    # Another run with the same rows changes nothing, so it commits nothing, unless it repairs what a killed one left.
    later = TableStore(lake.spark, store.location, Retry(lake.settings.merge), run_id="later")
    assert later.merge_new("node_journal_line", rows, tuple(range(BUCKETS)), {}).inserted == 0
    assert newest_merge(later, "node_journal_line") == (before + 2, "overtaken")
    assert later.begin_repair(("node_journal_line",))
    assert later.merge_new("node_journal_line", rows, tuple(range(BUCKETS)), {}).inserted == 0
    assert newest_merge(later, "node_journal_line") == (before + 3, "later")
    # Then it is repaired. A table of all dialects is so only for the one that this run wrote.
    assert not later.begin_repair(("node_journal_line",), still=True)
    assert later.begin_repair(("node_journal_line",))
    assert later.begin_repair_of("node_journal_line") == "overtaken"
    record_run(overtaken, lake.context(overtaken, "init"), RunResult())
    assert lake.store().of_run("later").begin_repair_of("node_journal_line") is None
    assert lake.store().begin_repair_of("node_journal_line") == "later"
