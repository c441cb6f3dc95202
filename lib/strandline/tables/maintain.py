"""Maintenance of a table: compaction of small files, removal of unneeded ones, and how long Delta keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.maintenance import (
    RETENTION_PROPERTIES,
    optimize_sql,
    purge_sql,
    set_retention_sql,
    vacuum_sql,
)
from strandline.tables.appends import can_append
from strandline.tables.commits import USER_METADATA, session_settings
from strandline.tables.data_files import layout_settings
from strandline.tables.delta_rs import VECTORS, has_vectors
from strandline.tables.reads import TableReads
from strandline.tables.store import TableStore

LISTED: Final = 1000
"""Maximum number of files that `VACUUM .. DRY RUN` lists."""
MIN_FILE_SIZE: Final = "spark.databricks.delta.optimize.minFileSize"
MAX_FILE_SIZE: Final = "spark.databricks.delta.optimize.maxFileSize"
ORDER_CHECK: Final = "spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled"
BUCKET: Final = "bucket"
CHEAP_PART: Final = 16
"""The small files of a bucket are cheap to rewrite if together they have at most this part of `small_bytes`."""
CHEAP_TIMES: Final = 2
"""Cheap buckets are compacted if together they have this many times the small files for which one bucket is."""
IS_FILE: Final = r"\.[^/]*$"
RETENTION_CHECK: Final = "spark.databricks.delta.retentionDurationCheck.enabled"
BY_HOURS: Final[Mapping[str, str]] = {
    RETENTION_CHECK: "false",
    "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled": "false",
}
"""Let VACUUM go by its hours: without them Delta refuses fewer than the table keeps, and ignores all hours but 0."""
RETENTION_DAYS: Final[Mapping[str, int]] = dict(zip(RETENTION_PROPERTIES, (30, 7), strict=True))
"""What Delta does without the property: days that commits and removed files stay."""
RUN_DAYS: Final = 7
"""Days that `run` keeps them: its checkpoints name all of them, and nothing reads an old version of it."""
LOG_CLEANUP: Final = "delta.enableExpiredLogCleanup"


@dataclass(frozen=True, slots=True)
class SmallFiles:
    """The buckets of a table that have many small files, the number of those files and their bytes.

    A table that is not partitioned is one group with the bucket None.
    """

    buckets: tuple[int | None, ...] = ()
    files: int = 0
    size: int = 0


def small_files(tables: TableReads, table: str, *, small_bytes: int, least: int) -> SmallFiles:
    """Return the buckets whose small files, live ones of less than `small_bytes` bytes, are worth a compaction.

    - Buckets with at least `least` small files.
    - Buckets with two or more that are cheap to rewrite, if all of these have `CHEAP_TIMES * least` files together: a
      reader opens the files of all buckets, and runs that bring few records would leave some in each bucket for ever.

    Reads: the log of a local table; of any other the name and size of each file, by a scan without columns.
    """
    counted = _counted(tables, table, small_bytes)
    cheap = [each["files"] > 1 and each["size"] * CHEAP_PART <= small_bytes for each in counted]
    are_enough = sum(each["files"] for each in compress(counted, cheap)) >= CHEAP_TIMES * least
    found = [
        each
        for each, is_cheap in zip(counted, cheap, strict=True)
        if each["files"] >= least or (are_enough and is_cheap)
    ]
    return SmallFiles(
        tuple(sorted((each[BUCKET] for each in found), key=lambda bucket: -1 if bucket is None else bucket)),
        sum(each["files"] for each in found),
        sum(each["size"] for each in found),
    )


def _counted(tables: TableReads, table: str, small_bytes: int) -> list[dict[str, Any]]:
    """Return the number of live data files of less than `small_bytes` bytes and their `size`, by bucket.

    The bucket is None if an operator clustered the table. A table can have a million files: this process has a row per
    bucket, and columns of Arrow.
    """
    opened = tables.delta_rs_table(table)
    if opened is not None:
        added = pa.table(opened.get_add_actions(flatten=True))
        bucketed = BUCKET in opened.metadata().partition_columns and added.num_rows
        buckets = added[f"partition.{BUCKET}"] if bucketed else pa.nulls(added.num_rows)
        files = pa.table({BUCKET: buckets.cast(pa.int32()), "size": added["size_bytes"]})
        small = files.filter(pc.less(files["size"], small_bytes))
        counted = small.group_by(BUCKET).aggregate([("size", "count"), ("size", "sum")])
        rows: list[dict[str, Any]] = counted.rename_columns(
            {"size_count": "files", "size_sum": "size"}
        ).to_pylist()
        return rows
    bucketed = BUCKET in tables.detail(table, "partitionColumns")
    bucket = F.col(BUCKET) if bucketed else F.lit(None)
    every = tables.read(table).select(
        bucket.cast("int").alias(BUCKET), "_metadata.file_path", F.col("_metadata.file_size").alias("size")
    )
    is_small = F.col("size") < small_bytes
    counted = (
        every.distinct()
        .groupBy(BUCKET)
        .agg(
            F.count_if(is_small).alias("files"),
            F.coalesce(F.sum(F.when(is_small, F.col("size"))), F.lit(0)).alias("size"),
        )
    )
    return [row.asDict() for row in counted.collect()]


def compact(
    store: TableStore,
    table: str,
    small: SmallFiles,
    *,
    small_bytes: int,
    target_bytes: int,
    order: Sequence[str] = (),
) -> tuple[int, int]:
    """Compact the small files of the buckets in one commit; return how many files it removed and how many it added.

    With an `order` all files of the buckets are rewritten, sorted on a Z-curve of these columns; a table that is not
    partitioned may be clustered, which has an order of its own.
    The commit changes no row, and the change data feed does not show it. A concurrent MERGE into another bucket does
    not conflict; after a conflict the statement is repeated.
    Raises: FaultError `WRITE_CONFLICT`.
    """
    buckets = tuple(bucket for bucket in small.buckets if bucket is not None)
    sql = optimize_sql(target=store.target(table), buckets=buckets, order=order if buckets else ())
    settings = {
        **layout_settings(contract(table)),
        MIN_FILE_SIZE: str(small_bytes),
        MAX_FILE_SIZE: str(target_bytes),
        # Delta keeps minima of some columns, and an operator can change which: without them it refuses the order.
        ORDER_CHECK: "false",
        USER_METADATA: store.run_id,
    }
    with session_settings(store.spark, settings):
        [row] = store.repeated(
            lambda: store.spark.sql(sql).select("metrics").collect(),
            table=table,
            buckets=buckets,
        )
    return int(row["metrics"]["numFilesRemoved"]), int(row["metrics"]["numFilesAdded"])


def compact_small(
    store: TableStore, table: str, *, small_bytes: int, least: int, target_bytes: int
) -> tuple[int, int]:
    """Compact the buckets of `small_files`; return and raise as `compact`."""
    small = small_files(store, table, small_bytes=small_bytes, least=least)
    if not small.files:
        return 0, 0
    return compact(store, table, small, small_bytes=small_bytes, target_bytes=target_bytes)


def removable(store: TableStore, table: str, days: int) -> int:
    """Return how many files `vacuum` removes once the table keeps these days; `LISTED` means this number or more."""
    return listed(store, table, 24 * days)


def listed(store: TableStore, table: str, hours: int) -> int:
    """Return how many files VACUUM with these hours would remove; `LISTED` means this number or more."""
    sql = vacuum_sql(target=store.target(table), hours=hours, dry_run=True)
    # It removes nothing, so Delta need not check the time.
    with session_settings(store.spark, BY_HOURS):
        # Empty folders are listed, too: those of buckets and of the change data feed have no dot in their names.
        return store.spark.sql(sql).where(F.col("path").rlike(IS_FILE)).count()


def vacuum(store: TableStore, table: str, days: int) -> None:
    """Remove the files that no version of the last `days` days needs, and files that no commit names.

    Delta goes by the days that the table keeps, see `keep_for`; it refuses fewer.
    """
    store.spark.sql(vacuum_sql(target=store.target(table), hours=24 * days)).collect()


def purge(store: TableStore, table: str) -> bool:
    """Rewrite the files of which deletion vectors hide rows; return False if the table has no such vectors.

    Until then the bytes of hidden rows are in live files, which VACUUM leaves. Raises: FaultError `WRITE_CONFLICT`.
    """
    if not _has_vectors(store, table):
        return False
    sql = purge_sql(target=store.target(table))
    with session_settings(store.spark, {**layout_settings(contract(table)), USER_METADATA: store.run_id}):
        store.repeated(lambda: store.spark.sql(sql).collect(), table=table, buckets=())
    return True


def _has_vectors(tables: TableReads, table: str) -> bool:
    opened = tables.delta_rs_table(table)
    if opened is not None:
        return has_vectors(opened)
    return VECTORS in (tables.detail(table, "tableFeatures") or ())


def retention_days(tables: TableReads, table: str) -> Mapping[str, int | None]:
    """Return how many days the table keeps commits and removed files, by property; None if not stated in days."""
    stated = tables.properties(table)
    return {name: _days(stated[name]) if name in stated else days for name, days in RETENTION_DAYS.items()}


def keep_for(store: TableStore, table: str, days: int) -> None:
    """Set how many days the table keeps commits and removed files. Raises: FaultError `WRITE_CONFLICT`."""
    with session_settings(store.spark, {USER_METADATA: store.run_id}):
        sql = set_retention_sql(target=store.target(table), days=days)
        store.repeated(lambda: store.spark.sql(sql).collect(), table=table, buckets=())


def remove_old_commits(tables: TableReads, table: str) -> None:
    """Remove commits and checkpoints that are older than the table keeps them, if delta-rs appends its rows.

    Spark does so with each checkpoint that it writes. The state of the oldest version that is left can be read.
    """
    opened = tables.delta_rs_table(table)
    if opened is None or not can_append(opened, table):
        return
    if opened.metadata().configuration.get(LOG_CLEANUP, "true").lower() == "true":
        opened.cleanup_metadata()


def _days(interval: str) -> int | None:
    words = interval.lower().split()
    if len(words) == 3 and words[0] == "interval" and words[1].isdigit() and words[2] in ("day", "days"):
        return int(words[1])
    return None
