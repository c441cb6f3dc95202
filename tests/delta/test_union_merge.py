"""The union merge: insert-only by the commit's own metrics, blind to other buckets, readable by delta-rs."""

import json
import uuid
from pathlib import Path

import pytest
from deltalake import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from strandline.contracts.load import tables
from strandline.core.hashing import set_hash, tagged
from strandline.core.ids import bucket_of
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.tables.commits import Retry
from strandline.tables.store import TableStore
from support.lakes import plain, write_files

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


def row_hashes(rows) -> bytes:
    return set_hash(tagged("test/row", repr(row).encode()) for row in rows)


def test_news_of_one_bucket_are_added_without_a_look_at_any_other(new_lake, tmp_path):
    lake = new_lake()
    first = {f"{n}.journal": journal(n, 20 + n) for n in range(JOURNALS)}
    lake.ingest(write_files(tmp_path / "first", first))
    lake.reduce()
    bucket = bucket_of(f"node:{node_of(0)}", 16)
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
    assert [int(metrics["numTargetRowsInserted"]) for metrics in done] == [
        0,
        30,
        sum(20 + n for n in range(JOURNALS)),
    ]
    for metrics in done:
        assert int(metrics["numTargetFilesRemoved"]) == 0
        assert int(metrics["numTargetRowsCopied"]) == 0


def test_delta_rs_reads_every_table_with_the_same_rows(new_lake, tmp_path):
    lake = new_lake()
    damaged = journal(1, 9).replace(b"@", b"!", 1)
    lake.ingest(write_files(tmp_path / "in", {"0.journal": journal(0, 9), "1.journal": damaged}))
    lake.reduce()
    for table in tables():
        opened = DeltaTable(str(lake.path / table))
        columns = [field.name for field in opened.schema().fields]
        if table == "run":
            assert opened.to_pyarrow_table(columns=["run_id"]).num_rows == lake.store().read(table).count()
            continue
        kept = [name for name in columns if not name.endswith(("_seen", "_at"))]
        theirs = [
            tuple(plain_arrow(value) for value in row.values())
            for row in opened.to_pyarrow_table(columns=kept).to_pylist()
        ]
        ours = [plain(row) for row in lake.store().read(table).select(*kept).collect()]
        assert len(theirs) == len(ours)
        assert row_hashes(theirs) == row_hashes(ours), table


def plain_arrow(value):
    if isinstance(value, dict):
        return tuple(plain_arrow(each) for each in value.values())
    return tuple(plain_arrow(each) for each in value) if isinstance(value, list) else value


def test_only_a_table_that_says_so_itself_is_taken_for_empty(new_lake, tmp_path):
    lake = new_lake()
    log = lake.path / "node_journal_line" / "_delta_log"

    def is_left_out() -> bool:
        plan = lake.store().read("node_journal_line")._jdf.queryExecution().optimizedPlan().toString()
        return "LocalRelation <empty>" in plan

    assert is_left_out()
    # Another writer may leave no checksum behind, or a catalog may hold the newest commit.
    checksum = log / f"{0:020}.crc"
    told = checksum.read_bytes()
    checksum.unlink()
    assert not is_left_out()
    checksum.write_bytes(told)
    staged = log / "_staged_commits" / f"{1:020}.{uuid.uuid4()}.json"
    staged.write_bytes(b"")
    assert not is_left_out()
    staged.unlink()
    assert is_left_out()
    lake.ingest(write_files(tmp_path / "in", {"0.journal": journal(0, 3)}))
    assert not is_left_out()
    assert lake.store().read("node_journal_line").count() == 3


def test_a_row_that_breaks_a_constraint_is_refused_by_the_table(new_lake, tmp_path):
    lake = new_lake()
    lake.ingest(write_files(tmp_path / "in", {"0.journal": journal(0, 3)}))
    rows = lake.store().read("node_journal_line").toJSON().collect()
    assert len({json.loads(row)["n"] for row in rows}) == 3
    moved = (
        lake.store().read("node_journal_line").selectExpr("* EXCEPT (bucket)", "(bucket + 1) % 16 AS bucket")
    )
    with pytest.raises((PySparkException, Py4JJavaError), match="bucket_is_derived"):
        moved.write.format("delta").mode("append").save(str(lake.path / "node_journal_line"))


def test_a_merge_tells_its_own_version_though_another_writer_commits_right_after_it(new_lake, tmp_path):
    lake = new_lake()
    lake.ingest(write_files(tmp_path / "first", {"0.journal": journal(0, 5)}))
    table = f"{lake.path}/node_journal_line"

    class Overtaken(Retry):
        def run(self, attempt, **told):
            done = super().run(attempt, **told)
            DeltaTable(table).alter.set_table_description("written by somebody else")
            return done

    store = lake.store()
    before = store.version("node_journal_line")
    rows = store.read("node_journal_line")
    retry = Overtaken(lake.settings.merge)
    overtaken = TableStore(lake.spark, store.location, retry, run_id="overtaken")
    written = overtaken.merge_new("node_journal_line", rows, tuple(range(16)), {})
    assert (written.version, store.version("node_journal_line")) == (before + 1, before + 2)
