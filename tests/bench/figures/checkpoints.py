"""Figure 70: a first checkpoint, beside the same places of the same ids by hand, without a tree or a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pyspark.sql import functions as F
from pyspark.sql.window import Window

from bench.bench import Bench
from bench.by_hand import EVERY_BUCKET, NEWS
from bench.engine import IPFSLOG, Engine
from bench.logs import folders
from bench.measure import Run, alternate, seconds_case, seconds_side, timed
from bench.results import Case
from bench.rows import TABLE
from strandline.contracts.load import contract
from strandline.contracts.merge import insert_only_merge_sql
from strandline.contracts.quoting import quote_path
from strandline.contracts.shared_tables import CHECKPOINT_LEAVES

LOGS: Final = 80
CHECKPOINT, BY_HAND, INGESTED = "checkpoint", "places by hand", "their ingest"


def measure(bench: Bench) -> None:
    """Measure the first checkpoint of lines and of entries of logs."""
    engine, data, sizes = bench.engine, bench.data, bench.data.sizes
    lines, logs = engine.empty_lake(), engine.empty_lake()
    landed = {
        lines: engine.ingest(lines, data.many(), new=sizes.lines).run,
        logs: engine.ingest(logs, folders(data, LOGS), new=LOGS * sizes.length, of=IPFSLOG).run,
    }
    cases = (
        _case(bench, lines, TABLE, sizes.many(), sizes.lines, landed[lines]),
        _case(
            bench, logs, IPFSLOG.info.record_table, f"{LOGS} logs of {sizes.length:,} entries", LOGS * sizes.length,
            landed[logs],
        ),
    )  # fmt: skip
    bench.keep(70, cases, bench.repetitions, ())
    engine.drop(lines, logs)


def _case(bench: Bench, lake: Path, table: str, name: str, leaves: int, landed: Run) -> Case:
    engine = bench.engine

    def checkpointed() -> Run:
        copy = engine.copy(lake)
        run = engine.checkpoint(copy, leaves=leaves)
        engine.drop(copy)
        return run

    def by_hand() -> Run:
        copy = engine.copy(lake)
        run = timed(lambda: _placed(engine, copy, table, leaves))
        engine.drop(copy)
        return run

    runs = alternate({CHECKPOINT: checkpointed, BY_HAND: by_hand}, bench.repetitions)
    beside = seconds_side(INGESTED, (landed,))
    return seconds_case(name, (CHECKPOINT, runs[CHECKPOINT]), (BY_HAND, runs[BY_HAND]), beside)


def _placed(engine: Engine, lake: Path, table: str, leaves: int) -> None:
    """Give each id of a namespace its place by one window, and insert the rows by the MERGE of the product."""
    stored = engine.spark.read.format("delta").load(str(lake / table))
    place = F.row_number().over(Window.partitionBy("namespace").orderBy("record_id")) - 1
    rows = stored.select(
        "namespace",
        "bucket",
        F.lit("bench").alias("attempt"),
        place.cast("bigint").alias("position"),
        "record_id",
    )
    rows.createOrReplaceTempView(NEWS)
    target = quote_path(str(lake / CHECKPOINT_LEAVES))
    described = contract(CHECKPOINT_LEAVES)
    sql = insert_only_merge_sql(described, target=target, source=NEWS, buckets=EVERY_BUCKET)
    [row] = engine.spark.sql(sql).collect()
    if row["num_inserted_rows"] != leaves:
        raise RuntimeError(f"{row['num_inserted_rows']} rows were written, expected {leaves}")
