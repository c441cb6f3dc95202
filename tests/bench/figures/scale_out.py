"""Figure 34: the same ingest by one worker and by two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from bench.bench import Bench
from bench.measure import Run, alternate, seconds_case
from bench.on_workers import OnWorkers, hashes_a_second, ingest_beside, ingest_on
from bench.results import Side
from bench.workers import is_readable

TWO, ONE = "two workers", "one worker"
WORKERS: Final = {TWO: 2, ONE: 1}
BESIDE: Final = "one worker beside another application"
MEASURED: Final = 8
"""Chunks of the measured ingest. The time of the driver for plans and commits grows far less than the input."""


def measure(bench: Bench) -> None:
    """Ingest chunks on clusters of this machine, and compare their seconds and the time of cores."""
    if not is_readable():
        print("figure 34 is left out: this system has no /proc", flush=True)
        return
    sizes, folders = bench.data.sizes, bench.data.many(MEASURED)
    small: dict[str, list[OnWorkers]] = {name: [] for name in WORKERS}
    large: dict[str, list[OnWorkers]] = {name: [] for name in WORKERS}
    floor: list[OnWorkers] = []

    def ingested(name: str) -> Run:
        one, every = ingest_on(WORKERS[name], folders, sizes.lines)
        small[name].append(one)
        large[name].append(every)
        if name == ONE:
            floor.append(ingest_beside(folders, sizes.lines)[1])
        return Run(every.seconds, every.stages)

    runs = alternate({TWO: lambda: ingested(TWO), ONE: lambda: ingested(ONE)}, bench.repetitions)
    beside = (
        *_cores(large, ""),
        _side(f"CPU of workers, {BESIDE}", floor, "workers"),
        *(_side(f"{sizes.many()}, {name}", small[name], "seconds") for name in WORKERS),
        *_cores(small, f"{sizes.many()}, "),
        *(
            Side(f"lines that {cores} core(s) hash at once, without Spark", "1/s", (hashes_a_second(cores),))
            for cores in sorted(WORKERS.values())
        ),
    )
    case = seconds_case(sizes.many(MEASURED), (TWO, runs[TWO]), (ONE, runs[ONE]), *beside)
    bench.keep(34, (case,), bench.repetitions, ())


def _cores(spent: Mapping[str, list[OnWorkers]], of: str) -> Iterator[Side]:
    for what in ("workers", "driver"):
        for name, done in spent.items():
            yield _side(f"{of}CPU of {what}, {name}", done, what)


def _side(name: str, done: list[OnWorkers], what: str) -> Side:
    return Side(name, "s", tuple(getattr(each, what) for each in done))
