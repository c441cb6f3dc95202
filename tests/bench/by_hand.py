"""What a user of Spark does without Strandline: plain loads, anti-joins and MERGEs of the same rows, unverified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from bench.data import BUCKETS
from bench.engine import Engine, compute
from bench.measure import Run, timed
from bench.rows import ID_CHARS, TABLE
from strandline.contracts.load import contract
from strandline.contracts.merge import DELETED, insert_only_merge_sql, replace_merge_sql
from strandline.contracts.quoting import quote_path
from strandline.frames.buckets import bucket_of

RUN: Final = "run"
NEWS: Final = "bench_ready_rows"
KEPT: Final = ("insert", "update_postimage")
EVERY_BUCKET: Final = tuple(range(BUCKETS))


def journal_lines(engine: Engine, sources: Iterable[str | Path]) -> DataFrame:
    """Return the rows of `node_journal_line` of text journals by Spark's own functions: nothing is verified.

    Each file is taken for one journal, and its lines for a chain in the order of the file.
    """
    read = engine.spark.read.text(list(map(str, sources))).select(
        F.col("value").alias("line"), F.col("_metadata.file_path").alias("source"),
        F.col("_metadata.file_block_start").alias("block"), F.monotonically_increasing_id().alias("at"),
    )  # fmt: skip
    in_file = Window.partitionBy("source").orderBy("block", "at")
    placed = read.withColumns(
        {
            "n": F.row_number().over(in_file).cast("bigint"),
            "namespace": F.concat(F.lit("node:"), F.first("line").over(in_file)),
            "line_hash": F.sha2("line", 256),
        }
    )
    parts = {"line_number": 1, "author_fp": ID_CHARS + 2, "resource_id": 2 * ID_CHARS + 3}
    shaped = placed.withColumns(
        {name: F.when(F.col("n") > 1, F.substring("line", first, ID_CHARS)) for name, first in parts.items()}
    ).withColumns(
        {
            "bucket": bucket_of(F.col("namespace"), BUCKETS),
            "record_id": F.unhex("line_hash"),
            "profile": F.lit("0.9"),
            "origin": F.lit("received"),
            "run_id": F.lit("bench"),
            "landed_at": F.current_timestamp(),
        }
    )
    return shaped.select(*contract(TABLE).names)


def unknown_lines(engine: Engine, lake: Path, sources: Iterable[str | Path]) -> int:
    """Return how many of the lines a lake does not have, by a join with the keys of its table."""
    rows = journal_lines(engine, sources).select("namespace", "bucket", "record_id")
    stored = engine.spark.read.format("delta").load(str(lake / TABLE))
    return rows.join(stored, ["bucket", "namespace", "record_id"], "left_anti").count()


def merged_from(engine: Engine, here: Path, there: Path) -> int:
    """Insert the lines that another lake has and this one lacks by one MERGE; return how many there were."""
    engine.spark.read.format("delta").load(str(there / TABLE)).createOrReplaceTempView(NEWS)
    target = quote_path(str(here / TABLE))
    return _merge(
        engine, insert_only_merge_sql(contract(TABLE), target=target, source=NEWS, buckets=EVERY_BUCKET)
    )


@dataclass(frozen=True, slots=True)
class Ready:
    """The rows that a run of the product wrote to one table, in a Parquet file, ready to be written again."""

    table: str
    rows: Path
    buckets: tuple[int, ...]
    is_deleting: bool


def ready_rows(engine: Engine, lake: Path, before: Mapping[str, int], tables: Sequence[str]) -> list[Ready]:
    """Return what was written to tables of a lake after the versions `before`; tables without news are left out."""
    found = []
    after = versions(engine, lake, tables)
    for table in tables:
        described = contract(table)
        if after[table] == before[table]:
            continue
        if described.merge == "append":
            rows = _appended(engine, lake / table, before[table])
        else:
            feed = _feed(engine, lake / table, before[table])
            is_gone = F.col("_change_type") == "delete"
            rows = feed.where(is_gone | F.col("_change_type").isin(*KEPT)).select(
                *described.names, is_gone.alias(DELETED)
            )
        target = engine.new_path()
        rows.coalesce(1).write.parquet(str(target))
        news = engine.spark.read.parquet(str(target))
        buckets: tuple[int, ...] = ()
        if described.is_bucketed:
            [row] = news.agg(F.sort_array(F.collect_set("bucket")).alias("buckets")).collect()
            buckets = tuple(row["buckets"])
        is_deleting = DELETED in news.columns and bool(news.where(DELETED).head(1))
        if news.head(1):
            found.append(Ready(table, target, buckets, is_deleting))
    return found


def write_again(engine: Engine, lake: Path, ready: Iterable[Ready]) -> None:
    """Write ready rows to another copy of the lake: a MERGE a table, by the statements that fit its contract.

    Each row of `run` is a commit of its own.
    """
    for each in ready:
        described, target = contract(each.table), lake / each.table
        news = engine.spark.read.parquet(str(each.rows))
        if described.merge == "append":
            for row in news.collect():
                one = engine.spark.createDataFrame([row], news.schema)
                one.write.format("delta").mode("append").save(str(target))
            continue
        news.createOrReplaceTempView(NEWS)
        where = quote_path(str(target))
        sql = (
            insert_only_merge_sql(described, target=where, source=NEWS, buckets=each.buckets)
            if described.merge == "insert_only"
            else replace_merge_sql(
                described, target=where, source=NEWS, buckets=each.buckets, deleting=each.is_deleting
            )
        )
        _merge(engine, sql)


def news_by_hand(engine: Engine, lake: Path, table: str, since: int, ready: Iterable[Ready]) -> Run:
    """Count the news of a table by namespace, from its change feed, and write ready rows: to a copy of the lake."""
    here = engine.copy(lake)

    def work() -> None:
        compute(_feed(engine, here / table, since).groupBy("namespace").count())
        write_again(engine, here, ready)

    done = timed(work)
    engine.drop(here)
    return done


def versions(engine: Engine, lake: Path, tables: Iterable[str]) -> dict[str, int]:
    """Return the versions of tables of a lake."""
    store = engine.store(lake)
    return {table: store.version(table) for table in tables}


def _feed(engine: Engine, table: Path, since: int) -> DataFrame:
    options = {"readChangeFeed": "true", "startingVersion": str(since + 1)}
    return engine.spark.read.format("delta").options(**options).load(str(table))


def _appended(engine: Engine, table: Path, since: int) -> DataFrame:
    read = engine.spark.read.format("delta")
    old = read.option("versionAsOf", since).load(str(table)).select("run_id")
    return engine.spark.read.format("delta").load(str(table)).join(old, "run_id", "left_anti")


def _merge(engine: Engine, sql: str) -> int:
    [metrics] = engine.spark.sql(sql).collect()
    return int(metrics["num_inserted_rows"])
