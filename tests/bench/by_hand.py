"""What a user of Spark does without Strandline: plain loads, anti-joins and MERGEs of the same rows, unverified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deltalake import DeltaTable
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
from strandline.tables.appends import append
from strandline.tables.commits import transaction
from strandline.tables.reads import TableReads

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
class ReadyRows:
    """The rows that a run of the product merged into one table, in a Parquet file, ready to be merged again.

    `bounds` are the least and the greatest value of the layout column in changed rows, before and after the change.
    """

    table: str
    rows: Path
    buckets: tuple[int, ...]
    bounds: Mapping[str, tuple[int, int]]
    is_deleting: bool


@dataclass(frozen=True, slots=True)
class ReadyRow:
    """A row that a run of the product appended to one table, in memory."""

    table: str
    values: Mapping[str, object]


Ready = ReadyRows | ReadyRow


def ready_rows(engine: Engine, lake: Path, before: Mapping[str, int], tables: Sequence[str]) -> list[Ready]:
    """Return what was written to tables of a lake after the versions `before`; tables without news are left out."""
    found: list[Ready] = []
    after = versions(engine, lake, tables)
    for table in tables:
        if after[table] == before[table]:
            continue
        if contract(table).merge == "append":
            found.extend(appended_rows(lake, table, before[table]))
        else:
            found.extend(_merged_rows(engine, lake / table, before[table]))
    return found


def appended_rows(lake: Path, table: str, since: int) -> list[ReadyRow]:
    """Return the rows that were appended to a table with a `run_id` as its key after the version `since`."""
    old = DeltaTable(str(lake / table), version=since).to_pyarrow_table(columns=["run_id"])
    known = set(old.column("run_id").to_pylist())
    rows = DeltaTable(str(lake / table)).to_pyarrow_table().to_pylist()
    return [ReadyRow(table, row) for row in rows if row["run_id"] not in known]


def _merged_rows(engine: Engine, table: Path, since: int) -> list[ReadyRows]:
    described, feed = contract(table.name), _feed(engine, table, since)
    is_gone = F.col("_change_type") == "delete"
    rows = feed.where(is_gone | F.col("_change_type").isin(*KEPT)).select(
        *described.names, is_gone.alias(DELETED)
    )
    target = engine.new_path()
    rows.coalesce(1).write.parquet(str(target))
    news = engine.spark.read.parquet(str(target))
    if not news.head(1):
        return []
    [places] = news.agg(F.sort_array(F.collect_set("bucket")).alias("buckets")).collect()
    is_deleting = bool(news.where(DELETED).head(1))
    bounds: dict[str, tuple[int, int]] = {}
    if described.layout_column is not None:
        layout = described.layout_column
        # The feed has rows as they were before an update, too: no stored row with one of the keys is outside.
        [found] = feed.agg(F.min(layout).alias("low"), F.max(layout).alias("high")).collect()
        bounds[layout] = (found["low"], found["high"])
    return [ReadyRows(table.name, target, tuple(places["buckets"]), bounds, is_deleting)]


def write_again(engine: Engine, lake: Path, ready: Iterable[Ready]) -> None:
    """Write ready rows to another copy of the lake, a commit after the other: a MERGE a table, an append a row."""
    for each in ready:
        if isinstance(each, ReadyRow):
            append_again(engine.store(lake), each)
        else:
            engine.spark.read.parquet(str(each.rows)).createOrReplaceTempView(NEWS)
            _merge(engine, merge_sql(each, lake))


def append_again(tables: TableReads, ready: ReadyRow) -> None:
    """Append a row as the product does: with delta-rs where the table allows it, and once."""
    run_id = str(ready.values["run_id"])
    append(tables, ready.table, ready.values, transaction(f"{run_id}/by-hand", 0, run_id), datetime.now(UTC))


def merge_sql(ready: ReadyRows, lake: Path) -> str:
    """Return the MERGE that fits the contract: it names the buckets of the rows, and the range of the layout column."""
    described, target = contract(ready.table), quote_path(str(lake / ready.table))
    if described.merge == "insert_only":
        return insert_only_merge_sql(
            described, target=target, source=NEWS, buckets=ready.buckets, bounds=ready.bounds
        )
    return replace_merge_sql(
        described, target=target, source=NEWS, buckets=ready.buckets, deleting=ready.is_deleting,
        bounds=ready.bounds,
    )  # fmt: skip


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


def _merge(engine: Engine, sql: str) -> int:
    [metrics] = engine.spark.sql(sql).collect()
    return int(metrics["num_inserted_rows"])
