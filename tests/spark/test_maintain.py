"""`maintain`: no row changes, and what the next reduction and `--as-of` need stays."""

import os
import shutil

import pytest
from deltalake import DeltaTable

from strandline.core.errors import UsageError
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from support.ages import age
from support.kills import KilledError, killed_at
from support.lakes import write_files
from support.random_journals import corpus

RECORDS = "node_journal_line"
FILES = corpus(seed=91, journals=6, runs=3)
EAGER = {"small_files": 2}


def _entry(report, table):
    return next((each for each in report.members["maintenance"] if each["table"] == table), None)


def _live(lake, table):
    return len(DeltaTable(str(lake.path / table)).file_uris())


def cluster(lake, table, column):
    """Make a table anew with its rows and properties, clustered by a column in place of its partitions."""
    target, stated = f"delta.`{lake.path / table}`", lake.store().properties(table).items()
    kept = [
        f"'{name}' = '{value}'" for name, value in stated if name.startswith(("strandline.", "delta.enable"))
    ]
    lake.spark.sql(f"ALTER TABLE {target} SET TBLPROPERTIES (delta.appendOnly = false)")
    lake.spark.sql(
        f"CREATE OR REPLACE TABLE {target} USING DELTA CLUSTER BY ({column}) TBLPROPERTIES ({', '.join(kept)}) "
        f"AS SELECT * FROM {target}"
    )


def _stray(lake):
    """A file that a killed run left."""
    return lake.path / RECORDS / "bucket=0" / "part-of-a-killed-run.parquet"


def _three_runs(lake, root):
    """Three runs, the last one not reduced, whose input lies below `root`.

    Returns the id of the first reduction, and a namespace of it.
    """
    for number, files in enumerate(FILES):
        lake.ingest(write_files(root / f"in{number}", files))
        if number == 0:
            first, [[name], *_] = lake.reduce().run_id, lake.rows("namespace_state", "namespace")
        elif number == 1:
            lake.reduce()
    return first, name


def test_rows_stay_small_files_and_old_ones_go_and_the_next_reduction_sees_the_same_news(new_lake, tmp_path):
    lake = new_lake(buckets=2)
    first_run, name = _three_runs(lake, tmp_path)
    before, versions, files = lake.tables(), lake.versions(), _live(lake, RECORDS)
    planned = lake.maintain(dry_run=True, **EAGER)
    assert lake.versions() == versions
    assert _entry(planned, RECORDS)["small_files"]["files"] == files
    with pytest.raises(KilledError):
        lake.maintain(faults=killed_at(f"maintain.compacted.{RECORDS}"), **EAGER)
    done = lake.maintain(**EAGER)
    assert lake.tables() == before
    assert _live(lake, RECORDS) == 2 < files
    assert done.counts["removed_files"] == 0
    assert done.counts["compacted_files"] > done.counts["written_files"] > 0
    again = lake.maintain(**EAGER)
    assert again.members["maintenance"] == [] or [each["table"] for each in again.members["maintenance"]] == [
        "run"
    ]
    inserted = lake.store().read(RECORDS).count() - sum(
        row[0] for row in lake.asked("SELECT record_count FROM namespace_state")
    )
    _stray(lake).write_bytes(b"PAR1")
    # The newest run that read records read another table, too: `--as-of` reads it as it was then.
    lake.damage(
        "UPDATE run SET read_versions = map_concat(read_versions, map('node_journal', 1L)) "
        "WHERE size(read_versions) > 0"
    )
    old = type(lake)(lake.spark, lake.settings, tmp_path / "old")
    shutil.copytree(lake.path, old.path)
    # As delta-rs writes one after a hundred runs.
    runs = DeltaTable(str(old.path / "run"))
    runs.create_checkpoint()
    age(old.path, 50)
    # Older than everything that the next reduction needs.
    os.utime(_stray(old), (0, 0))

    planned = old.maintain(dry_run=True)
    assert _stray(old).exists()
    # By the days that `maintain` sets: by the 30 that the table states, the files of 50 days would go, too.
    assert _entry(planned, RECORDS)["removable_files"] == 1
    done = old.maintain()
    assert not _stray(old).exists()
    assert min((old.path / "run" / "_delta_log").glob("*.json")).stem == f"{runs.version():020}"
    # Of the records only the stray: their next reduction needs the others.
    assert done.counts["removed_files"] > _entry(done, RECORDS)["removable_files"] == 1
    kept = _entry(done, RECORDS)
    assert (kept["kept_for"], kept["kept_days"]) == ("reduce", 60)
    kept = _entry(done, "node_journal")
    assert (kept["kept_for"], kept["kept_days"]) == ("as-of", 60)
    assert old.tables() == before
    # Incremental: the commits and files since the last reduction are there.
    reduced = old.reduce()
    assert reduced.counts["new_records"] == inserted > 0
    assert old.reduce(full=True).members["differences"] == {}

    last = old.maintain()
    assert (_entry(last, RECORDS)["kept_for"], _entry(last, RECORDS)["kept_days"]) == ("age", 30)
    assert last.counts["removed_files"] > 0
    assert old.export(tmp_path / "newest.journal", name, as_of=reduced.run_id).counts["records"] > 0
    with pytest.raises(UsageError) as refused:
        old.export(tmp_path / "first.journal", name, as_of=first_run)
    assert refused.value.code == "VERSION_VACUUMED"
    assert old.ingest(tmp_path / "in1").counts["new"] == 0
    old.assert_sound()


def test_a_table_that_somebody_clustered_is_compacted_as_a_whole(new_lake, tmp_path):
    lake = new_lake()
    lake.ingest(write_files(tmp_path / "first", {"1.journal": render(list(synthetic(1, 3)))}))
    cluster(lake, RECORDS, "namespace")
    lake.ingest(write_files(tmp_path / "second", {"2.journal": render(list(synthetic(2, 3)))}))
    assert _live(lake, RECORDS) > 1
    assert _entry(lake.maintain(**EAGER), RECORDS)["small_files"]["buckets"] == [None]
    assert _live(lake, RECORDS) == 1
