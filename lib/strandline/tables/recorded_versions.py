"""The versions of tables that an earlier run read, and which of these tables are other ones by now."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import RUNS
from strandline.core.errors import UsageError
from strandline.core.nearest import nearest
from strandline.tables.delta_log import actions_of
from strandline.tables.read_lake import ReadLake
from strandline.tables.reads import TableReads
from strandline.tables.run_order import order_of, run_order
from strandline.tables.run_versions import detail_of

CLOCKS_DIFFER: Final = timedelta(hours=1)
"""A commit that is later than the end of a run by more than this was not there when the run read."""

RUNS_OFFERED: Final = 1_000
WHICH_RUNS: Final = (
    "`strandline sql 'SELECT run_id, command FROM run WHERE size(read_versions) > 0'` lists those that do"
)


@dataclass(frozen=True, slots=True)
class RecordedVersions:
    """What the row of a run says: its command, and the versions of the tables that it read.

    `recreated` are those of the tables asked about that are other ones now: their versions have other records.
    """

    command: str
    versions: Mapping[str, int]
    recreated: frozenset[str] = frozenset()

    def check_same(self, run_id: str) -> None:
        """Check that no table was made anew. Raises: UsageError TABLE_RECREATED."""
        if not self.recreated:
            return
        names, are = " and ".join(sorted(self.recreated)), "is" if len(self.recreated) == 1 else "are"
        raise UsageError(
            "TABLE_RECREATED",
            f"{names} {are} not what the run {run_id} read: recreated since, without the records of that time",
            "name a later run, or leave out --as-of for the current records",
        )


def versions_of(tables: TableReads, run_id: str, asked: Collection[str]) -> RecordedVersions:
    """Return the versions that a run read, and which of the tables `asked` were made anew since. One scan of `run`.

    A table was made anew if a later `init` created it. Whoever creates one by other means, or clones it, leaves no row
    that says so. Of a local lake the logs show it: the version is not there, or was committed after the run had ended.
    Raises: UsageError RUN_UNKNOWN.
    """
    runs = tables.read(RUNS)
    created = F.get_json_object("detail", "$.created")
    ended = F.unix_millis("started_at") + (1000 * F.col("seconds")).cast("bigint")
    rows = (
        runs.where((F.col("run_id") == run_id) | ((F.col("command") == "init") & (created != "[]")))
        .select(
            "run_id", "command", "read_versions", created.alias("created"), run_order().alias("order"),
            ended.alias("ended"),
        )
        .collect()
    )  # fmt: skip
    ours = next((row for row in rows if row["run_id"] == run_id), None)
    if ours is None:
        raise _unknown(runs, run_id)
    versions = dict(ours["read_versions"] or {})
    read = versions.keys() & set(asked)
    others = {table for table in read if is_other(tables, table, versions[table], ours["ended"])}
    recreated = frozenset(others | (created_after(rows, ours) & read))
    return RecordedVersions(ours["command"], versions, recreated)


def created_after(rows: Iterable[Row | Mapping[str, Any]], ours: Row | Mapping[str, Any]) -> set[str]:
    """Return the tables that a run after ours created.

    Reads:  rows and ours: order (as `run_order`), created (JSON: a list of tables, or null).
    """
    later = (row for row in rows if row["created"] is not None and row["order"] > ours["order"])
    return {table for row in later for table in json.loads(row["created"])}


def recreated_since(lake: ReadLake, run_id: str) -> tuple[str | None, set[str]]:
    """Return the dialect of a run that has a row, and the tables that an `init` created after it.

    `run_id` has no quotes or backslashes.
    """
    rows = lake.query(
        f"SELECT run_id, dialect, started_at, detail FROM run WHERE run_id = '{run_id}' "
        "OR (command = 'init' AND detail NOT LIKE '%\"created\": []%')",
        (RUNS,),
    )
    by_id = {row["run_id"]: row for row in rows}
    ordered = {each: _as_created(row) for each, row in by_id.items()}
    return by_id[run_id]["dialect"], created_after(ordered.values(), ordered[run_id])


def _as_created(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row of `run` as `created_after` reads it."""
    detail, started = detail_of(row), round(1000 * row["started_at"].timestamp())
    return {
        "order": order_of(row["run_id"], detail, started),
        "created": json.dumps(detail.get("created", ())),
    }


def is_other(tables: TableReads, table: str, version: int, ended: int) -> bool:
    """Return whether the log of a local table shows that a run which `ended` then (Unix ms) read another one."""
    if not tables.location.is_local():
        return False
    if tables.version(table) < version:
        return True
    commit = tables.location.local_path() / table / "_delta_log" / f"{version:020}.json"
    at = next(
        (each["commitInfo"].get("timestamp") for each in actions_of(commit) if "commitInfo" in each), None
    )
    return isinstance(at, int) and at > ended + CLOCKS_DIFFER // timedelta(milliseconds=1)


def _unknown(runs: DataFrame, run_id: str) -> UsageError:
    """Return the error of a run without a row in `run`, with the nearest one that read records."""
    newest = runs.where(F.size("read_versions") > 0).orderBy(run_order().desc()).select("run_id")
    best = nearest(run_id, [row["run_id"] for row in newest.limit(RUNS_OFFERED).collect()])
    message = f"this lake has no run {run_id}"
    return UsageError("RUN_UNKNOWN", message, f"did you mean {best}?" if best else WHICH_RUNS)
