"""What the driver reads of a small table is what Spark reads: every version, every table, every range of changes."""

import shutil

from chispa import assert_df_equality
from pyspark.sql import functions as F

from strandline.contracts.load import tables
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.frames.one_task import ONE_TASK
from strandline.tables import small_tables
from strandline.tables.commits import session_settings
from strandline.tables.maintain import RETENTION_CHECK
from strandline.tables.small_tables import SmallTables
from strandline.tables.work_settings import ONE_TASK_BYTES, SMALL_WORK, SMALL_WORK_BYTES
from support.lakes import Lake, write_files

LINES = "node_journal_line"


def journal(number, lines):
    return render(synthetic(number, lines))


def store_and_small(lake):
    store = lake.store()
    return store, SmallTables(store.location, is_trusted=True)


def by_spark(store, table, version):
    return (
        store.spark.read.format("delta").option("versionAsOf", version).load(store.location.table_path(table))
    )


def frame(store, small):
    rows, schema = small
    return store.spark.createDataFrame(rows, schema)


def by_text(rows):
    """The rows in the order of their text: Spark sorts no maps."""
    return rows.coalesce(1).sortWithinPartitions(F.to_json(F.struct(*map(F.col, rows.columns))))


def assert_equal(mine, spark):
    assert_df_equality(mine, spark, transforms=[by_text])


def test_every_table_is_read_as_spark_reads_it(new_lake, tmp_path):
    lake = new_lake()
    damaged = journal(1, 9).replace(b"@", b"!", 1)
    lake.ingest(write_files(tmp_path / "in", {"0.journal": journal(0, 9), "1.journal": damaged}))
    lake.reduce()
    store, small = store_and_small(lake)
    filled = 0
    for table in tables():
        found = small.rows(table)
        assert found is not None, table
        assert_equal(frame(store, found), by_spark(store, table, store.version(table)))
        filled += bool(found[0].num_rows)
    assert filled >= 5


def test_every_version_and_its_changes_are_read_as_spark_reads_them(new_lake, tmp_path):
    lake = new_lake()
    lake.ingest(
        write_files(tmp_path / "in", {f"{number}.journal": journal(number, 4) for number in range(3)})
    )
    # What is done to the copy no run does to this table.
    copy = Lake(lake.spark, lake.settings, shutil.copytree(lake.path, tmp_path / "copy"))
    for statement in (
        "ALTER TABLE {} SET TBLPROPERTIES (delta.appendOnly = false)",
        "UPDATE {} SET run_id = 'changed' WHERE n = 2",
        "DELETE FROM {} WHERE n = 4",
        "INSERT INTO {0} SELECT * FROM {0} VERSION AS OF 1 WHERE n = 4",
        "OPTIMIZE {}",
        "ALTER TABLE {} ADD COLUMNS (later BIGINT)",
        "DELETE FROM {} WHERE n = 1",
        # Its commits list all files anew, and rewritten files have a column that no schema names.
        "ALTER TABLE {} SET TBLPROPERTIES (delta.enableRowTracking = true)",
        "UPDATE {} SET run_id = 'tracked' WHERE n = 3",
        "ALTER TABLE {} SET TBLPROPERTIES (delta.enableInCommitTimestamps = true)",
        "DELETE FROM {} WHERE n = 3",
    ):
        lake.spark.sql(statement.format(f"delta.`{copy.path}/{LINES}`"))
    store, small = store_and_small(copy)
    last = store.version(LINES)
    assert last >= 8
    for version in range(last + 1):
        assert_equal(frame(store, small.rows(LINES, version)), by_spark(store, LINES, version))
    by_spark_only = store.at(store.location)
    for first, until in [(version, version) for version in range(1, last + 1)] + [(1, last), (2, 5)]:
        inserted = frame(store, small.changes(LINES, first, until))
        assert_equal(inserted, by_spark_only.changes(LINES, first, until))


