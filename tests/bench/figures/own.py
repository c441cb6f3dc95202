"""Figures about own journals: 23 and 27."""

from __future__ import annotations

import time

from bench.bench import Bench
from bench.measure import Run, alternate, seconds_case, seconds_side
from bench.results import Case, Side
from bench.workers import PeakOfWorkers, is_readable
from strandline.dialects.sdmp.author import append, synthetic_id

ROWS, WRITTEN, PYTHON = "rows of the commit", "the same, written to Delta", "append in pure Python"
WHOLE, HALF = "all peers", "half of the peers of each"
MIB = 2**20
OWN_FROM = 10_000_000
"""Number of the first own node that listens: no journal has it."""


def measure(bench: Bench) -> None:
    """Measure what is wanted of writing journals and of writing what peers name."""
    if bench.wants(23):
        _writing(bench)
    if bench.wants(27):
        _listening(bench)


def _writing(bench: Bench) -> None:
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    numbers = range(1, sizes.journals + 1)
    own = engine.own(dict.fromkeys(numbers, ()))
    landed = engine.empty_lake()
    engine.announce(landed, (data.announced(),), own)
    # Line 1 of each journal is the node itself: it comes with the first line that is written.
    authored = sizes.journals * (sizes.length - 1)

    def rows() -> Run:
        return engine.next_commit(landed, own, lines=sizes.lines)

    def written() -> Run:
        lake = engine.copy(landed)
        done = engine.write(lake, own, lines=authored)
        engine.drop(lake)
        return done

    def python() -> Run:
        took, lines = 0.0, 0
        for number in numbers:
            tip, pairs = synthetic_id("node", number).encode("ascii"), data.pairs(number)
            began = time.perf_counter()
            lines += len(list(append(tip, pairs)))
            took += time.perf_counter() - began
        if lines != authored:
            raise RuntimeError(f"append gave {lines} lines, not {authored}")
        return Run(took)

    runs = alternate({ROWS: rows, PYTHON: python, WRITTEN: written}, bench.repetitions)
    engine.drop(landed)
    beside = seconds_side(WRITTEN, runs[WRITTEN])
    case = seconds_case(sizes.many(), (ROWS, runs[ROWS]), (PYTHON, runs[PYTHON]), beside)
    bench.keep(23, (case,), bench.repetitions, ())


def _listening(bench: Bench) -> None:
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    held = engine.empty_lake()
    engine.ingest(held, data.many(), new=sizes.lines)
    engine.reduce(held)
    tenth = max(2, sizes.journals // 10)
    peaks: dict[str, list[float]] = {WHOLE: [], HALF: []}

    def listening(peers: int) -> object:
        """Own nodes, a tenth as many as there are journals, each with so many peers, in turns."""
        return engine.own(
            {
                OWN_FROM + at: [(at * tenth + each) % sizes.journals + 1 for each in range(peers)]
                for at in range(tenth)
            }
        )

    def contender(name: str, peers: int) -> Run:
        own, lake = listening(peers), engine.copy(held)
        pairs = tenth * peers * (sizes.length - 1)
        if is_readable():
            with PeakOfWorkers() as peak:
                done = engine.sync(lake, own, lines=pairs)
            peaks[name].append(peak.bytes / MIB)
        else:
            done = engine.sync(lake, own, lines=pairs)
        engine.drop(lake)
        return done

    # The half first: what a worker has once taken it keeps.
    runs = alternate(
        {HALF: lambda: contender(HALF, tenth // 2), WHOLE: lambda: contender(WHOLE, tenth // 2 * 2)},
        bench.large_repetitions,
    )
    engine.drop(held)
    pairs = tenth * (tenth // 2 * 2) * (sizes.length - 1)
    name = f"{tenth:,} own nodes, {sizes.journals:,} peers, {pairs:,} named pairs"
    cases = [seconds_case(f"time, {name}", (WHOLE, runs[WHOLE]), (HALF, runs[HALF]))]
    if peaks[WHOLE]:
        whole, half = (Side(f"largest worker, {each}", "MiB", tuple(peaks[each])) for each in (WHOLE, HALF))
        cases.append(Case(f"memory, {name}", whole, half))
    bench.keep(27, tuple(cases), bench.large_repetitions, ())
