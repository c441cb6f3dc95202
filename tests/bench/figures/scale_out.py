"""Figure 34: the same ingest by one worker and by two."""

from __future__ import annotations

from typing import Final

from bench.bench import Bench
from bench.measure import Run, alternate, seconds_case
from bench.on_workers import OnWorkers, hashes_a_second, ingest_on
from bench.results import Side
from bench.workers import is_readable

TWO, ONE = "two workers", "one worker"
WORKERS: Final = {TWO: 2, ONE: 1}


def measure(bench: Bench) -> None:
    """Ingest a chunk on clusters of this machine, and compare their seconds and the time of cores."""
    if not is_readable():
        print("figure 34 is left out: this system has no /proc", flush=True)
        return
    spent: dict[str, list[OnWorkers]] = {name: [] for name in WORKERS}

    def ingested(name: str) -> Run:
        done = ingest_on(WORKERS[name], bench.data.many(), bench.data.sizes.lines)
        spent[name].append(done)
        return Run(done.seconds, done.stages)

    runs = alternate({TWO: lambda: ingested(TWO), ONE: lambda: ingested(ONE)}, bench.repetitions)
    cpu = (
        Side(f"CPU of {what}, {name}", "s", tuple(getattr(each, what) for each in done))
        for what in ("workers", "driver")
        for name, done in spent.items()
    )
    hashes = (
        Side(f"lines that {cores} core(s) hash at once, without Spark", "1/s", (hashes_a_second(cores),))
        for cores in sorted(WORKERS.values())
    )
    name = bench.data.sizes.many()
    bench.keep(
        34, (seconds_case(name, (TWO, runs[TWO]), (ONE, runs[ONE]), *cpu, *hashes),), bench.repetitions, ()
    )
