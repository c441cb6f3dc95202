"""The session that is started here: its Python workers, and what it writes beside tables."""

import os
import stat
from pathlib import Path

import pyarrow as pa

from strandline.session.conf import WORKERS


def test_workers_are_forked_with_their_modules_and_import_nothing_from_the_working_folder(spark):
    def about_worker(batches):
        import gc
        import sys

        for _ in batches:
            told = [sys.modules["__main__"].__spec__.name, str(gc.get_freeze_count()), *sys.path]
            yield pa.RecordBatch.from_pydict({"told": told})

    rows = spark.range(1).coalesce(1).mapInArrow(about_worker, "told STRING").collect()
    main, frozen, *path = [row["told"] for row in rows]
    assert main == WORKERS
    # What was imported before the fork is kept out of collections.
    assert int(frozen) > 100_000
    assert not {"", os.getcwd()} & set(path)


def test_what_is_written_beside_tables_is_in_a_folder_for_this_user_alone(spark):
    jvm = spark._jvm
    temporary = Path(jvm.java.lang.System.getProperty("java.io.tmpdir"))
    private = temporary.parent
    blocks = [
        str(each)
        for each in jvm.org.apache.spark.SparkEnv.get().blockManager().diskBlockManager().localDirs()
    ]
    places = [
        *blocks,
        spark.sparkContext._temp_dir,
        spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"),
    ]
    assert len(blocks) == 1
    for place in places:
        assert Path(place).is_relative_to(private)
    found = private.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid) == (0o700, os.geteuid())
