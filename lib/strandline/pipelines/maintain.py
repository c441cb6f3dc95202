"""`maintain`: compacts small files, removes files that nobody needs any more, sets how long old versions stay."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import functions as F

from strandline.contracts.load import tables
from strandline.contracts.shared_tables import RUNS, STATES
from strandline.dialect_api.dialect import Dialect
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.tables import lake, maintain, old_versions
from strandline.tables.catalogs import left_to_catalog, noting_left
from strandline.tables.run_order import run_order
from strandline.tables.store import TableStore
from strandline.tables.written import Written

AGE, REDUCE, AS_OF = "age", "reduce", "as-of"
SLACK = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class MaintainRequest:
    """The arguments of `maintain`, with the meaning of the settings `maintain`; `dry_run` writes nothing."""

    keep_days: int
    small_files: int
    small_bytes: int
    target_bytes: int
    dry_run: bool = False


@dataclass(slots=True)
class _Done:
    """The results so far: commits, counts, and one entry per table with something to do."""

    written: dict[str, Written] = field(default_factory=dict)
    counts: dict[str, int] = field(
        default_factory=lambda: {
            "compacted_files": 0,
            "written_files": 0,
            "removed_files": 0,
            "retention_set": 0,
        }
    )
    entries: list[dict[str, Any]] = field(default_factory=list)
    left: set[str] = field(default_factory=set)


def run(
    store: TableStore, dialects: Iterable[Dialect], request: MaintainRequest, context: RunContext
) -> Report:
    """Maintain every table that has rows; return what was done, or with `dry_run` what would be done.

    A removed file stays for `keep_days`, of `run` for `maintain.RUN_DAYS`, and longer if one of these needs it: the
    next incremental reduction (the commits since the last one), and `--as-of` the newest run that read records.
    `counts` has `compacted_files`, `written_files` (by compaction), `removed_files` and `retention_set` (tables). The
    member `maintenance` has an entry per table: `small_files` with `buckets`, `files` and `bytes`; `removable_files`
    (at most 1000 are listed), `kept_days` and `kept_for` (`age`, `reduce` or `as-of`), and `sets_retention`: the table
    kept them for another time.
    `left_to_catalog` has the tables that only their catalog compacts and vacuums: it goes by the days that are set.

    A kill at any point leaves the tables whole; the next call continues.
    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, CONTRACT_OLDER, TABLE_MISSING; FaultError
    WRITE_CONFLICT.
    """
    lake.check_there(store)
    context.progress.stage("reading what is needed")
    needed = _needed_versions(store, tuple(dialects))
    done = _Done()
    for table in tables():
        if store.stored_bytes(table):
            _maintain(store, table, needed.get(table, {}), request, context, done)
    members = {"dry_run": request.dry_run, "keep_days": request.keep_days, "maintenance": done.entries}
    if done.left:
        members["left_to_catalog"] = sorted(done.left)
        context.progress.note(left_to_catalog(done.left))
    if request.dry_run:
        return context.report(store.location.describe(), counts=done.counts, members=members)
    return record_run(store, context, RunResult(counts=done.counts, written=done.written, members=members))


def _maintain(
    store: TableStore,
    table: str,
    needed: Mapping[str, int],
    request: MaintainRequest,
    context: RunContext,
    done: _Done,
) -> None:
    context.progress.stage(f"maintaining {table}")
    days, kept_for = _kept_days(store, table, needed, request, context)
    small = maintain.small_files(store, table, small_bytes=request.small_bytes, least=request.small_files)
    entry: dict[str, Any] = {"table": table, "kept_days": days, "kept_for": kept_for}
    entry["small_files"] = {"buckets": list(small.buckets), "files": small.files, "bytes": small.size}
    writes = not request.dry_run
    if small.files and writes:
        with noting_left(table, done.left):
            removed, added = maintain.compact(
                store, table, small, small_bytes=request.small_bytes, target_bytes=request.target_bytes
            )
            done.counts["compacted_files"] += removed
            done.counts["written_files"] += added
        context.faults.reach(f"maintain.compacted.{table}")
    entry["sets_retention"] = changes = set(maintain.retention_days(store, table).values()) != {days}
    if changes and writes:
        # Before files are counted and removed: Delta goes by these days.
        maintain.keep_for(store, table, days)
        done.counts["retention_set"] += 1
    removable = 0
    with noting_left(table, done.left):
        removable = maintain.removable(store, table, days)
    entry["removable_files"] = removable
    if removable and writes:
        maintain.vacuum(store, table, days)
        done.counts["removed_files"] += removable
        context.faults.reach(f"maintain.vacuumed.{table}")
    if table == RUNS and writes:
        maintain.remove_old_commits(store, table)
    if small.files or removable or changes:
        done.entries.append(entry)
        if writes:
            done.written[table] = Written(store.version(table))


def _kept_days(
    store: TableStore, table: str, needed: Mapping[str, int], request: MaintainRequest, context: RunContext
) -> tuple[int, str]:
    """Return how many days removed files and commits stay, and why.

    The files of a version are removed by the next commit at the earliest: those removed before it are not needed.
    """
    newest = store.version(table)
    ended = {
        reason: at
        for reason, version in needed.items()
        if version < newest
        and (at := old_versions.committed_at(store, table, version + 1, newest)) is not None
    }
    keep_days = maintain.RUN_DAYS if table == RUNS else request.keep_days
    return kept_days(keep_days, context.started_at + timedelta(seconds=context.elapsed()), ended)


def kept_days(keep_days: int, now: datetime, ended: Mapping[str, datetime]) -> tuple[int, str]:
    """Return for how many days removed files stay, and why: for their age, or for the oldest need, by when it `ended`.

    The days are a multiple of `keep_days`: a need that grows does not change the table each time. An hour comes on top
    of a need: the clocks of writers differ, and VACUUM starts some time after `now`.
    """
    since, why = now - timedelta(days=keep_days), AGE
    for reason, at in ended.items():
        if at - SLACK < since:
            since, why = at - SLACK, reason
    return keep_days * math.ceil((now - since) / timedelta(days=keep_days)), why


def _needed_versions(store: TableStore, dialects: Iterable[Dialect]) -> dict[str, dict[str, int]]:
    """Return the versions that must stay readable, by table and reason.

    The reduction of a dialect starts at the version that its states name. `--as-of` reads what a run read: runs of the
    last days are covered by age, and the newest one is always kept.
    """
    found: dict[str, dict[str, int]] = {}
    states = store.read(STATES).groupBy("dialect").agg(F.max("reduced_version").alias("version"))
    reduced = {row["dialect"]: row["version"] for row in states.collect()}
    for dialect in dialects:
        version = reduced.get(dialect.info.name)
        if version is not None:
            found.setdefault(dialect.info.record_table, {})[REDUCE] = int(version)
    runs = store.read(RUNS).where(F.size("read_versions") > 0)
    newest = runs.agg(F.max_by("read_versions", run_order()).alias("versions")).collect()
    for table, version in (newest[0]["versions"] or {}).items():
        found.setdefault(table, {})[AS_OF] = int(version)
    return found
