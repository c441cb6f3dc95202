"""Old versions of a table: when they were committed, and the removal of their files at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Final

from pyspark.sql import functions as F

from strandline.contracts.maintenance import vacuum_sql
from strandline.tables import maintain
from strandline.tables.commits import session_settings
from strandline.tables.history import history
from strandline.tables.metadata import history_sql
from strandline.tables.read_lake import REPLACED, replaces_rows
from strandline.tables.reads import TableReads
from strandline.tables.store import TableStore

_ALL: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Kept:
    """How long VACUUM leaves files that a commit removed: at least and at most. None: nobody knows."""

    least: timedelta
    most: timedelta | None


def kept(hours: int, stated_days: Iterable[int | None], *, on_databricks: bool) -> Kept:
    """Return how long `vacuum_now` with these hours leaves removed files of tables that state these days.

    Databricks goes by what each table states, or by the hours: which, its runtime decides. It always obeys 0 hours.
    """
    asked = timedelta(hours=hours)
    if not hours or not on_databricks:
        return Kept(asked, asked)
    days = tuple(stated_days)
    stated = [timedelta(days=each) for each in days if each is not None]
    if len(stated) < len(days):
        return Kept(timedelta(), None)
    return Kept(min(asked, *stated), max(asked, *stated))


def committed_at(tables: TableReads, table: str, version: int, newest: int) -> datetime | None:
    """Return the UTC time of the commit `version`, or None if the log no longer has it; `newest` is the newest one.

    If the clock of a later commit was behind, its time: it may have removed what the version before has.
    """
    opened = tables.delta_rs_table(table)
    if opened is not None:
        # Another writer may have made it newer.
        commits = history(opened, tables.location.local_path() / table, opened.version() - version + 1)
        times = {each["version"]: each["timestamp"] for each in commits}
        return datetime.fromtimestamp(min(times.values()) / 1000, UTC) if version in times else None
    sql = history_sql(tables.target(table), newest - version + 1)
    asked = tables.spark.sql(sql)
    rows = asked.where(F.col("version") == version).select(F.unix_micros("timestamp").alias("at")).collect()
    return datetime.fromtimestamp(rows[0]["at"] / 1_000_000, UTC) if rows else None


def vacuum_now(store: TableStore, table: str, hours: int) -> int:
    """Remove the files that no version of the last `hours` hours needs, however long the table keeps them.

    Databricks goes by what the table keeps, unless `hours` is 0. Returns how many files it removed; `LISTED` means
    this number or more.
    """
    removed = maintain.listed(store, table, hours)
    with session_settings(store.spark, maintain.BY_HOURS):
        store.spark.sql(vacuum_sql(target=store.target(table), hours=hours)).collect()
    return removed


def last_removed_version(tables: TableReads, table: str, at: datetime) -> int | None:
    """Return the newest version up to which VACUUM has removed what commits removed at or before a time, or None.

    Of a version and all before it, the commits are that old: clocks of writers may go back, and what a later time
    removed is still there. None, too, if a younger commit replaced rows, as a RESTORE does: files that older commits
    removed may be live again, or were removed a second time by it.
    """
    limit = int(at.timestamp() * 1_000_000)
    opened = tables.delta_rs_table(table)
    if opened is not None:
        made = history(opened, tables.location.local_path() / table)
        commits = sorted(made, key=lambda each: each["version"])
        old = list(takewhile(lambda each: each["timestamp"] * 1000 <= limit, commits))
        is_replaced = any(map(replaces_rows, commits[len(old) :]))
        return None if is_replaced or not old else int(old[-1]["version"])
    # The times that Delta gives here ascend with the versions.
    is_old = F.unix_micros("timestamp") <= limit
    mode = F.try_element_at("operationParameters", F.lit("mode"))
    has_replaced = F.col("operation").isin(*REPLACED) | F.coalesce(mode == "Overwrite", F.lit(False))
    asked = tables.spark.sql(history_sql(tables.target(table), _ALL)).agg(
        F.max(F.when(is_old, F.col("version"))).alias("version"),
        F.max(F.when(~is_old & has_replaced, F.col("version"))).alias("replaced"),
    )
    [row] = asked.collect()
    return None if row["version"] is None or row["replaced"] is not None else int(row["version"])
