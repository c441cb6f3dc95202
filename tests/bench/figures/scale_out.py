"""Figure 34: the same ingest by one worker and by two."""

from __future__ import annotations

from typing import Final

from bench.bench import Bench
from bench.measure import Run, alternate, seconds_case
from bench.on_workers import ingest_on, is_readable
from bench.results import Side

TWO, ONE = "two workers", "one worker"
WORKERS: Final = {TWO: 2, ONE: 1}


def measure(bench: Bench) -> None:
    """Ingest a chunk on clusters of this machine, and compare their seconds and the time of all cores."""
    if not is_readable():
        print("figure 34 is left out: this system has no /proc", flush=True)
        return
    busy: dict[str, list[float]] = {name: [] for name in WORKERS}

    def ingested(name: str) -> Run:
        done = ingest_on(WORKERS[name], bench.data.many(), bench.data.sizes.lines)
        busy[name].append(done.cpu_seconds)
        return Run(done.seconds)

    runs = alternate({TWO: lambda: ingested(TWO), ONE: lambda: ingested(ONE)}, bench.repetitions)
    name = bench.data.sizes.many()
    cpu = (Side(f"CPU of {each}", "s", tuple(seconds)) for each, seconds in busy.items())
    cases = (seconds_case(name, (TWO, runs[TWO]), (ONE, runs[ONE]), *cpu),)
    bench.keep(34, cases, bench.repetitions, ())
