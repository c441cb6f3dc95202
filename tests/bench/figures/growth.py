"""Figures 36 and 37: fifty million lines beside ten million, and most lines in one journal beside an even spread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.bench import Bench
from bench.measure import Run, alternate, seconds_case
from bench.results import Side
from bench.sizes import CHUNKS, LARGEST
from bench.workers import PeakOfWorkers, is_readable

MIB = 2**20
SKEWED, EVEN = "nine of ten lines in one journal", "as many lines, spread evenly"


def measure(bench: Bench) -> None:
    """Measure what is wanted of how ingest grows and of how lines are spread."""
    if bench.wants(36):
        _fivefold(bench)
    if bench.wants(37):
        _skewed(bench)


def _fivefold(bench: Bench) -> None:
    if not is_readable():
        print("figure 36 is left out: this system has no /proc", flush=True)
        return
    (few, few_mib), (many, many_mib) = (_ingested(bench, chunks) for chunks in (CHUNKS, LARGEST))
    sizes = bench.data.sizes
    name = f"{sizes.many(LARGEST)} / {sizes.many(CHUNKS)}"
    peaks = (
        Side("largest worker, all", "MiB", (many_mib,)),
        Side("largest worker, a fifth", "MiB", (few_mib,)),
    )
    case = seconds_case(name, ("ingest, all", (many,)), ("ingest, a fifth", (few,)), *peaks)
    bench.keep(36, (case,), 1, ())


def _ingested(bench: Bench, chunks: int) -> tuple[Run, float]:
    """Ingest so many chunks; return the run and the peak memory of the largest worker in MiB."""
    engine, data = bench.engine, bench.data
    lake = engine.empty_lake()
    with PeakOfWorkers() as peak:
        done = engine.ingest(lake, data.many(chunks), new=data.sizes.lines * chunks).run
    engine.drop(lake)
    return done, peak.bytes / MIB


def _skewed(bench: Bench) -> None:
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    first, second = data.many(2)
    # A ninth of the long journal's lines, in journals of their own.
    others = sizes.journals // 9
    sources: dict[str, Sequence[str | Path]] = {
        SKEWED: (data.one(), *_files(first)[:others]),
        EVEN: (first, *_files(second)[:others]),
    }
    lines = sizes.lines + others * sizes.length

    def ingested(name: str) -> Run:
        lake = engine.empty_lake()
        done = engine.ingest(lake, sources[name], new=lines).run
        engine.drop(lake)
        return done

    runs = alternate({SKEWED: lambda: ingested(SKEWED), EVEN: lambda: ingested(EVEN)}, bench.repetitions)
    name = f"{lines:,} lines in {others + 1:,} / {sizes.journals + others:,} journals"
    bench.keep(37, (seconds_case(name, (SKEWED, runs[SKEWED]), (EVEN, runs[EVEN])),), bench.repetitions, ())


def _files(folder: str) -> list[Path]:
    return sorted(Path(folder).iterdir())
