"""`python -m bench.on_workers N CORE LINES FOLDER..`: one ingest by N workers of one core each, in its own process.

Each folder holds LINES lines. The first is ingested alone a few times before: then the compilers of all JVMs have done
most of their work. What is measured is the last of these ingests, and one of all folders.

Spark gives a worker one task at a time, but its JVM and its Python take any core. So each worker is bound to a core,
the first one to core CORE.

Prints an object by line: seconds, stages, and the time of cores that the driver and all workers took.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import run
from typing import Final

from bench.engine import Engine
from bench.workers import PROC, cpu_seconds_of, descendants, processes
from strandline.cli.invocation import Invocation, Options
from strandline.session import open_session

MIB_OF_WORKER: Final = 1024
INGESTS: Final = 4
"""Ingests of the first folder alone."""
HASH_SECONDS: Final = 3.0
HASHED: Final = bytes(200)
"""About as long as a line."""
_EXECUTOR: Final = b"CoarseGrainedExecutorBackend"


@dataclass(frozen=True, slots=True)
class OnWorkers:
    """What one ingest took, and the time of cores that it cost: its seconds could be shorter, these could not."""

    seconds: float
    stages: Mapping[str, float]
    driver: float
    workers: float


def ingest_on(
    workers: int, folders: tuple[str, ...], lines: int, *, core: int = 0
) -> tuple[OnWorkers, OnWorkers]:
    """Ingest the first folder by so many workers, and all of them. Raises: RuntimeError if the process fails."""
    command = (sys.executable, "-m", __name__, str(workers), str(core), str(lines), *folders)
    done = run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"the ingest on {workers} workers ended with {done.returncode}: {done.stderr[-2000:]}"
        )
    one, every = (OnWorkers(**json.loads(line)) for line in done.stdout.splitlines()[-2:])
    return one, every


def ingest_beside(folders: tuple[str, ...], lines: int) -> tuple[OnWorkers, OnWorkers]:
    """Do the same by two applications at once, with one worker each, and return what the first of them took.

    They share nothing but the machine: what its cores take more than those of one application alone is not Spark's.
    """
    with ThreadPoolExecutor(2) as pool:
        one, _ = pool.map(lambda core: ingest_on(1, folders, lines, core=core), (0, 1))
    return one


def main(workers: str, core: str, lines: str, *folders: str) -> None:
    """Ingest into empty lakes of one session, one after the other, and print what the last two took."""
    master = f"local-cluster[{workers},1,{MIB_OF_WORKER}]"
    settings = Invocation("bench", Options(settings=(f"spark.master={master}",))).settings
    spark = open_session(settings, environ=os.environ, run_id="bench-workers")
    folder = Path(tempfile.mkdtemp(prefix="strandline-bench-lakes-"))
    try:
        engine = Engine(spark, settings, folder)
        # Executors are there when they have done a task each.
        spark.range(int(workers), numPartitions=int(workers)).count()
        found = worker_processes(int(workers))
        bind_to_cores(found, int(core))
        inputs = (*[folders[:1]] * INGESTS, folders)
        done = [_ingested(engine, found, each, len(each) * int(lines)) for each in inputs]
        for each in done[-2:]:
            print(json.dumps(asdict(each)))
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _ingested(engine: Engine, workers: list[int], sources: tuple[str, ...], lines: int) -> OnWorkers:
    """Ingest the sources into a lake of their own, and return what it took."""
    lake = engine.empty_lake()
    before = _cpu_seconds(workers)
    done = engine.ingest(lake, sources, new=lines).run
    after = _cpu_seconds(workers)
    engine.drop(lake)
    driver, of_workers = (end - start for start, end in zip(before, after, strict=True))
    return OnWorkers(done.seconds, done.stages, driver, of_workers)


def worker_processes(workers: int) -> list[int]:
    """Return the workers below this process. Raises: RuntimeError if there are other than `workers`."""
    parents, commands = processes()
    found = sorted(each for each in descendants(parents, os.getpid()) if _EXECUTOR in commands[each])
    if len(found) != workers:
        raise RuntimeError(f"{len(found)} workers run, not {workers}")
    return found


def bind_to_cores(workers: Iterable[int], first: int = 0) -> None:
    """Bind each worker to a core of its own, from core `first` on, with what it starts later."""
    cores = sorted(os.sched_getaffinity(0))
    for number, worker in enumerate(workers, first):
        for thread in (PROC / str(worker) / "task").iterdir():
            os.sched_setaffinity(int(thread.name), {cores[number % len(cores)]})


def hashes_a_second(cores: int) -> float:
    """Return how many lines so many cores hash at once, a process each: what this machine gives without Spark."""
    with ProcessPoolExecutor(cores) as pool:
        return sum(pool.map(_hashes_a_second, sorted(os.sched_getaffinity(0))[:cores]))


def _hashes_a_second(core: int) -> float:
    os.sched_setaffinity(0, {core})
    began, done = time.perf_counter(), 0
    while time.perf_counter() < began + HASH_SECONDS:
        for _ in range(1000):
            hashlib.sha256(HASHED).digest()
        done += 1000
    return done / (time.perf_counter() - began)


def _cpu_seconds(workers: Iterable[int]) -> tuple[float, float]:
    """Return the time of cores that the driver and that all workers took, each with the processes below it."""
    parents, _ = processes()
    of_workers = {each for worker in workers for each in (worker, *descendants(parents, worker))}
    of_driver = {os.getpid(), *descendants(parents, os.getpid())} - of_workers
    return cpu_seconds_of(of_driver), cpu_seconds_of(of_workers)


if __name__ == "__main__":
    main(*sys.argv[1:])
