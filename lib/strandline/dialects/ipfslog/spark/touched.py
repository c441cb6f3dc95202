"""The logs that a reduction takes, with their configuration and what is stored of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import STATES
from strandline.core.errors import UsageError
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope
from strandline.dialects.ipfslog.reduce import LogConfiguration
from strandline.dialects.ipfslog.spark import logs, states
from strandline.dialects.ipfslog.spark.hints import hint_of, name_bytes
from strandline.dialects.ipfslog.spark.retained import RetainedEntries
from strandline.dialects.ipfslog.spark.tables import MANIFESTS, VIEW
from strandline.dialects.ipfslog.spark.write_lists import write_lists
from strandline.dialects.ipfslog.types import DIALECT, log_namespace
from strandline.frames.listed import MOST_PUSHED, is_listed

_COMMITTED: Final = log_namespace("/orbitdb/")
"""The prefix of the namespaces of logs whose id may commit to manifests."""


def with_configuration(
    counted: DataFrame, every: RetainedEntries, tables: Tables, scope: ReduceScope
) -> DataFrame:
    """Add the configuration of each log, from its carry, the operator's file or its manifests.

    Reads:  counted: namespace, ..  Gives: as `logs.configured`.  Rows: one per row.
    """
    carries = None if every.pruned is None else every.pruned.carries
    return logs.configured(counted, _manifests(tables, scope), carries, scope.reducer_options)


def with_lists(
    every: RetainedEntries, configured: DataFrame, found: Row, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> RetainedEntries:
    """Return the entries with the write lists of logs, and the hint for joins with these logs.

    Reads:  configured: as of `with_configuration`, as a checkpoint; found: `sizes` of it.
    """
    lists = write_lists(configured, _manifests(tables, scope), found, jobs)
    return replace(every, hint=hint_of(found["name_bytes"]), lists=lists)


def _manifests(tables: Tables, scope: ReduceScope) -> DataFrame:
    return tables.read_version(MANIFESTS, scope.side_versions[MANIFESTS])


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


def touched_logs(
    changes: DataFrame, every: RetainedEntries, tables: Tables, jobs: Jobs, scope: ReduceScope
) -> DataFrame:
    """Return the logs to reduce: with changes, with a changed configuration, or refused by an earlier run.

    Gives:  `states.LOG`, write, list_bytes, is_known, is_refused, is_bereft, old_blocks, old_groups, whole (all entries
            are needed).
    """
    stored, is_configured = _marked(
        tables.read(STATES).where(F.col("dialect") == DIALECT), {*map(log_namespace, scope.reducer_options)}
    )
    may_differ = (
        F.col("namespace").startswith(_COMMITTED) | is_configured
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
    names = _retried(changes, every, jobs, scope)
    if names is not None:
        retried = every.of(names).counted().withColumn("is_retried", F.lit(True))
        counted = counted.join(names, "namespace", "left_anti").unionByName(retried, allowMissingColumns=True)
    configured = with_configuration(counted, every, tables, scope)
    # A manifest never changes: with the same manifests, a log has the same list.
    is_other = F.when(
        F.col("configuration").isNotNull(), F.col("old_configuration") != F.col("configuration")
    )
    was = (F.get_json_object("old_configuration", f"$.{name}") != F.col(name) for name in ("store", "whence"))
    differs = (
        F.col("is_retried") | F.col("old_count").isNull() | is_other.otherwise(reduce(or_, was))
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
            *states.LOG, "write", "list_bytes", "old_blocks", "old_groups", "whole", is_known.alias("is_known"),
            "is_refused", "is_bereft",
        )
    )  # fmt: skip


def _marked(rows: DataFrame, names: Collection[str]) -> tuple[DataFrame, Column]:
    """Return rows, and whether the namespace of one is among these names.

    An operator's file can name a million logs: a list of them in a condition would take Spark minutes to read.
    """
    if len(names) <= MOST_PUSHED:
        return rows, is_listed("namespace", sorted(names))
    named = pa.table({"namespace": pa.array(sorted(names)), "is_named": pa.array([True] * len(names))})
    joined = rows.join(rows.sparkSession.createDataFrame(named), "namespace", "left")
    return joined, F.col("is_named").isNotNull()


def _retried(changes: DataFrame, every: RetainedEntries, jobs: Jobs, scope: ReduceScope) -> DataFrame | None:
    """Return the logs whose stored state cannot be continued, with the hint for their bytes, or None without any.

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
    if found is None:
        return None
    names = jobs.checkpoint(found.distinct(), "logs to count again")
    size = jobs.row(names.agg(name_bytes().alias("bytes")))["bytes"]
    return None if size is None else hint_of(size)(names)
