"""Reduction of logs: from all entries, or from the stored state and new entries, with equal rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.ipfslog.spark import forks, logs
from strandline.dialects.ipfslog.spark.few_entries import are_few, from_few
from strandline.dialects.ipfslog.spark.full_reduction import from_all
from strandline.dialects.ipfslog.spark.hints import broadcast_if_small, entry_bytes
from strandline.dialects.ipfslog.spark.incremental_reduction import from_changes, read_input
from strandline.dialects.ipfslog.spark.logs import Present
from strandline.dialects.ipfslog.spark.reduced_rows import (
    ReducedRows,
    as_reduction,
    equivocations,
    without_lost,
)
from strandline.dialects.ipfslog.spark.retained import RetainedEntries, retained_entries
from strandline.dialects.ipfslog.spark.tables import REDUCED
from strandline.dialects.ipfslog.spark.touched import (
    check_pruned_logs,
    touched_logs,
    with_configuration,
    with_lists,
)
from strandline.dialects.ipfslog.spark.write_lists import sizes

_UNREAD: Final = ("block", "payload_json", "value_json", "sig", "refs")
"""Columns of an entry that no reduction reads: their effects on stores are in `ops`."""


def reduce(changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the logs in `changes` (rows of the change feed), or all logs if it is None, with equal rows."""
    return _of_all(tables, jobs, scope) if changes is None else _of_changes(changes, tables, jobs, scope)


@dataclass(frozen=True, slots=True)
class ConfiguredLogs:
    """Logs to reduce from all of their entries: their configuration, and how many entries they have together.

    `present` tells what there is among them.
    """

    retained: RetainedEntries
    configured: DataFrame
    entries: int
    present: Present

    def reduced(self, tables: Tables, jobs: Jobs, scope: ReduceScope) -> ReducedRows:
        """Reduce the logs."""
        if are_few(self.retained, self.configured, self.entries, tables, jobs, scope):
            return from_few(self.retained, self.configured, self.present, tables, jobs)
        return from_all(self.retained, self.configured, self.present, tables, jobs, scope)


def configured_logs(
    every: RetainedEntries, tables: Tables, jobs: Jobs, scope: ReduceScope, *, are_known: bool
) -> ConfiguredLogs:
    """Return the logs of entries with their configuration; `are_known`: stored rows of them are looked at."""
    counted = every.counted().withColumn("is_known", F.lit(are_known))
    configured = jobs.checkpoint(with_configuration(counted, every, tables, scope), "logs")
    check_pruned_logs(configured, every, jobs)
    found = jobs.row(
        configured.agg(
            F.coalesce(F.sum("record_count"), F.lit(0)).alias("entries"), sizes().alias("sizes"),
            logs.present().alias("present"),
        )
    )  # fmt: skip
    every = with_lists(every, configured, found["sizes"], tables, jobs, scope)
    return ConfiguredLogs(every, configured, found["entries"], Present(*found["present"]))


def _of_all(tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce every log from all of its entries, as of one version of their table."""
    found = configured_logs(
        retained_entries(tables, jobs, scope.version), tables, jobs, scope, are_known=True
    )
    rows = found.reduced(tables, jobs, scope)
    every = found.retained
    candidates = every.fork_candidates(tables)
    found_forks = equivocations(candidates, forks.repeated_clocks(candidates), jobs)
    if every.pruned is not None:
        rows = without_lost(rows, found.configured.where("is_bereft"), jobs)
    return as_reduction([rows], found_forks, every.lists, scope)


def _of_changes(changes: DataFrame, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the logs in `changes` (rows of the change feed), and those whose configuration changed.

    A log is reduced from its stored state and the changes, except in these cases, which need all of its entries: it
    is new, its mode is or becomes `walk`, its configuration changed, or it has pruned entries and a stored entry of it
    got a parent that is not before it. After a killed run all logs are reduced from all entries, since rows may be
    newer than their state.
    """
    if tables.begin_repair(REDUCED):
        return _of_all(tables, jobs, scope)
    every = retained_entries(tables, jobs, scope.version)
    changes = jobs.persist(changes.drop(*_UNREAD), "changes")
    touched = jobs.checkpoint(touched_logs(changes, every, tables, jobs, scope), "logs")
    check_pruned_logs(touched, every, jobs)
    found = jobs.row(
        touched.agg(
            F.collect_set("bucket").alias("buckets"), F.count_if("whole").alias("whole"),
            F.count_if(~F.col("whole")).alias("others"), F.sum("record_count").alias("entries"),
            sizes().alias("sizes"), entry_bytes().alias("entry_bytes"), logs.present().alias("of_all"),
            logs.present(F.col("whole")).alias("of_whole"), logs.present(~F.col("whole")).alias("of_others"),
        )
    )  # fmt: skip
    if not found["buckets"]:
        return Reduction({}, tables.read(STATES).limit(0))
    buckets = tuple(sorted(found["buckets"]))
    within = with_lists(every.within(buckets), touched, found["sizes"], tables, jobs, scope)
    if are_few(within, touched, found["entries"], tables, jobs, scope):
        parts = [from_few(within, touched, Present(*found["of_all"]), tables, jobs)]
    else:
        parts = _of_many(changes, within, touched, found, tables, jobs, scope)
    if every.pruned is not None:
        parts = [without_lost(each, touched.where("is_bereft"), jobs) for each in parts]
    new_clocks = forks.clock_marks(changes)
    # At most one for each entry of these logs.
    new_clocks = broadcast_if_small(new_clocks, "clocks of changes", jobs, found["entry_bytes"])
    candidates = within.fork_candidates(tables)
    found_forks = equivocations(
        candidates, forks.repeated_clocks(forks.at_marks(candidates, new_clocks)), jobs
    )
    return as_reduction(parts, found_forks, within.lists, scope)


def _of_many(
    changes: DataFrame, within: RetainedEntries, touched: DataFrame, found: Row, tables: Tables, jobs: Jobs,
    scope: ReduceScope,
) -> list[ReducedRows]:  # fmt: skip
    """Reduce logs from their stored state and the changes where that is possible, else from all of their entries."""
    whole = touched.where("whole")
    buckets = tuple(sorted(found["buckets"]))
    parts: list[ReducedRows] = []
    if found["others"]:
        known = touched.where("NOT whole")
        inputs = read_input(changes, within, known, Present(*found["of_others"]), tables, jobs, buckets)
        more = jobs.checkpoint(inputs.to_reduce_whole(within), "logs that become walk")
        if jobs.has_rows(more):
            whole = whole.unionByName(known.join(more, "namespace", "left_semi"))
            inputs = inputs.without(more)
            found = jobs.row(whole.agg(F.count(F.lit(1)).alias("whole"), logs.present().alias("of_whole")))
        parts.append(from_changes(inputs, tables, jobs, buckets))
    if found["whole"]:
        parts.append(from_all(within.of(whole), whole, Present(*found["of_whole"]), tables, jobs, scope))
    return parts
