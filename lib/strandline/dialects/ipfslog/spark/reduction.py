"""Reduction of logs: from all entries, or from the stored state and new entries, with equal rows."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.core.errors import UsageError
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.ipfslog.reduce import LogConfiguration
from strandline.dialects.ipfslog.spark import forks, logs, states
from strandline.dialects.ipfslog.spark.few_entries import are_few, from_few
from strandline.dialects.ipfslog.spark.full_reduction import from_all
from strandline.dialects.ipfslog.spark.incremental_reduction import from_changes, read_input
from strandline.dialects.ipfslog.spark.reduced_rows import (
    ReducedRows,
    as_reduction,
    broadcast_if_small,
    equivocations,
    without_lost,
)
from strandline.dialects.ipfslog.spark.retained import RetainedEntries, retained_entries
from strandline.dialects.ipfslog.spark.tables import MANIFESTS, REDUCED, VIEW
from strandline.dialects.ipfslog.types import DIALECT, log_namespace
from strandline.frames.listed import is_listed

_COMMITTED: Final = log_namespace("/orbitdb/")
"""The prefix of the namespaces of logs whose id may commit to manifests."""

_UNREAD: Final = ("block", "payload_json", "value_json", "sig", "refs")
"""Columns of an entry that no reduction reads: their effects on stores are in `ops`."""


def reduce(changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the logs in `changes` (rows of the change feed), or all logs if it is None, with equal rows."""
    return _of_all(tables, jobs, scope) if changes is None else _of_changes(changes, tables, jobs, scope)


