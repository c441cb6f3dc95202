"""Figures of contexts in a lake: 67, 68."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.bench import Bench
from bench.contexts import charges, small_contexts
from bench.engine import AURA
from bench.facts import folder
from bench.measure import seconds_case, seconds_side
from bench.results import Case, Side
from strandline.dialects.aura.types import Fact

FACTS: Final = 5
PARTIES: Final = 2
"""The authorities whose geneses come before the contexts."""

NEWS: Final = 100


@dataclass(frozen=True, slots=True)
class _Taken:
    """A lake, and what its contexts took: facts a second, and the seconds of both commands."""

    lake: Path
    rate: Side
    parts: tuple[Side, ...]


def measure(bench: Bench) -> None:
    """Ingest and reduce one long context, some small contexts and ten times as many; then news of the many."""
    engine, count = bench.engine, bench.data.sizes.lines
    tenth = count // 10
    long = _taken(bench, f"one context of {count:,} facts", charges(count - 1), count)
    few = _taken(
        bench, f"{tenth:,} contexts of {FACTS} facts", small_contexts(range(tenth), FACTS), FACTS * tenth
    )
    engine.drop(long.lake, few.lake)
    named = f"{count:,} contexts of {FACTS} facts"
    many = _taken(bench, named, small_contexts(range(count), FACTS), FACTS * count)
    if bench.wants(67):
        cases = (
            Case(f"{many.rate.name} / {long.rate.name}", many.rate, long.rate, (*many.parts, *long.parts)),
            Case(f"{many.rate.name} / {few.rate.name}", many.rate, few.rate, few.parts),
        )
        bench.keep(67, cases, 1, ())
    if bench.wants(68):
        news = min(NEWS, tenth)
        source = folder(bench.data, f"contexts-{news}-more", small_contexts(range(news), FACTS + 1))
        engine.ingest(many.lake, (source,), new=news, of=AURA)
        grown = engine.reduce(many.lake, new=news).run
        full = engine.reduce(many.lake, full=True, new=0).run
        name = f"{news:,} charges into {many.rate.name}"
        bench.keep(68, (seconds_case(name, ("reduce", (grown,)), ("reduce --full", (full,))),), 1, ())
    engine.drop(many.lake)


def _taken(bench: Bench, name: str, facts: Iterable[Fact], count: int) -> _Taken:
    source = folder(bench.data, name.replace(",", "").replace(" ", "-"), facts)
    lake = bench.engine.empty_lake()
    ingested = bench.engine.ingest(lake, (source,), new=count + PARTIES, of=AURA).run
    reduced = bench.engine.reduce(lake).run
    parts = (seconds_side(f"ingest of {name}", (ingested,)), seconds_side(f"reduce of {name}", (reduced,)))
    return _Taken(lake, Side(name, "1/s", (count / (ingested.seconds + reduced.seconds),)), parts)
