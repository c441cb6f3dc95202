"""Figure 5: what adding lines at the tip of a journal costs, by the length of the journal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.bench import Bench
from bench.measure import Contender, Run, alternate, seconds_case, seconds_side

LONG, SHORT = "at the tip of the long journal", "at the tip of the short journal"


def measure(bench: Bench) -> None:
    """Measure the ingest of one frame into lakes that hold a long and a short journal, reduced."""
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    held = {LONG: (data.one(), sizes.lines), SHORT: (data.short(), sizes.length)}
    more = {LONG: data.one_more(), SHORT: data.more_of((1,), "more-of-short")}
    lakes: dict[str, Path] = {}
    for name, (journal, lines) in held.items():
        lakes[name] = engine.empty_lake()
        engine.ingest(lakes[name], (journal,), new=lines)
        engine.reduce(lakes[name])
    reductions: Mapping[str, list[Run]] = {LONG: [], SHORT: []}

    def contender(name: str) -> Contender:
        def add() -> Run:
            lake = engine.copy(lakes[name])
            done = engine.ingest(lake, (more[name],), new=sizes.length).run
            reductions[name].append(engine.reduce(lake, new=sizes.length).run)
            engine.drop(lake)
            return done

        return add

    runs = alternate({name: contender(name) for name in lakes}, bench.repetitions)
    engine.drop(*lakes.values())
    beside = (seconds_side(f"reduce after it, {name}", tuple(each)) for name, each in reductions.items())
    what = f"{sizes.length:,} lines added to {sizes.lines:,} / to {sizes.length:,}"
    case = seconds_case(what, (LONG, runs[LONG]), (SHORT, runs[SHORT]), *beside)
    bench.keep(5, (case,), bench.repetitions, ())
