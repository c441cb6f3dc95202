"""What of the session can be told without a JVM: the jar's name, the Java that is found, the configuration."""

import os
import re
import subprocess
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pyspark
import pytest

from strandline.config import defaults, effective, options_layer
from strandline.core.errors import FaultError, UsageError
from strandline.session import is_hosted, local, log_path, open_session
from strandline.session import open as open_module
from strandline.session.classic.engine import ClassicEngine
from strandline.session.conf import (
    DELTA_CATALOG,
    DELTA_EXTENSION,
    NEEDED,
    NEEDED_AT_A_PATH,
    REGIONS,
    STRICT,
    log_config,
    page_bytes,
    spark_conf,
)
from strandline.session.jars import coordinate
from strandline.session.java import check_java, find_java, major, parse_version, version_of
from strandline.session.open import _existing, check_session, check_settings
from strandline.session.stores import check_log_store, check_store_jar, has_lock, store_jar_missing

[_CLIENT] = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
HADOOP = _CLIENT.stem.rpartition("-")[2]
CLUSTER_FILE = (Path(__file__).parents[3] / "conf" / "spark-defaults.conf").read_text()


def fake_java(folder: Path, says: str) -> dict[str, str]:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"}


def test_the_coordinate_names_the_spark_version() -> None:
    assert coordinate("4.2.0", "4.4.0") == "io.delta:delta-spark_4.2_2.13:4.4.0"
    assert coordinate("10.11.12", "5.0.1") == "io.delta:delta-spark_10.11_2.13:5.0.1"


def test_the_coordinate_follows_what_is_installed_and_the_cluster_file_says_the_same() -> None:
    assert coordinate().endswith(f":{version('delta-spark')}")
    assert coordinate() in CLUSTER_FILE


def test_the_cluster_file_gives_driver_and_executors_the_heap_regions_of_our_own_session(
    tmp_path: Path,
) -> None:
    ours = spark_conf(defaults(), temporary=tmp_path, jars=())
    assert REGIONS in ours["spark.driver.extraJavaOptions"].split()
    assert ours["spark.executor.extraJavaOptions"] == REGIONS
    lines = [line.split() for line in CLUSTER_FILE.splitlines()]
    assert [name for name, *rest in lines if rest == [REGIONS]] == [
        "spark.driver.extraJavaOptions",
        "spark.executor.extraJavaOptions",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ('openjdk version "11.0.2" 2019-01-15', 11),
        ('java version "1"', 1),
        ('java version "1-ea"', 1),
        ('IMPLEMENTOR="x"\nJAVA_VERSION="25.0.1"\n', 25),
    ],
)
def test_a_java_version_is_parsed(text: str, expected: int) -> None:
    found = parse_version(text)
    assert found is not None
    assert major(found) == expected


def test_what_is_no_java_has_no_version() -> None:
    assert parse_version("command not found") is None


@pytest.mark.parametrize("version", ["17.0.1", "21.0.1", "25.0.3"])
def test_a_java_that_spark_supports_passes(tmp_path: Path, version: str) -> None:
    assert check_java(fake_java(tmp_path, f'openjdk version "{version}"')) == version


@pytest.mark.parametrize("version", ["11.0.2", "18.0.2", "22", "24.0.1", "26-ea"])
def test_a_java_between_or_after_these_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(
        FaultError, match=rf"Spark needs Java 17, 21 or 25, but .* is Java {version}"
    ) as caught:
        check_java(fake_java(tmp_path, f'openjdk version "{version}"'))
    assert caught.value.code == "JAVA_UNSUPPORTED"


def test_java_8_is_named_with_the_line_that_mends_it(tmp_path: Path) -> None:
    with pytest.raises(FaultError) as caught:
        check_java(fake_java(tmp_path, 'java version "1.8.0_392"'))
    assert caught.value.code == "JAVA_UNSUPPORTED"
    assert "1.8.0_392" in caught.value.message
    assert "apt-get install -y openjdk-17" in caught.value.next
    assert caught.value.exit_code == 3


