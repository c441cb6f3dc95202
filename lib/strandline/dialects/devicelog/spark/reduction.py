"""Reduction of groups of device logs: from their stored states and new entries, or whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

import pyarrow.compute as pc
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialect_api.refusals import Refusal, Refused, refused
from strandline.dialects.devicelog.info import FORK_POLICY
from strandline.dialects.devicelog.kernels.headers import HEADER_COLUMNS, NO_STATEMENT
from strandline.dialects.devicelog.kernels.reduction import LOST, reduced_or_lost
from strandline.dialects.devicelog.kernels.schemas import REDUCED_SCHEMA
from strandline.dialects.devicelog.reduce import reducer_version
from strandline.dialects.devicelog.spark import increments
from strandline.dialects.devicelog.spark.tables import ENTRIES, MEMBERS, REDUCED, SCREWS, TIPS, VIEW
from strandline.dialects.devicelog.types import DIALECT, ForkPolicy
from strandline.frames.buckets import in_buckets
from strandline.frames.lift import map_batches
from strandline.frames.namespaces import only_namespaces
from strandline.frames.states import as_namespace_state
from strandline.frames.strays import strays

TABLES: Final = {"view": VIEW, "screw": SCREWS, "tip": TIPS, "member": MEMBERS}
"""The reduced tables, by the part of a reduced row that is a row of theirs."""


FEW_ENTRIES: Final = 20_000
"""Entries that one task reduces in half a second: less than the joins of an increment take."""


@dataclass(frozen=True, slots=True)
class NewEntries:
    """The new entries of a run, as rows of `device_log_entry`, and the buckets of their groups, ascending.

    All entries of a group that an earlier run refused count as new: that run read some of them without writing rows.
    """

    changes: DataFrame
    buckets: tuple[int, ...]

    def within(self, rows: DataFrame) -> DataFrame:
        """Keep the rows of these buckets: files of others are not opened."""
        return rows.where(in_buckets(self.buckets))


def new_entries_of(
    changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> NewEntries | None:
    """Return the new entries, or None if all groups are reduced: after a kill rows may be newer than their state."""
    if changes is None or tables.begin_repair(REDUCED):
        return None
    if scope.retry_namespaces:
        changes = changes.unionByName(_retried(changes, tables, scope))
    found = jobs.row(changes.agg(F.collect_set("bucket").alias("buckets")))
    return NewEntries(changes, tuple(sorted(found["buckets"])))


def _retried(changes: DataFrame, tables: Tables, scope: ReduceScope) -> DataFrame:
    """Return all entries of the groups that an earlier run refused.  Gives: the columns of `changes`."""
    entries = tables.read_version(ENTRIES, scope.version)
    return only_namespaces(entries, scope.retry_namespaces, tables.buckets).select(*changes.columns)


def reduce(new_entries: NewEntries | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the groups of new entries from their stored states, or whole; all groups without `new_entries`."""
    policy = cast("ForkPolicy", scope.lake_options[FORK_POLICY])
    version = reducer_version(policy)
    every = headers(tables.read_version(ENTRIES, scope.version))
    bounds: Mapping[str, Mapping[str, tuple[int, int]]] = {}
    if new_entries is None:
        found = _whole(every, jobs, policy)
    elif _are_few(tables):
        groups = new_entries.changes.select(*increments.GROUP).distinct()
        found = _whole(_of(new_entries.within(every), groups), jobs, policy)
    else:
        grown = increments.from_changes(
            headers(new_entries.changes), every, new_entries.buckets, tables, jobs, policy, version
        )
        frames = [] if grown.rows is None else [grown.rows]
        if grown.whole is not None:
            groups = jobs.checkpoint(grown.whole, "groups")
            frames.append(_whole(_of(new_entries.within(every), groups), jobs, policy))
        else:
            bounds = _positions(frames[0], jobs)
        found = frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])
    rows = {table: _part(found, part) for part, table in TABLES.items()}
    states = _part(found, "state").withColumn("reducer_version", F.lit(version))
    shaped = as_namespace_state(states, dialect=DIALECT, reduced_version=scope.version, run_id=scope.run_id)
    deletes = {TIPS: strays(TIPS, tables.read(TIPS), rows[TIPS], states)}
    return Reduction(rows, shaped, deletes, bounds, refused=_refused(found, jobs))


def _whole(entries: DataFrame, jobs: Jobs, policy: ForkPolicy) -> DataFrame:
    """Reduce groups from the headers of all of their entries."""
    grouped = entries.repartition("namespace").sortWithinPartitions("namespace")
    return jobs.persist(map_batches(grouped, reduced_or_lost, REDUCED_SCHEMA, policy=policy), "views")


def _refused(found: DataFrame, jobs: Jobs) -> Refused | None:
    """Refuse groups that lack entries which others name: their reduced rows stay until these come again."""
    return refused(found.where(F.col("part") == LOST).select("namespace"), jobs, _entries_lost)


def _entries_lost(group: Row) -> Refusal:
    return Refusal(
        group["namespace"],
        f"The group {group['namespace']} lacks entries that others name: an older version of {ENTRIES} was restored, "
        "or rows were deleted.",
        "ENTRIES_LOST",
        "Ingest the entries of this group again, or restore the newer version.",
    )


def _are_few(tables: Tables) -> bool:
    """Return whether all groups have so few entries that reading these costs less than reading their stored rows."""
    states = tables.few_rows(STATES)
    if states is None:
        return False
    of_groups = states.filter(pc.equal(states.column("dialect"), DIALECT))
    return (pc.sum(of_groups.column("record_count")).as_py() or 0) <= FEW_ENTRIES


def _of(entries: DataFrame, groups: DataFrame) -> DataFrame:
    return entries.join(groups, list(increments.GROUP), "left_semi")


def _positions(rows: DataFrame, jobs: Jobs) -> Mapping[str, Mapping[str, tuple[int, int]]]:
    """Return the range of the view's positions in rows of increments: stored rows only move up within it."""
    position = F.col("view.position")
    found = jobs.row(rows.agg(F.min(position).alias("low"), F.max(position).alias("high")))
    return {} if found["low"] is None else {VIEW: {"position": (found["low"], found["high"])}}


def headers(entries: DataFrame) -> DataFrame:
    """Keep what reducers read: no bodies of messages.

    Reads:  columns of `device_log_entry`.  Gives: HEADER_COLUMNS.  Rows: one per row.
    """
    states = ~F.col("kind").isin(*NO_STATEMENT)
    return entries.withColumn("body", F.when(states, F.col("body"))).select(*HEADER_COLUMNS)


def _part(found: DataFrame, part: str) -> DataFrame:
    """Give the rows of one part with its columns."""
    return found.where(F.col("part") == part).select("namespace", "bucket", f"{part}.*")
