"""Process groups killed at random moments: whatever they were doing, the next run ends as if they had not been."""

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.lakes import Lake

HELD = ("node_journal_line", "node_journal", "equivocation", "namespace_state")
MOMENTS = 10
STARTUP = 0.35
"""Part of a command's time in which a JVM starts: nothing is written then."""


def words_of(command: str, lake: Path, root: Path) -> tuple[str, ...]:
    return {
        "ingest": ("ingest", str(root / "second"), "--dialect", "sdmp", "--lake", str(lake)),
        "reduce": ("reduce", "--lake", str(lake)),
        "sync": ("sync", "--from", str(root / "lake"), "--to", str(lake)),
        "stream": (
            "stream",
            str(root / "second"),
            "--dialect",
            "sdmp",
            "--lake",
            str(lake),
            "--available-now",
        ),
    }[command]


def finish(command: str, lake: Lake, root: Path) -> None:
    """Run again what was killed, and reduce."""
    if command == "ingest":
        lake.ingest(root / "second")
    elif command == "sync":
        lake.bring(Lake(lake.spark, lake.settings, root / "lake"))
    elif command == "stream":
        lake.stream(root / "second")
    lake.reduce()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ingest", "reduce", "sync", "stream"])
def test_a_process_group_killed_at_ten_random_moments_and_run_again_ends_as_if_it_had_not_been(
    spark, settings, undisturbed, program, tmp_path, command
):
    root = undisturbed.root
    base = root / ("reduce" if command == "reduce" else "ingest")
    began = time.monotonic()
    calm = shutil.copytree(base, tmp_path / "calm")
    assert program.run(*words_of(command, calm, root), cwd=tmp_path).returncode in (0, 1)
    seconds = time.monotonic() - began
    lake = Lake(spark, settings, shutil.copytree(base, tmp_path / "lake"))
    records, rng, killed = undisturbed.tables["node_journal_line"], random.Random(command), 0
    # Later and later in one lake: each run continues from what the kills before it left.
    for number in range(MOMENTS):
        moment = seconds * (STARTUP + (1 - STARTUP) * (number + rng.random()) / MOMENTS)
        began = time.monotonic()
        process = program.start(*words_of(command, lake.path, root), cwd=tmp_path)
        try:
            process.wait(moment)
            # Faster than the calm run, beside which others may have worked: the later moments lie within this time.
            seconds = min(seconds, time.monotonic() - began)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
        process.communicate()
        held = lake.rows("node_journal_line")
        assert (len(set(held)), set(held) - set(records)) == (len(held), set()), (moment, seconds)
    finish(command, lake, root)
    tables = HELD if command == "sync" else tuple(undisturbed.tables)
    assert {table: lake.rows(table) for table in tables} == {
        table: undisturbed.tables[table] for table in tables
    }
    lake.assert_sound()
    assert killed >= MOMENTS // 2
