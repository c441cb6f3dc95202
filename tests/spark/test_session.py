"""The session that is started here: its Python workers, and what it writes beside tables."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from strandline.core.errors import FaultError
from strandline.session import open_session
from strandline.session.conf import WORKERS
from strandline.tables.commits import session_settings
from strandline.tables.creating import DEFAULT_PROPERTIES, LakeDesign, make
from support.lakes import Lake


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


def test_a_session_that_is_there_and_passes_over_files_is_not_used(spark, settings):
    key = "spark.sql.files.ignoreCorruptFiles"
    with session_settings(spark, {key: "true"}), pytest.raises(FaultError) as refused:
        open_session(settings, environ=os.environ, run_id="refused")
    assert (refused.value.code, refused.value.exit_code) == ("CORRUPT_FILES_IGNORED", 3)
    assert key in refused.value.message


@pytest.mark.parametrize("host", [{}, {"DATABRICKS_RUNTIME_VERSION": "18.0"}], ids=["local", "hosted"])
def test_a_thread_gets_a_session_of_its_own_in_the_jvm_that_runs(spark, settings, host):
    def opened():
        return open_session(settings, environ={**os.environ, **host}, run_id="thread")

    key, statement = "fs.azure.account.key.example", "spark.databricks.delta.write.txnAppId"
    with session_settings(spark, {key: "secret", statement: "a run"}), ThreadPoolExecutor(1) as pool:
        own = pool.submit(opened).result()
    assert own.sparkContext is spark.sparkContext
    # Access to a store is that of the program; what a statement of another thread sets is not.
    assert (own.conf.get(key), own.conf.get(statement, None)) == ("secret", None)
    with session_settings(own, {"spark.sql.shuffle.partitions": "77"}):
        assert spark.conf.get("spark.sql.shuffle.partitions") != "77"
    assert opened() is spark


def test_new_tables_get_no_properties_that_the_session_gives_to_all_new_tables(spark, settings, tmp_path):
    unwanted = {"columnMapping.mode": "name", "appendOnly": "true"}
    defaults = {f"{DEFAULT_PROPERTIES}{name}": value for name, value in unwanted.items()}
    store = Lake(spark, settings, tmp_path / "lake").store()
    with session_settings(spark, defaults):
        make(store, LakeDesign(4, {}), ["run"])
        assert {name: spark.conf.get(name) for name in defaults} == defaults
    given = DeltaTable(str(tmp_path / "lake" / "run")).metadata().configuration
    assert not {f"delta.{name}" for name in unwanted} & set(given)
    assert store.few_rows("run").num_rows == 0
