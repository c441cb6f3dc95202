"""Processes that bring records from a lake, a folder or a topic, killed and run again: nothing lost, nothing twice."""

import shutil
import signal
from pathlib import Path

import pytest

from support.broker import broker
from support.lakes import Lake, write_files
from support.random_journals import corpus
from support.topics import Topics

HELD = ("node_journal_line", "node_journal", "equivocation", "namespace_state")


def killed(program, point: str, *words: str, cwd: Path) -> None:
    """The command dies at the point."""
    done = program.run(*words, cwd=cwd, STRANDLINE_FAULT=point)
    assert done.returncode == -signal.SIGKILL, (point, done.stderr[-3000:])


@pytest.mark.slow
def test_a_sync_killed_between_its_commits_and_run_again_ends_with_the_lake_of_one_that_was_not(
    spark, settings, undisturbed, program, tmp_path
):
    ours = shutil.copytree(undisturbed.root / "ingest", tmp_path / "ours")
    words = ("sync", "--from", str(undisturbed.root / "lake"), "--to", str(ours))
    for point in ("sync.compared", "ingest.node_journal_line", "ingest.quarantine", "reduce.before_state"):
        killed(program, point, *words, cwd=tmp_path)
    done = program.run(*words, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr[-3000:]
    lake = Lake(spark, settings, ours)
    assert {table: lake.rows(table) for table in HELD} == {table: undisturbed.tables[table] for table in HELD}
    lake.assert_sound()
    versions = {table: lake.store().version(table) for table in HELD}
    assert program.run(*words, cwd=tmp_path).returncode == 0
    assert {table: lake.store().version(table) for table in HELD} == versions


STREAM_POINTS = ("ingest.read", "ingest.records", "stream.landed", "reduce.before_state", "stream.reduced")


@pytest.fixture
def folder(tmp_path):
    """Lays files into a folder that a stream follows."""
    landing = tmp_path / "landing"
    return lambda number, files: str(write_files(landing / str(number), files).parent)


@pytest.fixture
def topic(spark, settings, tmp_path):
    """Sends the lines of files to a topic that a stream follows."""
    with broker(Path(settings.spark.cache), tmp_path / "node") as running:
        topics = Topics(spark, running.address)
        source = topics.topic("killed")

        def send(number, files):
            topics.send(source, [line for data in files.values() for line in data.split(b"\n") if line])
            return source

        yield send
        topics.close()


@pytest.mark.slow
@pytest.mark.parametrize("arriving", ["folder", "topic"])
def test_a_stream_killed_at_each_step_and_run_again_ends_with_the_tables_of_one_batch_run(
    new_lake, program, tmp_path, request, arriving
):
    arrive = request.getfixturevalue(arriving)
    lake, whole = new_lake("streamed"), new_lake("whole")
    # Frames alone: a line of a file is a message.
    runs = [
        {name: data for name, data in files.items() if name.endswith(".jsonl")}
        for files in corpus(seed=83, journals=9, runs=len(STREAM_POINTS))
    ]
    for number, (point, files) in enumerate(zip(STREAM_POINTS, runs, strict=True)):
        source = arrive(number, files)
        words = ("stream", source, "--dialect", "sdmp", "--lake", str(lake.path), "--available-now")
        killed(program, point, *words, cwd=tmp_path)
    done = program.run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    every = write_files(
        tmp_path / "all",
        {f"{n}-{name}": data for n, files in enumerate(runs) for name, data in files.items()},
    )
    whole.ingest(every)
    whole.reduce()
    assert lake.tables() == whole.tables()
    assert lake.rows("node_journal_line")