def test_changes_that_delta_did_not_record_are_no_news_and_everything_is_reduced(
    new_lake, tmp_path, monkeypatch
):
    lake = new_lake()
    table = f"delta.`{lake.path}/{LINES}`"
    switch = f"ALTER TABLE {table} SET TBLPROPERTIES (delta.enableChangeDataFeed = {{}})"
    lake.ingest(write_files(tmp_path / "first", {"0.journal": journal(0, 4)}))
    lake.spark.sql(switch.format("false"))
    lake.reduce()
    off = lake.store().version(LINES)
    lake.ingest(write_files(tmp_path / "second", {"0.journal": journal(0, 9)}))
    lake.spark.sql(switch.format("true"))
    store, small = store_and_small(lake)
    on = store.version(LINES)
    lake.ingest(write_files(tmp_path / "third", {"1.journal": journal(1, 3)}))
    # A table that only appends would look the same with its added files; one that rewrites them would not.
    assert [small.changes(LINES, first, on) for first in (off + 1, on - 1)] == [None, None]
    assert small.changes(LINES, on, on + 1)[0].num_rows == 3
    assert store.changes_since(LINES, off, on + 1) is None
    told = lake.reduce()
    assert (told.outcome, told.counts["reduced"]) == ("ok", 2)
    assert sorted(lake.rows("node_journal", "tip_n")) == [(3,), (9,)]
    # Nor are those whose files a VACUUM of another program removed.
    lake.ingest(write_files(tmp_path / "fourth", {"1.journal": journal(1, 6)}))
    with session_settings(lake.spark, {RETENTION_CHECK: "false"}):
        for statement in ("OPTIMIZE {}", "VACUUM {} RETAIN 0 HOURS"):
            lake.spark.sql(statement.format(table)).collect()
    told = lake.reduce()
    assert (told.outcome, told.counts["reduced"]) == ("ok", 2)
    assert sorted(lake.rows("node_journal", "tip_n")) == [(6,), (9,)]
    # Nor are those beside a commit that gave a column another name, also if it has its own again.
    for statement in (
        "ALTER TABLE {} SET TBLPROPERTIES (delta.columnMapping.mode = 'name')",
        "ALTER TABLE {} RENAME COLUMN source TO file",
        "ALTER TABLE {} RENAME COLUMN file TO source",
    ):
        lake.spark.sql(statement.format(table)).collect()
    lake.ingest(write_files(tmp_path / "fifth", {"1.journal": journal(1, 8)}))
    monkeypatch.setattr(small_tables, "MOST_BYTES", 1)
    told = lake.reduce()
    assert (told.outcome, told.counts["reduced"]) == ("ok", 2)
    assert sorted(lake.rows("node_journal", "tip_n")) == [(8,), (9,)]
    assert lake.reduce(full=True).members["differences"] == {}


def test_nothing_of_the_lake_of_another_is_read_into_the_driver(new_lake, tmp_path):
    lake = new_lake()
    lake.ingest(write_files(tmp_path / "in", {"0.journal": journal(0, 4)}))
    store = lake.store()
    there = store.at(store.location)

    def is_local(rows):
        return "LocalRelation" in rows._jdf.queryExecution().analyzed().toString()

    for tables_of, expected in ((store, True), (there, False)):
        read = (tables_of.read(LINES), tables_of.read_version(LINES, 1), tables_of.changes(LINES, 1, 1))
        assert [is_local(rows) for rows in read] == [expected] * 3
        assert [rows.count() for rows in read] == [4] * 3


def test_large_work_has_the_usual_settings_also_within_small_work(new_lake):
    store = new_lake().store()
    conf = store.spark.conf

    def has_settings():
        return {name: conf.get(name) for name in SMALL_WORK} == SMALL_WORK

    with session_settings(store.spark, dict.fromkeys(SMALL_WORK)):
        before = has_settings()
        with store.sized(SMALL_WORK_BYTES):
            seen = [has_settings()]
            with store.sized(SMALL_WORK_BYTES + 1):
                seen.append(has_settings())
            seen.append(has_settings())
        assert (before, seen, has_settings()) == (False, [True, False, True], False)


def test_a_stage_has_one_task_if_the_work_and_every_table_are_small(new_lake, monkeypatch, tmp_path):
    lake = new_lake()
    lake.ingest(write_files(tmp_path / "in", {"0.journal": journal(0, 9)}))

    def has_one_task(work_bytes, *named):
        store = lake.store()
        with store.sized(work_bytes, named):
            return ONE_TASK.items() <= store.spark.conf.getAll.items()

    assert has_one_task(ONE_TASK_BYTES, LINES, "node_journal")
    assert not has_one_task(ONE_TASK_BYTES + 1, LINES, "node_journal")
    # Without the names of the tables nothing is known of them.
    assert not has_one_task(0)
    assert not has_one_task(0, LINES, "no_such_table")
    # The other tables have no file at all.
    monkeypatch.setattr(small_tables, "MOST_BYTES", 1)
    assert not has_one_task(0, LINES, "node_journal")
    assert has_one_task(0, "node_journal")
    assert not SmallTables(lake.store().location, is_trusted=False).is_small("node_journal")
