"""Figures about ways into a lake beside `ingest`: 24, a stream, 26 and 33, another lake."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.bench import Bench
from bench.by_hand import merged_from
from bench.measure import Run, alternate, seconds_case, timed
from bench.sizes import CHUNKS

BATCHES = 4
STREAM, RUNS = "stream --available-now", "ingest and reduce, four times"
SYNC, INGEST, BY_HAND = "sync --from", "ingest of all", "MERGE of the other table by hand"


def measure(bench: Bench) -> None:
    """Measure what is wanted."""
    if bench.wants(24):
        _streaming(bench)
    if bench.wants(26, 33):
        _syncing(bench)


def _streaming(bench: Bench) -> None:
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    files = max(1, sizes.journals // 40)
    [folder] = data.many()
    landing = engine.new_path()
    landing.mkdir()
    paths = [landing / path.name for path in sorted(Path(folder).iterdir())[: files * BATCHES]]
    for path in paths:
        shutil.copyfile(Path(folder) / path.name, path)

    def streamed() -> Run:
        lake = engine.empty_lake()
        done = engine.stream(lake, landing, max_files=files, batches=BATCHES)
        engine.drop(lake)
        return done

    def batches() -> Run:
        lake, seconds = engine.empty_lake(), 0.0
        for at in range(0, len(paths), files):
            batch = paths[at : at + files]
            seconds += engine.ingest(lake, batch, new=len(batch) * sizes.length).run.seconds
            seconds += engine.reduce(lake).run.seconds
        engine.drop(lake)
        return Run(seconds)

    runs = alternate({STREAM: streamed, RUNS: batches}, bench.repetitions)
    shutil.rmtree(landing)
    what = f"{len(paths):,} files of {sizes.length:,} lines"
    bench.keep(24, (seconds_case(what, (STREAM, runs[STREAM]), (RUNS, runs[RUNS])),), bench.repetitions, ())


def _syncing(bench: Bench) -> None:
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    chunks = CHUNKS // 2
    touched = data.touched(chunks)
    news, missing = data.more_of(touched, f"news-of-{chunks}"), len(touched) * sizes.length
    here = engine.empty_lake()
    engine.ingest(here, data.many(chunks), new=sizes.lines * chunks)
    there = engine.copy(here)
    engine.ingest(there, (news,), new=missing)
    engine.reduce(here)

    def brought() -> Run:
        lake = engine.copy(here)
        done = engine.bring(lake, there, new=missing)
        engine.drop(lake)
        return done

    def ingested() -> Run:
        lake = engine.empty_lake()
        done = engine.ingest(lake, (*data.many(chunks), news), new=sizes.lines * chunks + missing).run
        engine.drop(lake)
        return done

    def by_hand() -> Run:
        lake, inserted = engine.copy(here), list[int]()
        done = timed(lambda: inserted.append(merged_from(engine, lake, there)))
        engine.drop(lake)
        if inserted != [missing]:
            raise RuntimeError(f"the MERGE inserted {inserted} lines, not {missing}")
        return done

    contenders = {SYNC: brought, BY_HAND: by_hand} | ({INGEST: ingested} if bench.wants(26) else {})
    runs = alternate(contenders, bench.large_repetitions)
    engine.drop(here, there)
    what = f"{missing:,} lines missing of {sizes.many(chunks)}"
    for number, against in ((26, INGEST), (33, BY_HAND)):
        if bench.wants(number):
            case = seconds_case(what, (SYNC, runs[SYNC]), (against, runs[against]))
            bench.keep(number, (case,), bench.large_repetitions, ())
