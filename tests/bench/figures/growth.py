"""Figures 36, 37 and 69: fifty million lines, most lines in one journal, and a million journals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.bench import Bench
from bench.measure import Run, alternate, seconds_case
from bench.results import Side
from bench.sizes import CHUNKS, LARGEST
from bench.workers import PeakOfWorkers, is_readable

MIB = 2**20
LINES_OF_SHORT = 2
SHORT, LONG = "journals of two lines", "long journals"
SKEWED, EVEN = "nine of ten lines in one journal", "as many lines, spread evenly"


def measure(bench: Bench) -> None:
    """Measure what is wanted of how ingest grows and of how lines are spread."""
    if bench.wants(36):
        _fivefold(bench)
    if bench.wants(37):
        _skewed(bench)
    if bench.wants(69):
        _namespaces(bench)


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


def _namespaces(bench: Bench) -> None:
    engine, sizes = bench.engine, bench.data.sizes
    shapes = {SHORT: (sizes.lines, LINES_OF_SHORT), LONG: (LINES_OF_SHORT * sizes.journals, sizes.length)}
    folders = {name: bench.data.frames(*shape) for name, shape in shapes.items()}

    def taken(name: str) -> Run:
        lake = engine.empty_lake()
        first = engine.ingest(lake, (folders[name],), new=LINES_OF_SHORT * sizes.lines).run
        then = engine.reduce(lake).run
        engine.drop(lake)
        return Run(first.seconds + then.seconds, {"ingest": first.seconds, "reduce": then.seconds})

    runs = alternate({SHORT: lambda: taken(SHORT), LONG: lambda: taken(LONG)}, bench.large_repetitions)
    many, few = (f"{journals:,} journals of {length:,} lines" for journals, length in shapes.values())
    case = seconds_case(f"{many} / {few}", (SHORT, runs[SHORT]), (LONG, runs[LONG]))
    bench.keep(69, (case,), bench.large_repetitions, ())


def _files(folder: str) -> list[Path]:
    return sorted(Path(folder).iterdir())
