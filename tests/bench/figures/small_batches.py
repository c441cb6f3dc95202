"""Figure 38: what a reader notices of a hundred small batches."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from bench.bench import Bench
from bench.measure import Run, alternate, seconds_case
from bench.results import Side

BATCHES: Final = 100
STREAMED, AT_ONCE = "query of the streamed lake", "query of the lake of one ingest"
QUERY: Final = "SELECT namespace, count(*), max(n) FROM node_journal_line GROUP BY namespace"
READS: Final = 5


def measure(bench: Bench) -> None:
    """Stream small files one by one, and compare a query with that of a lake that got them at once."""
    engine, sizes = bench.engine, bench.data.sizes
    [folder] = bench.data.many()
    batches = min(BATCHES, sizes.journals)
    landing = engine.new_path()
    landing.mkdir()
    for path in sorted(Path(folder).iterdir())[:batches]:
        shutil.copyfile(path, landing / path.name)
    streamed, at_once = engine.empty_lake(), engine.empty_lake()
    built = engine.stream(streamed, landing, max_files=1, batches=batches)
    engine.ingest(at_once, (landing,), new=batches * sizes.length)
    engine.reduce(at_once)
    shutil.rmtree(landing)

    def queried(lake: Path) -> Run:
        return engine.query(lake, QUERY, rows=batches)

    runs = alternate({STREAMED: lambda: queried(streamed), AT_ONCE: lambda: queried(at_once)}, READS)
    files = (
        Side(f"live files, {name}", "", (float(engine.live_files(lake)),))
        for name, lake in (("streamed", streamed), ("one ingest", at_once))
    )
    case = seconds_case(
        f"{batches:,} batches of {sizes.length:,} lines", (STREAMED, runs[STREAMED]), (AT_ONCE, runs[AT_ONCE]),
        Side("stream of all batches", "s", (built.seconds,)), *files,
    )  # fmt: skip
    engine.drop(streamed, at_once)
    bench.keep(38, (case,), READS, ())