def test_no_java_is_named_with_the_line_that_mends_it(tmp_path: Path) -> None:
    for environ in ({"PATH": str(tmp_path)}, {"JAVA_HOME": str(tmp_path), "PATH": "/usr/bin"}):
        with pytest.raises(FaultError) as caught:
            check_java(environ)
        assert caught.value.code == "JAVA_MISSING"
        assert "apt-get install" in caught.value.next


@pytest.mark.parametrize("stream", [1, 2])
def test_a_java_tells_its_version_on_either_stream(tmp_path: Path, stream: int) -> None:
    program = tmp_path / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&{stream}\n")
    program.chmod(0o755)
    assert version_of(program) == "17.0.1"


def test_the_release_file_of_a_java_is_believed_before_it_is_asked(tmp_path: Path) -> None:
    program = tmp_path / "jdk" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"'\n")
    program.chmod(0o755)
    release = tmp_path / "jdk" / "release"
    for content, expected in (
        ('IMPLEMENTOR="é"\nJAVA_VERSION="21.0.3"\n'.encode(), "21.0.3"),
        (b'IMPLEMENTOR="x"\n', "17.0.1"),
        (b'JAVA_VERSION="21.0.3"\xff', "17.0.1"),
    ):
        release.write_bytes(content)
        assert version_of(program) == expected
    (tmp_path / "java").symlink_to(program)
    release.write_text('JAVA_VERSION="25.0.1"')
    assert version_of(tmp_path / "java") == "25.0.1"


def test_a_java_that_does_not_answer_is_none(tmp_path: Path) -> None:
    with pytest.raises(FaultError, match="does not report its version"):
        check_java(fake_java(tmp_path, "nonsense"))


def test_java_home_goes_before_the_path(tmp_path: Path) -> None:
    on_path = fake_java(tmp_path / "path", 'java version "1.8.0"')
    fake_java(tmp_path / "home", 'openjdk version "17.0.1"')
    assert find_java(on_path | {"JAVA_HOME": str(tmp_path / "home")}) == tmp_path / "home" / "bin" / "java"


def test_the_session_reads_strictly_and_stays_on_this_machine(tmp_path: Path) -> None:
    conf = spark_conf(defaults(), temporary=tmp_path, jars=[Path("/c/a.jar"), Path("/c/b.jar")])
    assert conf["spark.jars"] == "/c/a.jar,/c/b.jar"
    assert "spark.jars.packages" not in conf
    assert conf["spark.sql.session.timeZone"] == "UTC"
    assert conf["spark.sql.ansi.enabled"] == "true"
    assert conf["spark.sql.files.ignoreCorruptFiles"] == "false"
    assert conf["spark.hadoop.parquet.page.verify-checksum.enabled"] == "true"
    assert conf["spark.driver.bindAddress"] == conf["spark.driver.host"] == "127.0.0.1"
    # HADOOP_CONF_DIR, which names a cluster for sources, must not move the lake in the folder `lake` there.
    assert conf["spark.hadoop.fs.defaultFS"] == "file:///"
    assert str(tmp_path) in conf["spark.sql.warehouse.dir"]


def test_the_spark_defaults_of_a_machine_change_nothing_without_which_a_session_of_a_host_is_refused(
    tmp_path: Path,
) -> None:
    conf = spark_conf(defaults(), temporary=tmp_path, jars=[])
    for key, needed in (*NEEDED.items(), *NEEDED_AT_A_PATH.items()):
        assert conf.get(key) == needed.value, key
    check_session(conf.get)
    check_settings(conf.get, NEEDED_AT_A_PATH)


