"""`sql`: one query over tables and views. It changes nothing."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame

from strandline.core.errors import FaultError, UsageError
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.sql.check import query_check
from strandline.pipelines.sql.query import asked_of_spark
from strandline.pipelines.sql.values import json_rows
from strandline.tables import lake
from strandline.tables.commits import session_settings
from strandline.tables.store import TableStore
from strandline.tables.views import bare_names

ROWS_SHOWN: Final = 10_000
"""Most rows of a table for people and of `--json`."""

ROWS_GIVEN: Final = 1_000_000
"""Most rows of csv and json; parquet has no limit, since it does not pass through one process."""

# Spark puts settings and the environment into the text of a query where it says ${env:NAME}: text is data here.
_AS_WRITTEN: Final = {"spark.sql.variable.substitute": "false"}


@dataclass(frozen=True, slots=True)
class SqlRequest:
    """A query, the form its rows are wanted in (table, csv, json, parquet), and the file they go to, or None."""

    query: str
    format: str = "table"
    out: Path | None = None


def run(store: TableStore, request: SqlRequest, context: RunContext) -> Report:
    """Return the rows of one query over the lake's tables and views, by their bare names.

    Members: `columns`; `rows` as JSON values (`sql.values`); `truncated`, whether there were more rows than are given.
    With parquet the rows are in the one file `out` instead, written by Spark, and `rows` is empty. `counts.rows` is
    their number.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, TABLE_MISSING; QUERY_INVALID, QUERY_REFUSED;
        OUT_IS_FOLDER. FaultError OUT_NOT_WRITTEN.
    """
    lake.check_there(store)
    context.progress.stage("running the query")
    most = ROWS_SHOWN if request.format == "table" else ROWS_GIVEN
    with session_settings(store.spark, _AS_WRITTEN), bare_names(store), asked_of_spark():
        rows = query_check(store.spark, store.location).frame(request.query)
        members: dict[str, Any] = {"columns": list(rows.columns), "rows": [], "truncated": False}
        if request.format == "parquet" and request.out is not None:
            count = write_parquet(rows, request.out, context.run_id)
            members["out"] = str(request.out)
        else:
            found = json_rows(_collected(rows.limit(most + 1)))
            members |= {"rows": found[:most], "truncated": len(found) > most}
            count = len(members["rows"])
    return context.report(
        store.location.describe(),
        counts={"rows": count},
        members=members,
    )


def _collected(rows: DataFrame) -> pa.Table:
    """Return the rows in this process. Raises: UsageError QUERY_INVALID for a column that Arrow has no type for."""
    try:
        return rows.toArrow()
    except ValueError as error:
        raise UsageError(
            "QUERY_INVALID",
            f"the rows hold a value that cannot be shown: {error}",
            "give it as text: CAST(x AS STRING)",
        ) from None


def write_parquet(rows: DataFrame, out: Path, run_id: str) -> int:
    """Write all rows to the one file `out`, which is there whole or not at all; return their number.

    Raises: UsageError OUT_IS_FOLDER; FaultError OUT_NOT_WRITTEN if tasks write where this process cannot read.
    """
    import pyarrow.parquet as pq

    if out.is_dir():
        raise UsageError(
            "OUT_IS_FOLDER", f"{out} is a folder, and the rows go to one file", "name a file with --out"
        )
    folder = out.absolute().with_name(f".{out.name}.{run_id}")
    try:
        rows.coalesce(1).write.parquet(f"file:{folder}")
        part = written_part(folder, out)
        count = int(pq.read_metadata(part).num_rows)
        part.replace(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return count


def written_part(folder: Path, out: Path) -> Path:
    """Return the file that Spark left in `folder`. Raises: FaultError OUT_NOT_WRITTEN if it left none there."""
    parts = sorted(folder.glob("part-*"))
    if not parts:
        raise FaultError(
            "OUT_NOT_WRITTEN",
            f"Spark runs its tasks where the folder of {out} is another one: no rows came to it",
            "name a file in a folder that every machine of the cluster shares",
        )
    return parts[0]
