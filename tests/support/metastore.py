"""Spark with its own Hive metastore in a Derby database: one process that keeps a lake there, one that only reads it.

`python -m support.metastore ASKED TOLD` does what the file ASKED says and writes what the commands told to the file
TOLD. The reader, READER, knows nothing of Strandline.
"""

import contextlib
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyspark
from pyspark.sql import DataFrameReader, DataFrameWriter, SparkSession

from strandline.config import Settings
from strandline.session.classes import archive_options
from strandline.session.conf import JAVA, LOCAL, spark_conf
from strandline.session.java import find_java, java_version
from support.packaged import ROOT, environment

SECONDS: Final = 1000
LISTED: Final = ("open", "os.listdir", "os.scandir")
"""What Python says of each path that it opens or lists."""
NOTED: Final = (*LISTED, "sql", "load", "save", "__init__")
"""What `Watch` notes: also the calls of Spark and of delta-rs that take a path."""

READER: Final = """\
import json, sys
from pyspark.sql import SparkSession

conf, asked, told = (json.loads(word) for word in sys.argv[1:4])
spark = SparkSession.builder.config(map=conf).enableHiveSupport().getOrCreate()
found = {}
for name, (schema, query) in asked.items():
    spark.sql(f"USE {schema}")
    found[name] = [[str(value) for value in row] for row in spark.sql(query).collect()]
found["modules"] = sorted(name for name in sys.modules if name.startswith("strandline"))
open(told, "w").write(json.dumps(found))
spark.stop()
"""


def conf_of(folder: Path, settings: Settings, jars: Sequence[Path]) -> dict[str, str]:
    """The settings of a session with a metastore in a Derby database of the folder."""
    for name in (LOCAL, JAVA):
        (folder / name).mkdir()
    (folder / "log4j2.properties").write_text("rootLogger.level = error\n")
    return spark_conf(settings, temporary=folder, jars=jars, java=_kept_classes(settings)) | {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
        # Empty: the database of this process. A JVM hands the settings of its first session on to the next.
        "spark.hadoop.hive.metastore.uris": "",
        "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
        "spark.hadoop.hive.metastore.schema.verification": "false",
        # Ten times it tries what is refused.
        "spark.hadoop.hive.hmshandler.retry.interval": "1ms",
    }


def _kept_classes(settings: Settings) -> tuple[str, ...]:
    """The options of Java that use the archive of classes of our own sessions, if there is one."""
    installed = (
        str(java_version(os.environ)), str(find_java(os.environ)), pyspark.__version__,
        str(Path(pyspark.__file__).parent),
    )  # fmt: skip
    options = archive_options(Path(settings.spark.cache), installed)
    return options if any(each.startswith("-XX:SharedArchiveFile") for each in options) else ()


def silent(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings of a session whose metastore does not answer: nobody listens at its address."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    return {
        **conf, "spark.hadoop.hive.metastore.uris": f"thrift://127.0.0.1:{port}",
        "spark.hadoop.hive.metastore.connect.retries": "1", "spark.hadoop.hive.metastore.failure.retries": "0",
        "spark.hadoop.hive.metastore.client.connect.retry.delay": "0s",
    }  # fmt: skip


def run(folder: Path, *words: str, knows_strandline: bool) -> None:
    """Run this Python with arguments, in a process and a JVM of its own that works in `folder`."""
    path = os.pathsep.join([str(ROOT / "lib"), str(ROOT / "tests")]) if knows_strandline else ""
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, cwd=folder, timeout=SECONDS, check=False,
        env=environment(PYTHONPATH=path, PYSPARK_PYTHON=sys.executable),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-6000:]


class Watch:
    """Notes what refers to a path below `folder`: files that Python opens, paths given to Spark or to delta-rs."""

    def __init__(self, folder: Path) -> None:
        self.found: list[str] = []
        self._folder = str(folder)
        sys.addaudithook(self._audited)
        for owner, name in ((SparkSession, "sql"), (DataFrameReader, "load"), (DataFrameWriter, "save")):
            self._wrap(owner, name)
        import deltalake

        self._wrap(deltalake.DeltaTable, "__init__")

    def _audited(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in LISTED and arguments:
            self._note(event, arguments[0])

    def _note(self, what: str, *values: object) -> None:
        for value in values:
            text = os.fsdecode(value) if isinstance(value, bytes) else str(value)
            if self._folder in text:
                self.found.append(f"{what}: {text}")

    def _wrap(self, owner: Any, name: str) -> None:
        kept = getattr(owner, name)

        def noted(this: object, *values: object, **named: object) -> object:
            self._note(name, *values, *named.values())
            return kept(this, *values, **named)

        setattr(owner, name, noted)


def refer_to(folder: Path, spark: SparkSession) -> None:
    """Refer to a new folder in each way of `NOTED`."""
    import deltalake

    folder.mkdir()
    (folder / "file").write_bytes(b"")
    os.listdir(folder)
    list(os.scandir(folder))
    spark.sql(f"SELECT '{folder}'")
    spark.range(0).write.save(str(folder / "files"), format="parquet")
    spark.read.load(str(folder / "files"), format="parquet", schema="id BIGINT")
    with contextlib.suppress(deltalake.exceptions.TableNotFoundError):
        deltalake.DeltaTable(str(folder))


@contextlib.contextmanager
def session(conf: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session with these settings while the block runs."""
    started = SparkSession.builder.config(map=dict(conf)).enableHiveSupport().getOrCreate()
    try:
        yield started
    finally:
        started.stop()
        SparkSession._instantiatedSession = None


def told(*words: str) -> dict[str, Any]:
    """Run a command in this process and return its report."""
    from strandline.cli import main

    with contextlib.redirect_stdout(io.StringIO()) as out:
        main([*words, "--json", "--quiet"])
    report: dict[str, Any] = json.loads(out.getvalue())
    return report


def main() -> None:
    """Run the steps of a file in order; each is a list of words of a command, or one statement of SQL."""
    asked, result = (Path(word) for word in sys.argv[1:])
    plan = json.loads(asked.read_text())
    reports: dict[str, Any] = {}
    with session(silent(plan["conf"])):
        reports |= {name: told(*words) for name, words in plan["silent"].items()}
    watch = Watch(Path(plan["conf"]["spark.sql.warehouse.dir"]))
    with session(plan["conf"]) as spark:
        for statement in plan["before"]:
            spark.sql(statement)
        watch.found.clear()
        for name, words in plan["steps"].items():
            reports[name] = told(*words)
        reports["watched"] = list(watch.found)
        refer_to(Path(plan["conf"]["spark.sql.warehouse.dir"]) / "noted", spark)
    reports["noted"] = [note.partition(":")[0] for note in watch.found]
    result.write_text(json.dumps(reports))


if __name__ == "__main__":
    main()