@pytest.mark.parametrize(
    ("heap", "bytes_of_a_page"),
    [("2g", 1 << 20), ("512M", 1 << 20), ("16g", 4 << 20), ("8388608k", 2 << 20), ("900g", 64 << 20)],
)  # fmt: skip
def test_pages_are_small_and_yet_a_task_has_more_of_them_than_the_heap_holds(
    tmp_path: Path, heap: str, bytes_of_a_page: int
) -> None:
    settings = effective((options_layer([f"spark.driver_memory={heap}"]),)).settings
    conf = spark_conf(settings, temporary=tmp_path, jars=[])
    assert int(conf["spark.buffer.pageSize"]) == page_bytes(heap) == bytes_of_a_page


def test_the_log_goes_to_a_file_of_the_run(tmp_path: Path) -> None:
    settings = effective((options_layer([f"spark.state={tmp_path}"]),)).settings
    assert log_path(settings, "r1") == tmp_path / "spark-r1.log"
    assert f"appender.file.fileName = {tmp_path / 'spark-r1.log'}" in log_config(log_path(settings, "r1"))


def test_what_spark_warns_of_in_every_command_is_not_in_its_log() -> None:
    read = as_properties(log_config(Path("/state/spark-r1.log")))
    levels = {
        read[f"logger.{each}.name"]: read[f"logger.{each}.level"] for each in ("settings", "checkpoints")
    }
    assert levels == dict.fromkeys(
        ["org.apache.spark.sql.internal.SQLConf", "org.apache.spark.rdd.MapPartitionsRDD"], "error"
    )
    assert read["rootLogger.level"] == "warn"


def as_properties(text: str) -> dict[str, str]:
    """The entries as java.util.Properties reads them from a file, one a line: as ISO 8859-1, with its escapes."""

    def unescaped(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else found[2]

    entries = [line.partition("=") for line in text.encode().decode("latin-1").splitlines()]
    read = {
        key.strip(): re.sub(r"\\(?:u([0-9a-f]{4})|(.))", unescaped, value.lstrip(" \t\f"))
        for key, _, value in entries
    }
    return {key: value.encode("utf-16", "surrogatepass").decode("utf-16") for key, value in read.items()}


@pytest.mark.parametrize(
    "state", ["/état", "/журналы", "/a\\u0041\\nb", "/ready 😀", " here", "/a=b:c#d!e", "/a\nb"]
)
def test_a_state_folder_of_any_name_has_the_log(state: str) -> None:
    log = Path(state) / "spark-r1.log"
    read = as_properties(log_config(log))
    assert read["appender.file.fileName"] == str(log)
    assert read["appender.file.layout.pattern"] == "%d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex"


def test_the_newest_logs_stay_whatever_the_ids_of_their_runs(tmp_path: Path) -> None:
    logs = [
        tmp_path / f"spark-{name}.log"
        for name in ["z", "2026", "job-1", *(f"m{at}" for at in range(20)), "a"]
    ]
    for at, log in enumerate(logs):
        log.write_text("")
        os.utime(log, (at, at))
    (tmp_path / "spark-0.log").symlink_to("gone")
    local._prune_logs(tmp_path)
    assert sorted(tmp_path.glob("spark-*.log")) == sorted([*logs[-19:], tmp_path / "spark-0.log"])


def test_the_log_of_a_session_that_runs_stays_however_old_it_is(tmp_path: Path) -> None:
    log = tmp_path / "spark-stream.log"
    with local._used_log(log) as out, local._used_log(log):
        running = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=out)
    for at in range(30):
        (tmp_path / f"spark-{at}.log").write_text("")
    os.utime(log, (0, 0))
    local._prune_logs(tmp_path)
    assert log.exists()
    assert len([*tmp_path.glob("spark-*.log")]) == 20
    running.communicate()
    local._prune_logs(tmp_path)
    assert not log.exists()


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, "C.UTF-8"),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, "C.UTF-8"),
        ({"LC_ALL": "", "LC_CTYPE": "POSIX", "LANG": "en_US.UTF-8"}, "C.UTF-8"),
        ({"LC_CTYPE": "C.UTF-8", "LANG": "C"}, None),
        ({"LC_ALL": "tr_TR.UTF-8", "LC_CTYPE": "C"}, "tr_TR.UTF-8"),
    ],
)  # fmt: skip
def test_a_jvm_has_names_of_files_in_utf8_where_the_locale_is_ascii(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], wanted: str | None
) -> None:
    environ = {**fake_java(tmp_path / "java", 'java version "17.0.1"'), **given}
    seen = []

    def start(*given: dict[str, str], **__: object) -> object:
        seen.append((environ.get("LC_ALL"), environ.get("SPARK_LOCAL_DIRS")))
        conf = given[0]
        options = dict(re.findall(r'"-D([\w.]+)=([^"]+)"', conf["spark.driver.extraJavaOptions"]))
        log_settings = Path(options["log4j2.configurationFile"].removeprefix("file:"))
        assert log_settings.read_text("ascii") == log_config(log_path(settings, "r"))
        assert Path(options["java.io.tmpdir"]).is_dir()
        assert Path(conf["spark.local.dir"]).is_dir()
        assert options["derby.system.home"] == str(log_settings.parent)
        return object()

    monkeypatch.setattr("strandline.session.classic.starting.start", start)
    monkeypatch.setattr(local, "ready_jars", lambda *_: ())
    places = [f"spark.cache={tmp_path / 'a' / 'cache'}", f"spark.state={tmp_path / 'b' / 'state'}"]
    settings = effective((options_layer(places),)).settings
    before = dict(environ)
    local.start_local(settings, environ, log_path(settings, "r"), "17.0.1", with_kafka=False)
    assert seen == [(wanted, None)]
    python = {"PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"}
    assert {name: value for name, value in environ.items() if name not in python} == before


