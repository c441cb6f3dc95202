"""What breaks around a command is told in a sentence with exit code 3, and the next run ends as if nothing had been."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException

from strandline.cli import main
from strandline.cli.failures import as_fault
from strandline.core.errors import FaultError
from strandline.dialects.sdmp.author import synthetic
from strandline.dialects.sdmp.codec import render
from strandline.pipelines.faults import Faults
from support.damage import DATA
from support.full_disks import full_disk
from support.lakes import Lake, write_files
from support.places import BUCKETS

LINES = "node_journal_line"
JOURNALS = 3


@dataclass
class CommandResult:
    """What a command ended with."""

    exit: int
    out: str
    err: str

    @property
    def error(self) -> dict[str, str]:
        return json.loads(self.out)["error"]


@pytest.fixture
def strandline(spark, capfd):
    """Runs a command in this process, on the session of the tests."""

    def run(*words: str | Path) -> CommandResult:
        capfd.readouterr()
        code = main([str(word) for word in words])
        printed = capfd.readouterr()
        return CommandResult(code, printed.out, printed.err)

    return run


@pytest.fixture
def sources(tmp_path) -> Path:
    files = {f"{n}.journal": render(synthetic(n, 2_000)) for n in range(JOURNALS)}
    return write_files(tmp_path / "in", files)


@pytest.fixture(scope="module")
def undisturbed(spark, settings, empty_lakes, tmp_path_factory) -> dict[str, list[tuple]]:
    """The tables after one run with nothing going wrong."""
    root = tmp_path_factory.mktemp("undisturbed")
    shutil.copytree(empty_lakes[False], root / "lake")
    lake = Lake(spark, settings, root / "lake")
    lake.ingest(
        write_files(root / "in", {f"{n}.journal": render(synthetic(n, 2_000)) for n in range(JOURNALS)})
    )
    lake.reduce()
    return lake.tables()


def pid_of(spark) -> int:
    """Spark's process."""
    return spark._jvm.java.lang.ProcessHandle.current().pid()


@contextmanager
def no_folders(table: Path) -> Iterator[None]:
    """No partition of a table can be made while the block runs: where its folder would be stands a file."""
    aside = table.parent.parent / f"{table.name}-aside"
    aside.mkdir()
    taken = [table / f"bucket={bucket}" for bucket in range(BUCKETS)]
    for path in taken:
        if path.is_dir():
            path.rename(aside / path.name)
        path.write_bytes(b"")
    try:
        yield
    finally:
        for path in taken:
            path.unlink()
        for path in aside.iterdir():
            path.rename(table / path.name)
        aside.rmdir()


def test_a_full_disk_and_a_place_that_takes_no_file_end_in_a_fault_and_nothing_is_lost(
    spark, new_lake, strandline, sources, undisturbed
):
    lake = new_lake()
    ingest = ("ingest", sources, "--dialect", "sdmp", "--lake", lake.path, "--quiet", "--json")
    with full_disk(100_000, pid_of(spark)):
        full = strandline(*ingest)
    assert (full.exit, full.error["code"], full.err) == (3, "DISK_FULL", "")
    assert str(lake.path) in full.error["message"]
    with no_folders(lake.path / LINES):
        refused = strandline(*ingest)
    assert (refused.exit, refused.error["code"], refused.err) == (3, "NOT_WRITABLE", "")
    assert str(lake.path / LINES) in refused.error["message"]
    assert lake.rows(LINES) == []
    assert strandline(*ingest).exit == 0
    with no_folders(lake.path / "node_journal"):
        refused = strandline("reduce", "--lake", lake.path, "--quiet", "--json")
    assert (refused.exit, refused.error["code"]) == (3, "NOT_WRITABLE")
    assert str(lake.path / "node_journal") in refused.error["message"]
    assert strandline("reduce", "--lake", lake.path, "--quiet").exit == 0
    assert lake.tables() == undisturbed


PHASES = {
    "ingest": ("ingest.read", "ingest.records", "ingest.quarantine"),
    "reduce": ("reduce.node_journal", "reduce.before_state"),
    "stream": ("stream.landed", "stream.reduced"),
    "sync": ("sync.compared", "ingest.quarantine"),
}
"""Places of each command at which the disk fills up, in their order."""


