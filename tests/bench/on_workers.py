"""`python -m bench.on_workers N LINES SOURCE..`: one ingest by N workers of one core each, in a process of its own.

Spark gives a worker one task at a time, but its JVM and its Python take any core. So each worker is bound to a core.

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
from bench.workers import PROC, descendants, processes
from strandline.cli.invocation import Invocation, Options
from strandline.session import open_session

STAT: Final = Path("/proc/stat")
MIB_OF_WORKER: Final = 1024
INGESTS: Final = 3
"""The last one is measured: the compiler of a worker's JVM has done most of its work then."""
_EXECUTOR: Final = b"CoarseGrainedExecutorBackend"


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
    """Ingest into empty lakes of one session, one after the other, and print what the last one took."""
    master = f"local-cluster[{workers},1,{MIB_OF_WORKER}]"
    settings = Invocation("bench", Options(settings=(f"spark.master={master}",))).settings
    spark = open_session(settings, environ=os.environ, run_id="bench-workers")
    folder = Path(tempfile.mkdtemp(prefix="strandline-bench-lakes-"))
    try:
        engine = Engine(spark, settings, folder)
        # Executors are there when they have done a task each.
        spark.range(int(workers), numPartitions=int(workers)).count()
        bind_to_cores(int(workers))
        for _ in range(INGESTS):
            lake = engine.empty_lake()
            before = _busy_seconds()
            seconds = engine.ingest(lake, sources, new=int(lines)).run.seconds
            cpu_seconds = _busy_seconds() - before
            engine.drop(lake)
        print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds}))
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def bind_to_cores(workers: int) -> None:
    """Bind each worker below this process to a core of its own, with what it starts later.

    Raises: RuntimeError if there are other than `workers` workers.
    """
    parents, commands = processes()
    found = sorted(each for each in descendants(parents, os.getpid()) if _EXECUTOR in commands[each])
    if len(found) != workers:
        raise RuntimeError(f"{len(found)} workers run, not {workers}")
    cores = sorted(os.sched_getaffinity(0))
    for number, worker in enumerate(found):
        for thread in (PROC / str(worker) / "task").iterdir():
            os.sched_setaffinity(int(thread.name), {cores[number % len(cores)]})


def _busy_seconds() -> float:
    user, nice, system = map(int, STAT.read_text().split("\n", 1)[0].split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(*sys.argv[1:])
