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


def version_at(tables: TableReads, table: str, at: datetime) -> int | None:
    """Return the newest version that, like all before it, was committed at or before a time; None if the log has none.

    Clocks of writers may go back, and what a later time removed is still there.
    """
    limit = int(at.timestamp() * 1_000_000)
    opened = tables.delta_rs_table(table)
    if opened is not None:
        made = history(opened, tables.location.local_path() / table)
        commits = sorted((each["version"], each["timestamp"]) for each in made)
        before = takewhile(lambda commit: commit[1] * 1000 <= limit, commits)
        return max((version for version, _ in before), default=None)
    asked = tables.spark.sql(history_sql(tables.target(table), _ALL))
    # The times that Delta gives here ascend with the versions.
    rows = asked.where(F.unix_micros("timestamp") <= limit).agg(F.max("version").alias("version")).collect()
    return None if rows[0]["version"] is None else int(rows[0]["version"])