def _of_all(tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce every log from all of its entries, as of one version of their table."""
    every = retained_entries(tables, jobs, scope.version)
    counted = every.counted().withColumn("is_known", F.lit(True))
    configured = jobs.checkpoint(with_configuration(counted, every, tables, scope), "logs")
    check_pruned_logs(configured, every, jobs)
    found = jobs.row(configured.agg(F.coalesce(F.sum("record_count"), F.lit(0)).alias("entries")))
    rows = (
        from_few(every, configured, tables, jobs)
        if are_few(every, configured, found["entries"], jobs, scope)
        else from_all(every, configured, tables, jobs, scope)
    )
    candidates = every.fork_candidates(tables)
    found_forks = equivocations(candidates, forks.repeated_clocks(candidates), jobs)
    if every.pruned is not None:
        rows = without_lost(rows, configured.where("is_bereft"), jobs)
    return as_reduction([rows], found_forks, scope)


def _of_changes(changes: DataFrame, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the logs in `changes` (rows of the change feed), and those whose configuration changed.

    A log is reduced from its stored state and the changes, except in these cases, which need all of its entries: it
    is new, its mode is or becomes `walk`, its configuration changed, or it has pruned entries and a stored entry of it
    got a parent that is not before it. After a killed run all logs are reduced from all entries, since rows may be
    newer than their state.
    """
    if tables.has_partial_run(REDUCED):
        return _of_all(tables, jobs, scope)
    every = retained_entries(tables, jobs, scope.version)
    changes = jobs.persist(changes.drop(*_UNREAD), "changes")
    touched = jobs.checkpoint(_touched(changes, every, tables, scope), "logs")
    check_pruned_logs(touched, every, jobs)
    found = jobs.row(
        touched.agg(
            F.collect_set("bucket").alias("buckets"), F.count_if("whole").alias("whole"),
            F.count_if(~F.col("whole")).alias("others"), F.sum("record_count").alias("entries"),
        )
    )  # fmt: skip
    if not found["buckets"]:
        return Reduction({}, tables.read(STATES).limit(0))
    buckets = tuple(sorted(found["buckets"]))
    within = every.within(buckets)
    if are_few(within, touched, found["entries"], jobs, scope):
        parts = [from_few(within, touched, tables, jobs)]
    else:
        parts = _of_many(changes, within, touched, found, tables, jobs, scope)
    if every.pruned is not None:
        parts = [without_lost(each, touched.where("is_bereft"), jobs) for each in parts]
    new_clocks = jobs.checkpoint(
        changes.where("variant <> 'v0'").select(*forks.CLOCK).distinct(), "clocks of changes"
    )
    candidates = within.fork_candidates(tables)
    at_clocks = candidates.join(broadcast_if_small(new_clocks, jobs), list(forks.CLOCK), "left_semi")
    found_forks = equivocations(candidates, forks.repeated_clocks(at_clocks), jobs)
    return as_reduction(parts, found_forks, scope)


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
        inputs = read_input(changes, within, known, tables, jobs, buckets)
        more = jobs.checkpoint(inputs.to_reduce_whole(within), "logs that become walk")
        if jobs.has_rows(more):
            whole = whole.unionByName(known.join(more, "namespace", "left_semi"))
            inputs = inputs.without(more)
            found = jobs.row(whole.agg(F.count(F.lit(1)).alias("whole")))
        parts.append(from_changes(inputs, tables, jobs, buckets))
    if found["whole"]:
        parts.append(from_all(within.of(whole), whole, tables, jobs, scope))
    return parts


def with_configuration(
    counted: DataFrame, every: RetainedEntries, tables: Tables, scope: ReduceScope
) -> DataFrame:
    """Add the configuration of each log, from its carry, the operator's file or its manifests.

    Reads:  counted: namespace, ..  Gives: as `logs.configured`.  Rows: one per row.
    """
    carries = None if every.pruned is None else every.pruned.carries
    manifests = tables.read_version(MANIFESTS, scope.side_versions[MANIFESTS])
    return logs.configured(counted, manifests, carries, scope.reducer_options)


def check_pruned_logs(configured: DataFrame, every: RetainedEntries, jobs: Jobs) -> None:
    """Check that the operator's file does not change the configuration of logs with pruned entries.

    Raises: UsageError LOG_CONFIG_PRUNED.
    """
    if every.pruned is None:
        return
    refused = jobs.row(configured.where("is_refused").agg(F.min("namespace").alias("namespace")))["namespace"]
    if refused is not None:
        raise UsageError(
            "LOG_CONFIG_PRUNED",
            f"Entries of the log {refused} were pruned under its store and write list, so these cannot change.",
            "Give this log the same store and write list or leave it out; to change them, import it into a new lake.",
        )


def _touched(changes: DataFrame, every: RetainedEntries, tables: Tables, scope: ReduceScope) -> DataFrame:
    """Return the logs to reduce: with changes, with a changed configuration, or refused by an earlier run.

    Gives:  `states.LOG`, is_known, is_refused, is_bereft, old_blocks, old_groups, whole (all entries are needed).
    """
    configured_logs = [log_namespace(log_id) for log_id in scope.reducer_options]
    stored = tables.read(STATES).where(F.col("dialect") == DIALECT)
    may_differ = (
        F.col("namespace").startswith(_COMMITTED) | is_listed("namespace", configured_logs)
        | (F.col("configuration") != LogConfiguration().as_json)
    )  # fmt: skip
    new = logs.counted(changes).withColumnRenamed("record_count", "new_count")
    old = stored.select(
        "namespace", "bucket", F.col("record_count").alias("old_count"), F.col("order_blocks").alias("old_blocks"),
        F.col("document_groups").alias("old_groups"), F.col("depends_on").alias("old_depends_on"),
        F.col("configuration").alias("old_configuration"), may_differ.alias("may_differ"),
    )  # fmt: skip
    zero = F.lit(0).cast("bigint")
    candidates = old.join(new, ["namespace", "bucket"], "full_outer").where(
        "new_count IS NOT NULL OR may_differ"
    )
    counted = candidates.withColumn(
        "record_count", F.coalesce("old_count", zero) + F.coalesce("new_count", zero)
    ).withColumn("is_retried", F.lit(False))
    names = _retried(changes, every, scope)
    if names is not None:
        retried = every.of(names).counted().withColumn("is_retried", F.lit(True))
        counted = counted.join(F.broadcast(names), "namespace", "left_anti").unionByName(
            retried, allowMissingColumns=True
        )
    configured = with_configuration(counted, every, tables, scope)
    differs = (
        F.col("is_retried") | F.col("old_count").isNull()
        | (F.col("old_configuration") != F.col("configuration"))
        | ~F.col("old_depends_on").eqNullSafe(states.depends_on(F.col("depends_on")))
    )  # fmt: skip
    walks = (
        tables.read(VIEW).where((F.col("position") == 1) & (F.col("mode") == "walk"))
        .select("namespace", F.lit(True).alias("walks"))
    )  # fmt: skip
    is_known = F.col("is_retried") | F.col("old_count").isNotNull()
    whole = differs | F.coalesce("walks", F.lit(False))
    return (
        configured.join(walks, "namespace", "left").withColumn("whole", whole)
        .where(F.col("new_count").isNotNull() | differs | F.col("is_refused"))
        .select(
            *states.LOG, "old_blocks", "old_groups", "whole", is_known.alias("is_known"), "is_refused", "is_bereft"
        )
    )  # fmt: skip


def _retried(changes: DataFrame, every: RetainedEntries, scope: ReduceScope) -> DataFrame | None:
    """Return the logs whose stored state cannot be continued, or None.

    These are logs that an earlier run refused, and logs with changes that are pruned entries.
    """
    is_refused = is_listed("namespace", scope.retry_namespaces)
    refused = every.entries.where(is_refused).select("namespace")
    if every.pruned is not None:
        refused = refused.unionByName(every.pruned.ids.where(is_refused).select("namespace"))
    found = refused if scope.retry_namespaces else None
    if every.pruned is not None:
        pruned = changes.join(every.pruned.ids, ["namespace", "record_id"], "left_semi").select("namespace")
        found = pruned if found is None else found.unionByName(pruned)
    return None if found is None else found.distinct()
