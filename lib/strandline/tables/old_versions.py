"""Old versions of a table: when they were committed, and the removal of their files at once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from pyspark.sql import functions as F

from strandline.contracts.maintenance import advance_sql, vacuum_sql
from strandline.tables import maintain
from strandline.tables.commits import USER_METADATA, session_settings
from strandline.tables.reads import TableReads, history_sql
from strandline.tables.store import TableStore

_ALL: Final = 2**31 - 1


def committed_at(tables: TableReads, table: str, version: int, newest: int) -> datetime | None:
    """Return the UTC time of the commit `version`, or None if the log no longer has it; `newest` is the newest one."""
    opened = tables.delta_rs_table(table)
    if opened is not None:
        commits = opened.history(newest - version + 1)
        times = (each["timestamp"] for each in commits if each["version"] == version)
        found = next(times, None)
        return None if found is None else datetime.fromtimestamp(found / 1000, UTC)
    sql = history_sql(tables.target(table), newest - version + 1)
    history = tables.spark.sql(sql)
    rows = history.where(F.col("version") == version).select(F.unix_micros("timestamp").alias("at")).collect()
    return datetime.fromtimestamp(rows[0]["at"] / 1_000_000, UTC) if rows else None


def vacuum_now(store: TableStore, table: str, hours: int) -> int:
    """Remove the files that no version of the last `hours` hours needs, however long the table keeps them.

    Returns how many files it removed; `LISTED` means this number or more.
    """
    removed = maintain.listed(store, table, hours)
    with session_settings(store.spark, {maintain.RETENTION_CHECK: "false"}):
        store.spark.sql(vacuum_sql(target=store.target(table), hours=hours)).collect()
    return removed


def version_at(tables: TableReads, table: str, at: datetime) -> int | None:
    """Return the newest version that was committed at or before a time; None if the log has none."""
    limit = int(at.timestamp() * 1_000_000)
    opened = tables.delta_rs_table(table)
    if opened is not None:
        found = [each["version"] for each in opened.history() if each["timestamp"] * 1000 <= limit]
        return max(found, default=None)
    history = tables.spark.sql(history_sql(tables.target(table), _ALL))
    rows = history.where(F.unix_micros("timestamp") <= limit).agg(F.max("version").alias("version")).collect()
    return None if rows[0]["version"] is None else int(rows[0]["version"])


def advance(store: TableStore, namespace: str, bucket: int, before: int, version: int) -> None:
    """Say that a dialect is reduced up to a version of its record table, in the state that says it; once.

    Raises: FaultError `WRITE_CONFLICT`.
    """
    sql = advance_sql(
        target=store.target("namespace_state"),
        version=version,
        before=before,
        namespace=namespace,
        bucket=bucket,
    )
    with session_settings(store.spark, {USER_METADATA: store.run_id}):
        store.repeated(lambda: store.spark.sql(sql).collect(), table="namespace_state", buckets=(bucket,))
