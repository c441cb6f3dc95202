"""Figures on ten million lines: 7, 8, 9, 12, 25, 30, 31, 35. Figure 12 watches how the large lake is built."""

from __future__ import annotations

from pathlib import Path

from bench.bench import Bench
from bench.by_hand import RUN, news_by_hand, ready_rows, versions, write_again
from bench.figures.merges import naive_copy, tip_merges, union_merges
from bench.measure import Run, alternate, median_run, seconds_case, seconds_side, timed
from bench.results import Case, Side
from bench.rows import TABLE
from bench.sizes import CHUNKS
from bench.workers import PeakOfWorkers, is_readable

MIB = 2**20
LANDED, APPENDED = "ingest and reduce of the file", "append to Delta"
COMMITS, BY_HAND = "the five commits by hand", "the change feed read, and the MERGEs by hand"
NEWS, FULL, ONE_LINE = "reduce of the news", "reduce --full", "reduce of one line"
REDUCED = ("node_journal", "namespace_state")


def measure(bench: Bench) -> None:
    """Build the large lake, and measure on copies of it what is wanted."""
    lake = _watched_build(bench)
    engine = bench.engine
    if bench.wants(7):
        union_merges(bench, lake / TABLE)
    if bench.wants(8):
        naive = naive_copy(engine, lake / TABLE)
        tip_merges(bench, lake / TABLE, naive)
        engine.drop(naive)
    if bench.wants(9, 25, 30, 31):
        first = engine.reduce(lake, new=None).run
        if bench.wants(9, 31):
            _reductions(bench, lake, first)
        if bench.wants(25, 30):
            _one_file(bench, lake)
    engine.drop(lake)


def _watched_build(bench: Bench) -> Path:
    """Return a lake that holds all chunks; if asked, with the workers' memory watched, and of one chunk before."""
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    if not (bench.wants(12, 35) and is_readable()):
        if bench.wants(12, 35):
            print("figures 12 and 35 are left out: this system has no /proc", flush=True)
        lake = engine.empty_lake()
        engine.ingest(lake, data.many(CHUNKS), new=sizes.large_lines)
        return lake
    small = engine.empty_lake()
    with PeakOfWorkers() as of_one:
        one = engine.ingest(small, data.many(), new=sizes.lines).run
    engine.drop(small)
    lake = engine.empty_lake()
    with PeakOfWorkers() as of_all:
        every = engine.ingest(lake, data.many(CHUNKS), new=sizes.large_lines).run
    case = Case(
        f"{sizes.many(CHUNKS)} / {sizes.many()}",
        Side("largest worker, all", "MiB", (of_all.bytes / MIB,)),
        Side("largest worker, one chunk", "MiB", (of_one.bytes / MIB,)),
        (Side("ingest, all", "s", (every.seconds,)), Side("ingest, one chunk", "s", (one.seconds,))),
        every.stages,
    )
    note = f"Workers seen: {len(of_one.seen)} with one chunk, {len(of_all.seen)} with all; they live on between runs."
    if bench.wants(12):
        bench.keep(12, (case,), 1, (note,))
    if bench.wants(35):
        bench.keep(
            35, (seconds_case(case.name, ("ingest, all", (every,)), ("ingest, one chunk", (one,))),), 1, ()
        )
    return lake


def _one_file(bench: Bench, lake: Path) -> None:
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    more, rows = data.more_of((2,), "more-of-two"), str(data.rows_of_more(2))
    done_before = engine.copy(lake)
    before = versions(engine, lake, (TABLE, *REDUCED, RUN))
    engine.ingest(done_before, (more,), new=sizes.length)
    engine.reduce(done_before, new=sizes.length)
    ready = ready_rows(engine, done_before, before, tuple(before))
    engine.drop(done_before)

    def by_hand() -> Run:
        here = engine.copy(lake)
        done = timed(lambda: write_again(engine, here, ready))
        engine.drop(here)
        return done

    def landed() -> Run:
        here = engine.copy(lake)
        ingested = engine.ingest(here, (more,), new=sizes.length).run
        reduced = engine.reduce(here, new=sizes.length).run
        engine.drop(here)
        stages = {f"ingest: {name}": took for name, took in ingested.stages.items()}
        stages |= {f"reduce: {name}": took for name, took in reduced.stages.items()}
        return Run(ingested.seconds + reduced.seconds, stages)

    def appended() -> Run:
        table = engine.copy(lake / TABLE)
        source = engine.spark.read.parquet(rows)
        done = timed(lambda: source.write.format("delta").mode("append").save(str(table)))
        engine.drop(table)
        return done

    runs = alternate({LANDED: landed, APPENDED: appended, COMMITS: by_hand}, bench.large_repetitions)
    what = f"{sizes.length:,} lines into {sizes.many(CHUNKS)}"
    for number, against in ((25, APPENDED), (30, COMMITS)):
        if bench.wants(number):
            case = seconds_case(what, (LANDED, runs[LANDED]), (against, runs[against]))
            bench.keep(number, (case,), bench.large_repetitions, ())


def _reductions(bench: Bench, lake: Path, first: Run) -> None:
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    grown = engine.copy(lake)
    engine.ingest(grown, (data.more_of(data.touched(), "news"),), new=sizes.news_lines)
    touched_once = engine.copy(lake)
    engine.ingest(touched_once, (data.more_of((2,), "one-line", lines=1),), new=1)
    reduced: list[Path] = []
    before = versions(engine, lake, (TABLE, *REDUCED))
    done_before = engine.copy(grown)
    engine.reduce(done_before, new=sizes.news_lines)
    ready = ready_rows(engine, done_before, before, REDUCED)
    engine.drop(done_before)

    def of_news() -> Run:
        reduced.append(engine.copy(grown))
        return engine.reduce(reduced[-1], new=sizes.news_lines).run

    def full() -> Run:
        done = engine.reduce(reduced[-1], full=True, new=0).run
        engine.drop(reduced[-1])
        return done

    def of_one_line() -> Run:
        here = engine.copy(touched_once)
        done = engine.reduce(here, new=1).run
        engine.drop(here)
        return done

    contenders = {
        NEWS: of_news, FULL: full, ONE_LINE: of_one_line,
        BY_HAND: lambda: news_by_hand(engine, grown, TABLE, before[TABLE], ready),
    }  # fmt: skip
    runs = alternate(contenders, bench.large_repetitions)
    engine.drop(grown, touched_once)
    name = f"{sizes.news_lines:,} lines in {sizes.touched:,} of {sizes.many(CHUNKS)}"
    beside = (seconds_side(ONE_LINE, runs[ONE_LINE]), seconds_side("first reduce of all", (first,)))
    case = seconds_case(name, (NEWS, runs[NEWS]), (FULL, runs[FULL]), *beside)
    note = "Stages of the reduce of one line: " + ", ".join(
        f"{stage} {took:.1f} s" for stage, took in median_run(runs[ONE_LINE]).stages.items()
    )
    if bench.wants(9):
        bench.keep(9, (case,), bench.large_repetitions, (note + ".",))
    if bench.wants(31):
        case = seconds_case(name, (NEWS, runs[NEWS]), (BY_HAND, runs[BY_HAND]))
        bench.keep(31, (case,), bench.large_repetitions, ())
