"""`sql`: runs one read-only query over tables and views."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame

from strandline.core.errors import FaultError, UsageError
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.sql.check import query_check
from strandline.pipelines.sql.query import query_errors
from strandline.pipelines.sql.values import check_names, json_rows
from strandline.tables import lake
from strandline.tables.commits import session_settings
from strandline.tables.store import TableStore
from strandline.tables.views import bare_names, relations

ROWS_SHOWN: Final = 10_000
"""Maximum number of rows of a printed table and of `--json`."""

ROWS_GIVEN: Final = 1_000_000
"""Maximum number of rows of csv and json; parquet has no limit, since Spark writes it."""

# Spark replaces ${env:NAME} in the text of a query by settings and environment variables: here text is only data.
_NO_SUBSTITUTION: Final = {"spark.sql.variable.substitute": "false"}


@dataclass(frozen=True, slots=True)
class SqlRequest:
    """A query, the format of its rows (table, csv, json, parquet), and the file for them, or None."""

    query: str
    format: str = "table"
    out: Path | None = None


def run(store: TableStore, request: SqlRequest, context: RunContext) -> Report:
    """Return the rows of one query over the lake's tables and views, by their bare names.

    Members: `columns`; `rows` as JSON values (`sql.values`); `truncated`, whether there are more rows.
    With parquet, Spark writes the rows to the one file `out`, and `rows` is empty. `counts.rows` is the number of rows.

    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, TABLE_MISSING; QUERY_INVALID, QUERY_REFUSED;
        FaultError OUT_NOT_WRITTEN.
    """
    lake.check_there(store)
    context.progress.stage("running the query")
    most = ROWS_SHOWN if request.format == "table" else ROWS_GIVEN
    with (
        session_settings(store.spark, _NO_SUBSTITUTION),
        bare_names(store, request.query),
        store.sized(_bytes_read(store, request.query)),
        query_errors(),
    ):
        rows = query_check(store.spark, store.location).frame(request.query)
        members: dict[str, Any] = {"columns": list(rows.columns), "rows": [], "truncated": False}
        if request.format == "json":
            check_names(rows.columns)
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


def _bytes_read(store: TableStore, query: str) -> int:
    """Return the bytes of the tables that a query can read; one of no table computes what it likes."""
    read = relations(query).tables
    return sum(map(store.stored_bytes, read)) if read else sys.maxsize


def _collected(rows: DataFrame) -> pa.Table:
    """Collect the rows. Raises: UsageError QUERY_INVALID for a column without an Arrow type."""
    try:
        return rows.toArrow()
    except ValueError as error:
        raise UsageError(
            "QUERY_INVALID",
            f"the rows hold a value that cannot be shown: {error}",
            "convert it to text: CAST(x AS STRING)",
        ) from None


def write_parquet(rows: DataFrame, out: Path, run_id: str) -> int:
    """Write all rows to the one file `out`, which appears only when it is complete. Return their number.

    Raises: FaultError OUT_NOT_WRITTEN if this process cannot read the folder of the tasks.
    """
    import pyarrow.parquet as pq

    folder = out.absolute().with_name(f".{out.name}.{run_id}")
    try:
        # One task writes one file, unless a setting of the session bounds the rows of each.
        rows.coalesce(1).write.option("maxRecordsPerFile", 0).parquet(f"file:{folder}")
        part = written_part(folder, out)
        count = int(pq.read_metadata(part).num_rows)
        part.replace(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return count


def written_part(folder: Path, out: Path) -> Path:
    """Return the file that Spark wrote to `folder`. Raises: FaultError OUT_NOT_WRITTEN if there is none."""
    parts = sorted(folder.glob("part-*"))
    if not parts:
        raise FaultError(
            "OUT_NOT_WRITTEN",
            f"Spark's tasks run on machines that do not share the folder of {out}: it has no rows",
            "name a file in a folder that every machine of the cluster shares",
        )
    return parts[0]
