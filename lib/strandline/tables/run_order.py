"""The order of runs: the order of commits of the table `run`, independent of clocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import RUNS
from strandline.tables.reads import TableReads
from strandline.tables.run_versions import RUN_VERSION, detail_of, newest_runs


def run_order() -> Column:
    """Return the sort key of rows of `run`: of two rows, the later one has the greater key.

    Rows that were added at the same time name the same version: the random part of their ids decides. Rows of older
    versions of Strandline name no version. They come before all others, ordered by time.

    Reads: detail, started_at, run_id.
    """
    seen = _seen()
    return F.struct(
        F.coalesce(seen, F.lit(-1)).alias("seen"),
        F.when(seen.isNull(), F.col("started_at")).alias("started_at"),
        F.substring_index("run_id", "-", -1).alias("random"),
    )


def in_order(runs: pa.Table) -> list[dict[str, Any]]:
    """Return rows of `run` that are in memory, in the order of `run_order`: the latest one last.

    Reads:  detail, started_at, run_id, read_versions.
    Gives:  run_id, detail (its members), read_versions (a dictionary).
    """
    rows = []
    started_at = runs["started_at"].cast(pa.int64()).to_pylist()
    for row, started in zip(
        runs.select(["run_id", "detail", "read_versions"]).to_pylist(), started_at, strict=True
    ):
        detail = detail_of(row)
        found = {**row, "detail": detail, "read_versions": dict(row["read_versions"] or ())}
        rows.append((order_of(row["run_id"], detail, started), found))
    return [found for _, found in sorted(rows, key=lambda row: row[0])]


def order_of(run_id: str, detail: Mapping[str, Any], started: int) -> tuple[int, int, str]:
    """Return the sort key of one row, as `run_order`; `started` is its time, in a unit that all rows have."""
    seen, random = detail.get(RUN_VERSION), run_id.rpartition("-")[2]
    return (seen, 0, random) if isinstance(seen, int) else (-1, started, random)


def next_run_version(tables: TableReads) -> int:
    """Return the version that the next row of `run` names: that of the table, in a local clone more than any row names.

    A clone has the rows of another table, but its versions begin anew. In a local lake the newest row shows without
    Spark that this is no clone, or one that has come further than the other table. Elsewhere only a query would show
    it, which each command would pay.
    """
    version, location = tables.version(RUNS), tables.location
    if not location.is_local():
        return version
    newest = next(newest_runs(location.local_path() / RUNS, version), None)
    if (newest is not None and newest.order < version) or not tables.has_files(RUNS):
        return version
    [row] = tables.read(RUNS).agg(F.max(_seen()).alias("seen")).collect()
    return version if row["seen"] is None else max(version, 1 + int(row["seen"]))


def _seen() -> Column:
    return F.get_json_object("detail", f"$.{RUN_VERSION}").cast("bigint")
