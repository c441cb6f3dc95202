"""The commit that lets records go: one append to `pruned_record`, which only one collection can make."""

from __future__ import annotations

from typing import Final

import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import PRUNED
from strandline.frames.layout import laid_out
from strandline.tables.appends import append_rows
from strandline.tables.commits import session_settings, transaction
from strandline.tables.data_files import layout_settings
from strandline.tables.spark_errors import condition_of, spark_errors
from strandline.tables.store import TableStore

APP_ID: Final = "strandline-gc"
"""The application id of all collections: Delta admits one commit of it per number."""
_LOST: Final = "DELTA_CONCURRENT_TRANSACTION"


def next_number(store: TableStore, version: int) -> int:
    """Return the number of the next collection, from `pruned_record` at a version."""
    few = store.few_rows(PRUNED, version)
    if few is not None:
        return 1 + (pc.max(few["gc_number"]).as_py() or 0)
    [row] = store.read_version(PRUNED, version).agg(F.max("gc_number").alias("last")).collect()
    return 1 + int(row["last"] or 0)


def append_pruned(store: TableStore, rows: DataFrame, number: int) -> bool:
    """Append the pruned records of collection `number` in one commit; return False if another run has this number.

    Delta refuses a concurrent commit of the same application id, which may be this one whose answer was lost, and skips
    a number that it has seen without a word, also one whose rows a RESTORE removed: so the rows are looked for
    afterwards. After any other conflict, as with a `maintain` that sets how long the table keeps files, the append is
    repeated. Raises: FaultError `WRITE_CONFLICT`.
    """
    described = contract(PRUNED)
    settings = {**transaction(APP_ID, number, store.run_id), **layout_settings(described)}
    with session_settings(store.spark, settings):
        laid = laid_out(rows.select(*described.names), described)
        store.repeated(lambda: _append(store, laid), table=PRUNED, buckets=())
    return bool(appended(store, number).head(1))


def _append(store: TableStore, rows: DataFrame) -> None:
    """Append rows, unless there is a concurrent commit of the same application id."""
    try:
        append_rows(store, PRUNED, rows)
    except spark_errors() as conflict:
        if condition_of(conflict) != _LOST:
            raise


def appended(store: TableStore, number: int) -> DataFrame:
    """Return the rows that this run appended as collection `number`."""
    is_ours = (F.col("run_id") == store.run_id) & (F.col("gc_number") == number)
    return store.read(PRUNED).where(is_ours)
