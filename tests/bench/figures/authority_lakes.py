"""Figures of authorities in a lake: 48, 49, 50."""

from __future__ import annotations

from typing import Final

from bench.bench import Bench
from bench.described_aura import PUBLIC_JOIN, PUBLIC_REDUCED, PUBLIC_REDUCTION
from bench.engine import AURA
from bench.facts import chain, folder
from bench.measure import Run, alternate, seconds_case, seconds_side, timed
from bench.results import Case, Side
from bench.workers import PeakOfWorkers, is_readable
from strandline.dialects.aura.reduce import reduce_columns
from strandline.dialects.aura.verify import admit

MIB: Final = 2**20
LIMIT_MIB: Final = 4096
LIMIT_OPERATIONS: Final = 1_000_000
OPERATIONS: Final = 10
"""Operations of a small authority, with its genesis."""

ONE, TWO = "ingest and reduce", "ingest and reduce of twice the authorities"
ELSEWHERE: Final = "public implementation, measured elsewhere"
SCALED: Final = f"public implementation, scaled from {PUBLIC_REDUCED:,} facts elsewhere"


def measure(bench: Bench) -> None:
    """Measure unions, ingests of two sizes, and the memory that one long authority takes."""
    # First, while the workers have done little.
    if bench.wants(50):
        _memory(bench)
    if bench.wants(48):
        _public(bench)
    if bench.wants(49):
        _growth(bench)


def _public(bench: Bench) -> None:
    engine, count = bench.engine, 10 * bench.data.sizes.journals
    facts = list(chain(0, count + count // 2 - 1))
    held = folder(bench.data, f"held-{count}", facts[:count])
    other = folder(bench.data, f"other-{count}", facts[count // 2 :])
    start = engine.empty_lake()
    engine.ingest(start, (held,), new=count, of=AURA)
    engine.reduce(start)
    runs = []
    for _ in range(bench.large_repetitions):
        lake = engine.copy(start)
        ingested = engine.ingest(lake, (other,), new=len(facts) - count, of=AURA).run
        reduced = engine.reduce(lake).run
        engine.drop(lake)
        runs.append(
            Run(ingested.seconds + reduced.seconds, {"ingest": ingested.seconds, "reduce": reduced.seconds})
        )
    engine.drop(start)
    joined = seconds_case(
        f"two journals of {count:,} facts",
        ("ingest and reduce", tuple(runs)),
        (ELSEWHERE, (Run(PUBLIC_JOIN),)),
    )
    ops = list(admit(facts).operations.values())
    in_memory = tuple(
        timed(lambda: reduce_columns(facts[0].namespace, ops)) for _ in range(bench.large_repetitions)
    )
    reduced = seconds_case(
        f"{len(ops):,} facts in memory",
        ("reduction by columns", in_memory),
        (SCALED, (Run(public_reduction(len(ops))),)),
    )
    bench.keep(48, (joined, reduced), bench.large_repetitions, ())


def public_reduction(facts: int) -> float:
    """Return the seconds in which the public implementation reduces so many facts, by its time for a fact."""
    return PUBLIC_REDUCTION / PUBLIC_REDUCED * facts


def _growth(bench: Bench) -> None:
    engine, count = bench.engine, 50 * bench.data.sizes.journals
    sources = [
        folder(
            bench.data, f"authorities-{first}-{count}",
            (fact for number in range(first, first + count) for fact in chain(number, OPERATIONS - 1)),
        )
        for first in (0, count)
    ]  # fmt: skip

    def taken(chunks: int) -> Run:
        lake = engine.empty_lake()
        first = engine.ingest(lake, sources[:chunks], new=chunks * count * OPERATIONS, of=AURA).run
        then = engine.reduce(lake).run
        engine.drop(lake)
        return Run(first.seconds + then.seconds, {"ingest": first.seconds, "reduce": then.seconds})

    # Each takes minutes: one run of both.
    runs = alternate({TWO: lambda: taken(2), ONE: lambda: taken(1)}, 1)
    name = f"{2 * count:,} / {count:,} authorities of {OPERATIONS} operations"
    bench.keep(49, (seconds_case(name, (TWO, runs[TWO]), (ONE, runs[ONE])),), 1, ())


def _memory(bench: Bench) -> None:
    if not is_readable():
        print("figure 50 is left out: this system has no /proc", flush=True)
        return
    engine, count = bench.engine, bench.data.sizes.lines
    source = folder(bench.data, f"long-{count}", chain(0, count - 1))
    lake = engine.empty_lake()
    with PeakOfWorkers() as peak:
        run = engine.ingest(lake, (source,), new=count, of=AURA).run
    engine.drop(lake)
    case = Case(
        f"{count:,} operations of one authority",
        Side("largest worker", "MiB", (peak.bytes / MIB,)),
        Side("the limit", "MiB", (LIMIT_MIB * count / LIMIT_OPERATIONS,)),
        (seconds_side("ingest", (run,)),),
        run.stages,
    )
    bench.keep(50, (case,), 1, ())
