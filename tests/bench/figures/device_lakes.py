"""Figures of device logs in a lake: 54, 56, 57."""

from __future__ import annotations

from typing import Final

from bench.bench import Bench
from bench.devices import DEVICES, NEWS, folders
from bench.engine import DEVICELOG
from bench.measure import seconds_case, seconds_side
from bench.results import Case, Side
from bench.workers import PeakOfWorkers, is_readable

MIB: Final = 2**20
LIMIT_MIB: Final = 2048
LIMIT_ENTRIES: Final = 1_000_000


def measure(bench: Bench) -> None:
    """Ingest and reduce one large group, once: its memory, known entries, and news at its end."""
    engine, count = bench.engine, bench.data.sizes.lines
    held, news = folders(bench.data, count)
    lake = engine.empty_lake()
    first = engine.ingest(lake, (held,), new=count, of=DEVICELOG).run
    name = f"{count:,} entries of {DEVICES} devices"
    with PeakOfWorkers() as peak:
        reduced = engine.reduce(lake).run
    if bench.wants(57) and is_readable():
        case = Case(
            name, Side("largest worker", "MiB", (peak.bytes / MIB,)),
            Side("the limit", "MiB", (LIMIT_MIB * max(count, LIMIT_ENTRIES // 10) / LIMIT_ENTRIES,)),
            (seconds_side("ingest", (first,)), seconds_side("reduce", (reduced,))), reduced.stages,
        )  # fmt: skip
        bench.keep(57, (case,), 1, ())
    if bench.wants(56):
        again = engine.ingest(lake, (held,), new=0, of=DEVICELOG)
        if again.report.counts["signatures_verified"]:
            raise RuntimeError("a known entry was verified again")
        bench.keep(56, (seconds_case(name, ("known", (again.run,)), ("first", (first,))),), 1, ())
    if bench.wants(54):
        engine.ingest(lake, (news,), new=NEWS, of=DEVICELOG)
        grown = engine.reduce(lake, new=NEWS).run
        full = engine.reduce(lake, full=True, new=0).run
        case = seconds_case(f"{NEWS} messages into {name}", ("reduce", (grown,)), ("reduce --full", (full,)))
        bench.keep(54, (case,), 1, ())
    engine.drop(lake)
