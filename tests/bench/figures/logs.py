"""Figures 20 and 22: ingest of known entries, and of twice the logs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench.bench import Bench
from bench.engine import IPFSLOG
from bench.logs import folders
from bench.measure import Run, alternate, seconds_case

FIRST, AGAIN, ONE, TWO = (
    "ingest",
    "ingest again",
    "ingest and reduce",
    "ingest and reduce of twice the entries",
)
SHARE: Final = 5
"""One in so many of the entries is what figure 22 ingests."""


def measure(bench: Bench) -> None:
    """Measure first and second ingest of logs, and ingest with reduce of two sizes."""
    if bench.wants(22):
        _known(bench)
    if bench.wants(20):
        _growth(bench)


def _known(bench: Bench) -> None:
    engine, sizes = bench.engine, bench.data.sizes
    logs = max(1, sizes.journals // SHARE)
    sources, entries = folders(bench.data, logs), logs * sizes.length
    lakes: list[Path] = []

    def first() -> Run:
        engine.drop(*lakes)
        lakes[:] = [engine.empty_lake()]
        return engine.ingest(lakes[0], sources, new=entries, of=IPFSLOG).run

    def again() -> Run:
        return engine.ingest(lakes[0], sources, new=0, of=IPFSLOG).run

    runs = alternate({FIRST: first, AGAIN: again}, bench.repetitions)
    engine.drop(*lakes)
    name = f"{logs:,} logs of {sizes.length:,} entries"
    bench.keep(22, (seconds_case(name, (AGAIN, runs[AGAIN]), (FIRST, runs[FIRST])),), bench.repetitions, ())


def _growth(bench: Bench) -> None:
    engine, sizes = bench.engine, bench.data.sizes
    both = folders(bench.data, 2 * sizes.journals)
    half = folders(bench.data, sizes.journals)

    def taken(sources: tuple[str, ...], entries: int) -> Run:
        lake = engine.empty_lake()
        first = engine.ingest(lake, sources, new=entries, of=IPFSLOG).run
        then = engine.reduce(lake).run
        engine.drop(lake)
        return Run(first.seconds + then.seconds, {"ingest": first.seconds, "reduce": then.seconds})

    runs = alternate(
        {TWO: lambda: taken(both, 2 * sizes.lines), ONE: lambda: taken(half, sizes.lines)},
        bench.large_repetitions,
    )
    name = f"{2 * sizes.journals:,} / {sizes.journals:,} logs of {sizes.length:,} entries"
    case = seconds_case(name, (TWO, runs[TWO]), (ONE, runs[ONE]))
    bench.keep(20, (case,), bench.large_repetitions, ())