def test_spark_submit_and_databricks_are_recognised() -> None:
    assert is_hosted({"PYSPARK_GATEWAY_PORT": "1"})
    assert is_hosted({"DATABRICKS_RUNTIME_VERSION": "17"})
    assert not is_hosted({"PATH": "/bin"})


def test_a_lake_in_a_store_needs_the_jar_of_the_store(tmp_path: Path) -> None:
    jars = tmp_path / "jars"
    jars.mkdir()
    (jars / "hadoop-client-api-3.5.0.jar").touch()
    for scheme in (None, "hdfs", "dbfs"):
        check_store_jar(scheme, tmp_path, {})
    for scheme, package in (
        ("s3a", "org.apache.hadoop:hadoop-aws:3.5.0` and give the lake as s3a://"),
        ("s3", "org.apache.hadoop:hadoop-aws:3.5.0` and give the lake as s3a://"),
        ("abfss", "org.apache.hadoop:hadoop-azure:3.5.0`, or name"),
        ("gs", "com.google.cloud.bigdataoss:gcs-connector:VERSION`, or name"),
    ):
        with pytest.raises(FaultError) as caught:
            check_store_jar(scheme, tmp_path, {})
        assert caught.value.code == "STORE_JAR_MISSING"
        assert package in caught.value.next
    for scheme in ("http", "ftp", "foo", "kafka", "har"):
        with pytest.raises(UsageError) as refused:
            check_store_jar(scheme, tmp_path, {})
        assert (refused.value.code, f"{scheme}://" in refused.value.message) == ("LAKE_PATH_INVALID", True)
        assert "--lake" in refused.value.next
        with pytest.raises(UsageError) as refused:
            check_store_jar(None, tmp_path, {}, from_scheme=scheme)
        assert (refused.value.code, f"{scheme}://" in refused.value.message) == ("LAKE_PATH_INVALID", True)
        assert "--from" in refused.value.next
        check_store_jar(scheme, tmp_path, {"SPARK_CONF_DIR": "/etc/spark"}, from_scheme=scheme)
    with pytest.raises(FaultError) as caught:
        check_store_jar("hdfs", tmp_path, {}, from_scheme="s3a")
    assert (caught.value.code, caught.value.next[-28:]) == (
        "STORE_JAR_MISSING",
        "or name a folder with --from",
    )
    # A stream's prefix needs it, whatever the lake is.
    for scheme in (None, "hdfs"):
        with pytest.raises(FaultError) as caught:
            check_store_jar(scheme, tmp_path, {}, source_scheme="s3")
        assert caught.value.code == "STORE_JAR_MISSING"
        assert "hadoop-aws:3.5.0`, or run `strandline ingest`" in caught.value.next
    assert "hadoop-aws:VERSION`" in store_jar_missing("s3").next
    check_store_jar(None, tmp_path, {}, source_scheme="hdfs")
    # Settings of one's own may name the jar elsewhere.
    check_store_jar("s3a", tmp_path, {"SPARK_CONF_DIR": "/etc/spark"})
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").touch()
    check_store_jar("s3a", tmp_path, {})
    (tmp_path / "conf" / "spark-defaults.conf").unlink()
    (jars / "hadoop-aws-3.5.0.jar").touch()
    check_store_jar("s3a", tmp_path, {}, source_scheme="s3")