def test_a_disk_that_fills_up_in_any_phase_costs_that_run_alone(spark, new_lake, tmp_path):
    lake, calm, there = new_lake("lake"), new_lake("calm"), new_lake("there")
    landed, followed, of_there = (
        write_files(tmp_path / name, {"good": render(synthetic(at, 9)), "bad": b"no journal %d\n" % at})
        for at, name in enumerate(("landed", "followed", "of there"))
    )
    there.ingest(of_there / "good")
    commands = {
        "ingest": lambda faults: lake.ingest(landed, faults=faults),
        "reduce": lambda faults: lake.reduce(faults=faults),
        "stream": lambda faults: lake.stream(followed, faults=faults),
        "sync": lambda faults: lake.bring(there, faults=faults),
    }
    for command, run in commands.items():
        for point in PHASES[command]:
            with ExitStack() as stack:
                filled = Faults(
                    point, fire=lambda stack=stack: stack.enter_context(full_disk(1000, pid_of(spark)))
                )
                with pytest.raises(
                    (Py4JJavaError, PySparkException, FaultError, DeltaError, OSError)
                ) as failed:
                    run(filled)
            fault = as_fault(failed.value, None, str(lake.path))
            assert fault is not None, point
            assert (fault.code, fault.exit_code) == ("DISK_FULL", 3), point
        run(None)
    calm.ingest(landed, followed, of_there / "good")
    lake.reduce()
    calm.reduce()
    assert lake.tables() == calm.tables()


