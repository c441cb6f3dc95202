"""Sessions that cannot be used or started, and folders that cannot be made, are named."""

import os
import pwd
from types import SimpleNamespace

import pytest

import strandline
from strandline.cli.invocation import Invocation, Options
from strandline.config import effective, options_layer
from strandline.core.errors import FaultError, UsageError
from strandline.session.conf import DELTA_CATALOG, DELTA_EXTENSION
from strandline.session.functions import register
from strandline.session.local import _make_folder, log_path, start_local
from strandline.session.open import check_session

CATALOG = "spark.sql.catalog.spark_catalog"
EXTENDED = {"spark.sql.extensions": f"org.other.Extension,{DELTA_EXTENSION}"}
USABLE = EXTENDED | {CATALOG: "org.other.Catalog"}
HOSTED = {"spark.databricks.clusterUsageTags.clusterId": "c"}
IGNORING = ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles")


@pytest.mark.parametrize("settings", [USABLE, HOSTED, USABLE | dict.fromkeys(IGNORING, "false")])
def test_a_session_with_delta_that_reads_strictly_is_used(settings):
    check_session(settings.get)


@pytest.mark.parametrize("settings", [{}, {"spark.sql.extensions": "org.other.Extension"}])
def test_a_session_without_delta_is_refused_with_the_line_that_gives_it(settings):
    with pytest.raises(FaultError) as refused:
        check_session(settings.get)
    assert refused.value.code == "DELTA_MISSING"
    assert "--packages io.delta:delta-spark" in refused.value.next


@pytest.mark.parametrize("settings", [EXTENDED, EXTENDED | {CATALOG: "builtin"}])
def test_a_session_without_the_catalog_of_delta_is_refused_as_delta_itself_would(settings):
    with pytest.raises(FaultError) as refused:
        check_session(settings.get)
    assert refused.value.code == "DELTA_MISSING"
    assert CATALOG in refused.value.message
    assert f"--conf {CATALOG}={DELTA_CATALOG}`" in refused.value.next


def test_a_session_that_reads_no_table_by_its_path_is_refused_for_a_lake_at_a_path(monkeypatch, tmp_path):
    key = "spark.sql.runSQLOnFiles"
    settings = USABLE | {key: "false"}
    check_session(settings.get)
    session = SimpleNamespace(
        conf=SimpleNamespace(get=lambda name, default=None: settings.get(name, default))
    )
    monkeypatch.setattr(Invocation, "session", lambda *_, **__: session)
    with pytest.raises(FaultError, match=f"{key} to false") as refused:
        strandline.open(tmp_path / "lake").init()
    assert refused.value.code == "SQL_READ_DIFFERENTLY"
    assert list(tmp_path.iterdir()) == []
    assert Invocation("init", Options(schema="main.lake")).store(writes=False).spark is session


@pytest.mark.parametrize("key", IGNORING)
@pytest.mark.parametrize("given", [USABLE, HOSTED])
def test_a_session_that_passes_over_files_is_refused(given, key):
    with pytest.raises(FaultError) as refused:
        check_session((given | {key: "TRUE"}).get)
    assert refused.value.code == "CORRUPT_FILES_IGNORED"
    assert f"--conf {key}=false`" in refused.value.next


