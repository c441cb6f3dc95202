"""A process killed or interrupted at any of these moments and run again ends with the tables of an undisturbed run."""

import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from deltalake import DeltaTable

from strandline.contracts.load import tables
from support.lakes import Lake
from support.packaged import SECONDS, Program

# What stands when the process is dead: the tables that got a new version.
POINTS = {"reduce.before_state": {"node_journal", "equivocation"}}
MORE = {
    "ingest.read": set(),
    "ingest.records": {"node_journal_line"},
    "ingest.quarantine": {"node_journal_line", "quarantine"},
}
IN_A_COMMIT = "in the commit of records"
TRIES = 4
# The command as it is, but that it says when it asks Spark for the merge.
SAYS_WHEN_IT_MERGES = """
import sys
from pathlib import Path
from strandline.cli import main
from strandline.pipelines.faults import Faults

Faults.parse = staticmethod(lambda _: Faults("ingest.read", fire=Path("merging").touch))
sys.exit(main(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Dead:
    """A lake and what was left in it: how the process ended, tables with a new version, files that no version names."""

    lake: Path
    ended: int
    advanced: set[str]
    loose: set[Path]


def versions(lake: Path) -> dict[str, int]:
    return {table: DeltaTable(lake / table).version() for table in tables()}


def data_files(lake: Path) -> set[Path]:
    return set((lake / "node_journal_line").glob("bucket=*/*.parquet"))


@pytest.fixture(scope="module")
def kill_at(undisturbed, program: Program, tmp_path_factory) -> Callable[[str], Dead]:
    """Lets a process run until it is killed at a point."""
    root, folder = undisturbed.root, tmp_path_factory.mktemp("killed")

    def kill(point: str) -> Dead:
        return in_a_commit() if point == IN_A_COMMIT else at(point)

    def at(point: str) -> Dead:
        command = point.partition(".")[0]
        lake = shutil.copytree(root / command, folder / point)
        before, files = versions(lake), data_files(lake)
        words = [str(root / "second"), "--dialect", "sdmp"] if command == "ingest" else []
        ended = program.run(
            command, *words, "--lake", str(lake), cwd=folder, STRANDLINE_FAULT=point
        ).returncode
        return dead(lake, ended, before, files)

    def in_a_commit() -> Dead:
        for number in range(TRIES):
            lake = shutil.copytree(root / "ingest", folder / f"commit {number}")
            before, files = versions(lake), data_files(lake)
            process = program.start(
                "ingest", str(root / "second"), "--dialect", "sdmp", "--lake", str(lake), cwd=folder
            )
            while process.poll() is None and not data_files(lake) - files:
                time.sleep(0.002)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            found = dead(lake, process.returncode, before, files)
            if not found.advanced:
                break
        return found

    def dead(lake: Path, ended: int, before: dict[str, int], files: set[Path]) -> Dead:
        after = versions(lake)
        advanced = {table for table in tables() if after[table] > before[table]}
        return Dead(lake, ended, advanced, data_files(lake) - files)

    return kill


SLOW = [pytest.param(point, marks=pytest.mark.slow) for point in MORE]


@pytest.mark.parametrize("point", [*POINTS, IN_A_COMMIT, *SLOW])
def test_a_process_killed_here_and_run_again_ends_as_if_it_had_not_been(
    spark, settings, undisturbed, kill_at, point
):
    left = kill_at(point)
    assert left.ended == -signal.SIGKILL
    assert left.advanced == (POINTS | MORE).get(point, set())
    assert bool(left.loose) == (point in (IN_A_COMMIT, "ingest.records", "ingest.quarantine"))
    lake = Lake(spark, settings, left.lake)
    if not point.startswith("reduce"):
        lake.ingest(undisturbed.root / "second")
    lake.reduce()
    assert lake.tables() == undisturbed.tables


def test_ctrl_c_while_spark_works_is_one_sentence_and_the_same_command_ends_as_if_it_had_not_come(
    spark, settings, undisturbed, program, tmp_path
):
    root, lake = undisturbed.root, Lake(spark, settings, tmp_path / "lake")
    shutil.copytree(root / "ingest", lake.path)
    process = program.start(
        "ingest", str(root / "second"), "--dialect", "sdmp", "--lake", str(lake.path), "--quiet",
        cwd=tmp_path, script=SAYS_WHEN_IT_MERGES,
    )  # fmt: skip
    until = time.monotonic() + SECONDS
    while not (tmp_path / "merging").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    # As a terminal does: to the JVM and its workers, too.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    sentence = "The command was interrupted; run it again: nothing is lost or duplicated.\n"
    assert (process.returncode, out, err) == (128 + signal.SIGINT, "", sentence)
    lake.ingest(root / "second")
    lake.reduce()
    assert lake.tables() == undisturbed.tables
