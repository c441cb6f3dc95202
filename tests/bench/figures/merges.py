"""Merges into ten million rows: the store's beside statements written by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import functions as F

from bench.bench import Bench
from bench.data import BUCKETS, TIP_BUCKETS
from bench.engine import Engine
from bench.measure import Run, alternate, seconds_case, timed
from bench.rows import TABLE
from bench.sizes import CHUNKS
from strandline.contracts.quoting import quote_path

STORE, BY_HAND, NAIVE = "union merge", "MERGE by hand", "naive MERGE"
NEWS = "bench_news"
STATEMENT, AROUND = "the MERGE statement, as its commit states it", "around it: probe, plan, version"

_MERGE = "MERGE INTO {target} AS t USING {news} AS s ON {condition} WHEN NOT MATCHED THEN INSERT *"
_ON_KEY = "t.namespace = s.namespace AND t.record_id = s.record_id"


def union_merges(bench: Bench, table: Path) -> None:
    """Figure 7: news of all buckets whose range of n skips no file."""
    sizes = bench.data.sizes
    rows = bench.data.rows_of_new_journals()
    bounds = (1, sizes.length)
    condition = _ON_KEY + _literals(_buckets(bench.engine, rows), bounds)
    runs = alternate(
        {
            STORE: _by_store(bench.engine, table, rows, bounds, sizes.news_lines),
            BY_HAND: _by_hand(bench.engine, table, rows, condition, sizes.news_lines),
        },
        bench.large_repetitions,
    )
    name = f"{sizes.news_lines:,} rows of {sizes.touched:,} new journals into {sizes.many(CHUNKS)}"
    case = seconds_case(name, (STORE, runs[STORE]), (BY_HAND, runs[BY_HAND]))
    bench.keep(7, (case,), bench.large_repetitions, ())


def tip_merges(bench: Bench, table: Path, naive: Path) -> None:
    """Figure 8: news at the tips of journals of two buckets, so that bucket and range of n skip all old files."""
    sizes = bench.data.sizes
    rows = bench.data.rows_at_tips()
    bounds = (sizes.length + 1, 2 * sizes.length)
    runs = alternate(
        {
            STORE: _by_store(bench.engine, table, rows, bounds, sizes.news_lines),
            NAIVE: _by_hand(bench.engine, naive, rows, _ON_KEY, sizes.news_lines),
        },
        bench.large_repetitions,
    )
    name = f"{sizes.news_lines:,} rows at {sizes.touched:,} tips of {TIP_BUCKETS} of {BUCKETS} buckets"
    case = seconds_case(name, (STORE, runs[STORE]), (NAIVE, runs[NAIVE]))
    bench.keep(8, (case,), bench.large_repetitions, ())


def naive_copy(engine: Engine, table: Path) -> Path:
    """Return an unpartitioned table of the same rows, made with Delta's defaults."""
    target = engine.new_path()
    engine.spark.read.format("delta").load(str(table)).write.format("delta").save(str(target))
    return target


def _by_store(
    engine: Engine, table: Path, rows: Path, bounds: tuple[int, int], expected: int
) -> Callable[[], Run]:
    buckets = _buckets(engine, rows)

    def merge() -> Run:
        lake = engine.new_path()
        target = _opened(engine, table, lake / TABLE)
        store = engine.store(lake)
        inserted: list[int] = []

        def work() -> None:
            news = engine.spark.read.parquet(str(rows))
            inserted.append(store.merge_new(TABLE, news, buckets, {"n": bounds}).inserted)

        done = timed(work)
        return _ended(engine, target, done, inserted[0], expected)

    return merge


def _by_hand(engine: Engine, table: Path, rows: Path, condition: str, expected: int) -> Callable[[], Run]:
    def merge() -> Run:
        target = _opened(engine, table, engine.new_path())
        inserted: list[int] = []
        statement = _MERGE.format(target=quote_path(str(target)), news=NEWS, condition=condition)

        def work() -> None:
            engine.spark.read.parquet(str(rows)).createOrReplaceTempView(NEWS)
            [metrics] = engine.spark.sql(statement).collect()
            inserted.append(int(metrics["num_inserted_rows"]))

        done = timed(work)
        return _ended(engine, target, done, inserted[0], expected)

    return merge


def _opened(engine: Engine, table: Path, target: Path) -> Path:
    """Return a copy of the table at `target` whose log Spark has read: neither side pays for that."""
    engine.copy(table).rename(_made(target.parent) / target.name)
    engine.spark.read.format("delta").load(str(target)).where("false").collect()
    return target


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _ended(engine: Engine, target: Path, done: Run, inserted: int, expected: int) -> Run:
    """Return the run with the seconds of the statement that its commit states. Raises: RuntimeError for wrong rows."""
    if inserted != expected:
        raise RuntimeError(f"the merge inserted {inserted} rows, not {expected}")
    history = engine.spark.sql(f"DESCRIBE HISTORY {quote_path(str(target))} LIMIT 1")
    [row] = history.select("operationMetrics").collect()
    statement = int(row["operationMetrics"]["executionTimeMs"]) / 1000
    engine.drop(target)
    return Run(done.seconds, {STATEMENT: statement, AROUND: done.seconds - statement})


def _literals(buckets: tuple[int, ...], bounds: tuple[int, int]) -> str:
    listed = ", ".join(map(str, buckets))
    return f" AND t.bucket = s.bucket AND t.bucket IN ({listed}) AND t.n BETWEEN {bounds[0]} AND {bounds[1]}"


def _buckets(engine: Engine, rows: Path) -> tuple[int, ...]:
    [row] = (
        engine.spark.read.parquet(str(rows))
        .agg(F.sort_array(F.collect_set("bucket")).alias("buckets"))
        .collect()
    )
    return tuple(row["buckets"])
