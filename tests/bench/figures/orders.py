"""Figures of logs as DAGs, over rows that nobody signed: 17, 18, 19, 21, 32."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pyspark.sql import functions as F

from bench.bench import Bench
from bench.by_hand import news_by_hand, ready_rows, versions
from bench.data import BUCKETS
from bench.engine import Engine, compute
from bench.logs import TABLE, entry_rows
from bench.measure import Run, alternate, seconds_case, timed
from bench.results import Side
from strandline.dialects.ipfslog.spark import dag, logs, order
from strandline.dialects.ipfslog.spark.tables import REDUCED

HEADS, COUNTED, VALUES, SORTED = "heads", "groupBy and count", "values in their order", "sort"
NEWS, FULL = "reduce of the news", "reduce --full"
BY_HAND = "the change feed read, and the MERGEs by hand"
WRITTEN: Final = (*REDUCED, "namespace_state")
LONG, MANY = "one long log", "many logs"
NEWS_PER_CENT: Final = 1


def measure(bench: Bench) -> None:
    """Measure heads and order beside Spark's own aggregate and sort, and reductions of one log and of many."""
    sizes = bench.data.sizes
    if bench.wants(17, 18, 21):
        many = entered(bench.engine, sizes.journals, 1, sizes.length)
        if bench.wants(17, 18):
            _frames(bench, many)
        if bench.wants(21):
            _shapes(bench, many)
        bench.engine.drop(many)
    if bench.wants(19, 32):
        _news(bench)


def entered(engine: Engine, count: int, first: int, last: int, lake: Path | None = None) -> Path:
    """Return a lake that holds the entries `first` to `last` of so many chains."""
    found = engine.empty_lake() if lake is None else lake
    rows = entry_rows(engine.spark, count, first, last)
    engine.store(found).merge_new(TABLE, rows, tuple(range(BUCKETS)), {"clock_time": (first, last)})
    return found


def _frames(bench: Bench, lake: Path) -> None:
    sizes = bench.data.sizes
    entries = bench.engine.store(lake).read(TABLE)
    nodes = entries.select(*dag.NODE, "next")
    columns = ("namespace", "bucket", "record_id", "cid", "clock_time", "clock_id")
    runs = alternate(
        {
            HEADS: lambda: timed(lambda: compute(dag.edges(nodes).where(F.col("kind") == dag.HEAD))),
            COUNTED: lambda: timed(lambda: compute(entries.groupBy("namespace", "record_id").count())),
            VALUES: lambda: timed(lambda: compute(order.ranked(entries.select(*columns)))),
            SORTED: lambda: timed(
                lambda: compute(entries.select(*columns).orderBy("namespace", *logs.order_of()))
            ),
        },
        bench.repetitions,
    )
    name = f"{sizes.journals:,} logs of {sizes.length:,} entries"
    for number, work, against in ((17, HEADS, COUNTED), (18, VALUES, SORTED)):
        if bench.wants(number):
            case = seconds_case(name, (work, runs[work]), (against, runs[against]))
            bench.keep(number, (case,), bench.repetitions, ())


def _shapes(bench: Bench, many: Path) -> None:
    engine, sizes = bench.engine, bench.data.sizes
    one = entered(engine, 1, 1, sizes.lines)

    def reduced(lake: Path) -> Run:
        here = engine.copy(lake)
        done = engine.reduce(here).run
        engine.drop(here)
        return done

    runs = alternate({LONG: lambda: reduced(one), MANY: lambda: reduced(many)}, bench.repetitions)
    engine.drop(one)
    name = f"1 log of {sizes.lines:,} / {sizes.journals:,} logs of {sizes.length:,} entries"
    case = seconds_case(name, (LONG, runs[LONG]), (MANY, runs[MANY]))
    bench.keep(21, (case,), bench.repetitions, ())


def _news(bench: Bench) -> None:
    engine, sizes = bench.engine, bench.data.sizes
    news = max(1, sizes.lines * NEWS_PER_CENT // 100)
    lake = entered(engine, 1, 1, sizes.lines)
    engine.reduce(lake)
    before = versions(engine, lake, (TABLE, *WRITTEN))
    entered(engine, 1, sizes.lines + 1, sizes.lines + news, lake)
    done_before = engine.copy(lake)
    engine.reduce(done_before, new=news)
    ready = ready_rows(engine, done_before, before, WRITTEN)
    engine.drop(done_before)
    reduced: list[Path] = []

    def of_news() -> Run:
        reduced.append(engine.copy(lake))
        return engine.reduce(reduced[-1], new=news).run

    def full() -> Run:
        done = engine.reduce(reduced[-1], full=True, new=0).run
        engine.drop(reduced[-1])
        return done

    contenders = {
        NEWS: of_news, FULL: full, BY_HAND: lambda: news_by_hand(engine, lake, TABLE, before[TABLE], ready)
    }  # fmt: skip
    runs = alternate(contenders, bench.repetitions)
    engine.drop(lake)
    commits = tuple(run.writing for run in runs[NEWS])
    name = f"{news:,} entries after {sizes.lines:,} of one log"
    beside = Side("commits of the reduce of the news", "s", commits)
    for number, against in ((19, FULL), (32, BY_HAND)):
        if bench.wants(number):
            case = seconds_case(name, (NEWS, runs[NEWS]), (against, runs[against]), beside)
            bench.keep(number, (case,), bench.repetitions, ())