@pytest.mark.parametrize(
    ("key", "value", "needed"),
    [
        ("spark.sql.timestampType", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"),
        ("spark.sql.ansi.enforceReservedKeywords", "true", "false"),
        ("spark.sql.parser.escapedStringLiterals", "True", "false"),
        ("spark.sql.legacy.createEmptyCollectionUsingStringType", "true", "false"),
        ("spark.sql.execution.arrow.useLargeVarTypes", "true", "false"),
        ("spark.sql.function.concatBinaryAsString", "true", "false"),
        ("spark.sql.parser.quotedRegexColumnNames", "true", "false"),
    ],
)
def test_a_session_that_reads_statements_differently_is_refused(key, value, needed):
    check_session((USABLE | {key: needed.lower()}).get)
    with pytest.raises(FaultError) as refused:
        check_session((USABLE | {key: value}).get)
    assert refused.value.code == "SQL_READ_DIFFERENTLY"
    assert f"sets {key} to {value}, which" in refused.value.message
    assert f"--conf {key}={needed}`" in refused.value.next


def test_a_spark_without_table_functions_of_arrow_is_named_with_the_version_that_is_needed(monkeypatch):
    monkeypatch.delattr("pyspark.sql.functions.arrow_udtf")
    with pytest.raises(FaultError) as refused:
        register(SimpleNamespace(version="4.0.0"))
    assert refused.value.code == "SPARK_TOO_OLD"
    assert "4.0.0" in refused.value.message


def test_a_lake_in_a_folder_is_refused_on_databricks_before_anything_is_written(monkeypatch, tmp_path):
    session = SimpleNamespace(conf=SimpleNamespace(get=lambda key, default=None: HOSTED.get(key, default)))
    monkeypatch.setattr(Invocation, "session", lambda *_, **__: session)
    with pytest.raises(UsageError, match="is a folder") as refused:
        strandline.open(tmp_path / "lake").init()
    assert (refused.value.code, refused.value.exit_code) == ("FOLDER_ON_DATABRICKS", 2)
    assert "strandline.open(schema=" in refused.value.next
    assert list(tmp_path.iterdir()) == []
    for place in ({"lake": "abfss://c@a.dfs.core.windows.net/lake"}, {"schema": "main.lake"}):
        assert Invocation("init", Options(**place)).store(writes=False).spark is session


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_only_who_writes_beside_others_needs_a_log_store_with_a_lock(monkeypatch, scheme, several, writes):
    settings = USABLE | {}
    session = SimpleNamespace(
        conf=SimpleNamespace(get=lambda name, default=None: settings.get(name, default))
    )
    monkeypatch.setattr(Invocation, "session", lambda *_, **__: session)
    given = (f"merge.several_drivers={str(several).lower()}",)
    call = Invocation("reduce", Options(lake=f"{scheme}://bucket/lake", settings=given))
    if scheme == "s3" and several and writes:
        with pytest.raises(FaultError) as refused:
            call.store(writes=writes)
        assert refused.value.code == "LOG_STORE_UNSAFE"
    else:
        assert call.store(writes=writes).spark is session


def test_a_user_without_a_home_needs_one_only_for_a_session_of_its_own(monkeypatch, tmp_path):
    def unknown(number):
        raise KeyError(number)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME")
    given = ("spark.cache=/cache", "spark.state=/state")
    assert Invocation("init", Options(settings=given)).settings.spark.cache == "/cache"
    settings = Invocation("init", Options()).settings
    with pytest.raises(FaultError, match="no home folder") as refused:
        start_local(settings, {}, log_path(settings, "run"), "17", with_kafka=False)
    assert refused.value.code == "STATE_NOT_WRITABLE"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_below_a_file_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(FaultError) as refused:
        _make_folder(tmp_path / "file" / "state")
    assert refused.value.code == "STATE_NOT_WRITABLE"
    assert str(tmp_path / "file" / "state") in refused.value.message


def test_a_java_that_ends_before_it_answers_is_named_with_the_log(tmp_path, monkeypatch):
    program = tmp_path / "jdk" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho 'Unrecognized VM option' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setattr("strandline.session.local.ready_jars", lambda *_: ())
    settings = effective([options_layer([f"spark.cache={tmp_path / 'cache'}"])]).settings
    log = tmp_path / "state" / "spark-1.log"
    with pytest.raises(FaultError) as refused:
        start_local(settings, dict(os.environ), log, "17.0.1", with_kafka=False)
    assert refused.value.code == "SPARK_NOT_STARTED"
    assert str(log) in refused.value.next
    assert "Unrecognized VM option" in log.read_text()