def test_several_drivers_need_a_log_store_with_a_lock_for_s3_alone() -> None:
    dynamo = "io.delta.storage.S3DynamoDBLogStore"
    for conf in (
        {"spark.delta.logStore.s3a.impl": dynamo},
        {"spark.delta.logStore.class": dynamo},
        {"spark.databricks.clusterUsageTags.clusterId": "1"},
    ):
        assert has_lock("s3a", conf.get)
        check_log_store("s3a", conf.get)
    for scheme in (None, "gs", "abfss", "hdfs"):
        assert has_lock(scheme, {}.get)
    single = "io.delta.storage.S3SingleDriverLogStore"
    for scheme, conf in (
        ("s3a", {}),
        ("s3", {"spark.delta.logStore.s3a.impl": dynamo}),
        ("s3a", {"spark.delta.logStore.s3a.impl": single, "spark.delta.logStore.class": dynamo}),
    ):
        assert not has_lock(scheme, conf.get)
        with pytest.raises(FaultError) as caught:
            check_log_store(scheme, conf.get)
        assert caught.value.code == "LOG_STORE_UNSAFE"
        assert f"spark.delta.logStore.{scheme}.impl" in caught.value.next


def test_a_session_for_such_a_lake_is_refused_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_module, "check_java", lambda environ: "17")
    monkeypatch.setattr(
        open_module, "start_local", lambda *words, **named: pytest.fail("a session was started")
    )
    with pytest.raises(FaultError) as caught:
        open_session(defaults(), environ={}, run_id="r", scheme="s3a")
    assert caught.value.code == "STORE_JAR_MISSING"
    assert f"hadoop-aws:{HADOOP}" in caught.value.next
    with pytest.raises(UsageError) as refused:
        open_session(defaults(), environ={}, run_id="r", from_scheme="foo")
    assert refused.value.code == "LAKE_PATH_INVALID"


def test_what_the_owner_of_a_session_set_is_left_also_what_was_set_while_it_ran(monkeypatch):
    zone, ansi = "spark.sql.session.timeZone", "spark.sql.ansi.enabled"
    delta = {"spark.sql.extensions": DELTA_EXTENSION, "spark.sql.catalog.spark_catalog": DELTA_CATALOG}
    settings = {**delta, ansi: "false", zone: "Europe/Berlin"}
    context = SimpleNamespace(getConf=lambda: SimpleNamespace(getAll=lambda: [(ansi, "false")]))
    session = SimpleNamespace(
        sparkContext=context,
        conf=SimpleNamespace(get=settings.get, set=settings.__setitem__, getAll=dict(settings)),
    )
    monkeypatch.setattr(ClassicEngine, "ship", lambda *_: None)
    assert _existing(session) is session
    assert {name: settings[name] for name in (zone, ansi)} == {zone: "Europe/Berlin", ansi: "false"}
    assert {name: settings[name] for name in STRICT if name not in (zone, ansi)} == {
        name: value for name, value in STRICT.items() if name not in (zone, ansi)
    }
