"""`python -m bench.on_workers N SOURCE..`: one ingest by N workers of one core each, in a process of its own.

Prints a JSON object: seconds, and cpu_seconds of the whole machine in that time.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from typing import Final

from bench.engine import Engine
from strandline.cli.invocation import Invocation, Options
from strandline.session import open_session

STAT: Final = Path("/proc/stat")
MIB_OF_WORKER: Final = 1024


@dataclass(frozen=True, slots=True)
class OnWorkers:
    """What one ingest took, and how much of all cores was busy."""

    seconds: float
    cpu_seconds: float


def ingest_on(workers: int, sources: tuple[str, ...], lines: int) -> OnWorkers:
    """Ingest the sources by so many workers. Raises: RuntimeError if the process fails."""
    command = (sys.executable, "-m", __name__, str(workers), str(lines), *sources)
    done = run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"the ingest on {workers} workers ended with {done.returncode}: {done.stderr[-2000:]}"
        )
    return OnWorkers(**json.loads(done.stdout.splitlines()[-1]))


def is_readable() -> bool:
    """Return whether this system tells how busy its cores are."""
    return STAT.is_file()


def main(workers: str, lines: str, *sources: str) -> None:
    """Ingest twice into empty lakes of one session, and print what the second time took."""
    master = f"local-cluster[{workers},1,{MIB_OF_WORKER}]"
    settings = Invocation("bench", Options(settings=(f"spark.master={master}",))).settings
    spark = open_session(settings, environ=os.environ, run_id="bench-workers")
    folder = Path(tempfile.mkdtemp(prefix="strandline-bench-lakes-"))
    try:
        engine = Engine(spark, settings, folder)
        for _ in range(2):
            lake = engine.empty_lake()
            before = _busy_seconds()
            seconds = engine.ingest(lake, sources, new=int(lines)).run.seconds
            cpu_seconds = _busy_seconds() - before
            engine.drop(lake)
        print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds}))
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _busy_seconds() -> float:
    user, nice, system = map(int, STAT.read_text().split("\n", 1)[0].split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(*sys.argv[1:])
