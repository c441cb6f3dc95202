"""Figures of ingest of logs: 16, 20, 22."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench.bench import Bench
from bench.engine import IPFSLOG
from bench.logs import folders
from bench.measure import Contender, Run, alternate, median_run, seconds_case, seconds_side
from bench.results import Case, Side

FIRST, AGAIN, ONE, TWO = (
    "ingest",
    "ingest again",
    "ingest and reduce",
    "ingest and reduce of twice the entries",
)
SHARE: Final = 5
"""One in so many of the entries is what figures 16 and 22 ingest."""

PEERS: Final = {"ipfs-log 6.0.0": 690.0, "@orbitdb/core 4.0.0": 450.0}
"""Entries a second that the libraries join, measured elsewhere."""


def measure(bench: Bench) -> None:
    """Measure first and second ingest of logs, and ingest with reduce of two sizes."""
    if bench.wants(16, 22):
        _ingests(bench)
    if bench.wants(20):
        _growth(bench)


def _ingests(bench: Bench) -> None:
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

    wanted: dict[str, Contender] = {FIRST: first}
    wanted |= {AGAIN: again} if bench.wants(22) else {}
    runs = alternate(wanted, bench.repetitions)
    engine.drop(*lakes)
    name = f"{logs:,} logs of {sizes.length:,} entries"
    if bench.wants(22):
        case = seconds_case(name, (AGAIN, runs[AGAIN]), (FIRST, runs[FIRST]))
        bench.keep(22, (case,), bench.repetitions, ())
    if bench.wants(16):
        start, cases = engine.session_start(), []
        stages = median_run(runs[FIRST]).stages
        for what, added in (("the session is there", 0.0), ("with session start", start.seconds)):
            rates = tuple(entries / (run.seconds + added) for run in runs[FIRST])
            work = Side(FIRST, "1/s", rates)
            for peer, rate in PEERS.items():
                beside = (seconds_side("session start", (start,)),) if added else ()
                cases.append(
                    Case(
                        f"{name}, {what} / {peer}",
                        work,
                        Side(f"{peer}, measured elsewhere", "1/s", (rate,)),
                        beside,
                        {} if cases else stages,
                    )
                )
        bench.keep(16, tuple(cases), bench.repetitions, ())


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