def test_a_lake_where_nothing_can_be_made_is_named(spark, strandline, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    told = strandline("init", "--lake", tmp_path / "file" / "lake", "--quiet")
    assert (told.exit, told.out) == (2, "")
    assert told.err.splitlines()[0].endswith(f"{tmp_path / 'file'} is not a folder.")


def test_a_missing_data_file_or_commit_is_named_by_every_command_that_reads_it(new_lake, strandline, sources):
    lake = new_lake()
    lake.ingest(sources)
    [lost, *_] = sorted((lake.path / LINES).glob("bucket=*/*.parquet"))
    kept = lost.rename(sources / "kept")
    query = f"SELECT sum(n) FROM {LINES}"
    for words in (("sql", query), ("sql", query, "--format", "csv"), ("reduce",), ("reduce", "--full")):
        told = strandline(*words, "--lake", lake.path, "--quiet")
        assert (told.exit, told.out) == (3, "")
        first, then = told.err.splitlines()
        assert first == f"error: a file of the lake or of the input is missing: {lost}."
        assert then.startswith("next: restore it")
    kept.rename(lost)
    assert_a_lost_commit_is_named(lake, strandline, sources)
    # What else becomes of a data file. Hadoop keeps a checksum beside a file; a copy of a lake may lack it.
    beside = lost.with_name(f".{lost.name}.crc")
    content, checksum = lost.read_bytes(), beside.read_bytes()
    for checked in (True, False):
        for name, damage in DATA.items():
            if not checked:
                beside.unlink()
            damage(lost)
            told = strandline(
                "sql",
                f"SELECT max(to_json(struct(*))) FROM {LINES}",
                "--lake",
                lake.path,
                "--quiet",
                "--json",
            )
            assert (name, told.exit, told.err) == (name, 3, "")
            assert (told.error["code"], lost.name in told.error["message"]) == ("TABLE_DAMAGED", True)
            if lost.is_dir():
                lost.rmdir()
            lost.write_bytes(content)
            beside.write_bytes(checksum)


def assert_a_lost_commit_is_named(lake, strandline, sources) -> None:
    """Where the last commit of records is empty or gone, no command goes on with the version before."""
    last = max((lake.path / LINES / "_delta_log").glob("*.json"))
    content = last.read_bytes()
    for damage in (lambda: last.write_bytes(b""), last.unlink):
        damage()
        for words in (
            ("reduce",),
            ("ingest", sources, "--dialect", "sdmp"),
            ("sql", f"SELECT count(*) FROM {LINES}"),
        ):
            told = strandline(*words, "--lake", lake.path, "--quiet", "--json")
            assert (told.exit, told.error["code"], told.err) == (3, "TABLE_DAMAGED", "")
            assert str(last) in told.error["message"]
        last.write_bytes(content)


def test_a_query_that_fails_is_told_once_and_in_our_words(empty_lakes, strandline):
    told = strandline("sql", "SELECT nothing FROM run", "--lake", empty_lakes[False], "--quiet")
    assert (told.exit, told.out) == (2, "")
    assert [line.partition(":")[0] for line in told.err.splitlines()] == ["error", "next"]


def test_rows_left_out_are_told_with_quiet_too(empty_lakes, strandline, monkeypatch):
    from strandline.pipelines import sql

    monkeypatch.setattr(sql, "ROWS_SHOWN", 3)
    monkeypatch.setattr(sql, "ROWS_GIVEN", 4)
    for form, given in (("table", 3), ("csv", 4), ("json", 4)):
        query = ("sql", "SELECT id FROM range(9)", "--format", form, "--lake", empty_lakes[False])
        for quiet in ((), ("--quiet",)):
            told = strandline(*query, *quiet)
            assert told.exit == 0
            assert len(told.out.splitlines()) == given + (form != "json")
            assert told.err.count(f"only the first {given} rows are shown") == 1
    assert strandline("sql", "SELECT 1 AS one", "--lake", empty_lakes[False], "--quiet").err == ""


def test_a_log_that_forgot_what_came_is_no_end_everything_is_reduced(new_lake, tmp_path, strandline):
    lake, lines = new_lake(), list(synthetic(1, 30))
    lake.ingest(write_files(tmp_path / "first", {"a.journal": render(lines[:10])}))
    lake.reduce()
    lake.ingest(write_files(tmp_path / "second", {"a.journal": render(lines)}))
    forget(lake.path / LINES)
    lake.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    told = strandline("reduce", "--lake", lake.path)
    assert told.exit == 0
    assert f"{LINES} does not have the changes since version 1" in told.err
    assert lake.rows("node_journal", "tip_n", "line_count") == [(30, 30)]
    assert lake.reduce(full=True).members["differences"] == {}
    # What is gone may have removed records: no state of them stays.
    version = lake.versions()[LINES]
    lake.ingest(write_files(tmp_path / "third", {"b.journal": render(list(synthetic(2, 5)))}))
    lake.reduce()
    lake.damage(f"RESTORE TABLE {LINES} TO VERSION AS OF {version}")
    lake.ingest(write_files(tmp_path / "fourth", {"c.journal": render(list(synthetic(3, 4)))}))
    forget(lake.path / LINES)
    lake.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    lake.reduce()
    assert sorted(lake.rows("node_journal", "line_count")) == [(4,), (30,)]
    assert lake.reduce(full=True).members["differences"] == {}


def forget(table: Path) -> None:
    """What Delta does to a log of which all is older than it keeps: a checkpoint, and nothing before it."""
    opened = DeltaTable(str(table))
    opened.create_checkpoint()
    for path in (table / "_delta_log").iterdir():
        number = path.name.lstrip(".").partition(".")[0]
        if number.isdigit() and int(number) < opened.version():
            path.unlink()


def views(spark):
    return {row["viewName"] for row in spark.sql("SHOW VIEWS").collect()}


def test_spark_looks_at_a_lake_and_leaves_no_view_behind(spark, settings, empty_lakes):
    from strandline.tables.read_lake import SparkLake

    lake = Lake(spark, settings, empty_lakes[False])
    look = SparkLake(lake.store())
    # A view of the session's owner with the name of a table stays, and is not read.
    lake.spark.range(3).createOrReplaceTempView("run")
    before = views(lake.spark)
    assert len(look.query("SELECT run_id FROM run", ("run", LINES))) == 1
    with pytest.raises(AnalysisException, match="nothing"):
        look.query("SELECT nothing FROM run", ("run",))
    assert views(lake.spark) == before
    assert lake.spark.table("run").count() == 3
    lake.spark.catalog.dropTempView("run")
