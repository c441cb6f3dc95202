"""Reduction of logs: of all entries, or of the news on top of the stored state, with equal rows."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.core.errors import UsageError
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.reduction import ReduceScope, Reduction
from strandline.dialects.ipfslog.reduce import LogConfiguration
from strandline.dialects.ipfslog.spark import dag, folding, forks, logs, states
from strandline.dialects.ipfslog.spark.changes import from_news, met
from strandline.dialects.ipfslog.spark.retained import RetainedEntries, held
from strandline.dialects.ipfslog.spark.tables import MANIFESTS, REDUCED, STATES, VIEW
from strandline.dialects.ipfslog.types import DIALECT, log_namespace

COMMITTED: Final = log_namespace("/orbitdb/")
"""How namespaces of logs begin whose id may commit to manifests."""

UNREAD: Final = ("block", "payload_json", "value_json", "sig", "refs")
"""Columns of an entry that no reduction reads: what its values are stands in `ops`."""


def reduce(changes: DataFrame | None, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce what `changes` (rows of the change feed) touch, or everything without them: both give the same rows."""
    return _of_all(tables, jobs, scope) if changes is None else _of_changes(changes, tables, jobs, scope)


def _of_all(tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce every log from all of its entries, as of one version of their table."""
    every = held(tables, jobs, scope.version)
    counted = every.counted().withColumn("is_known", F.lit(True))
    configured = jobs.checkpoint(_configured(counted, every, tables, scope), "logs")
    _check_told(configured, every, jobs)
    folded = folding.from_all(every, configured, tables, jobs, scope)
    witnesses = every.witnesses(tables)
    found = folding.equivocations(witnesses, forks.suspects(witnesses), jobs)
    return folding.reduction([folded], found, scope)


def _of_changes(changes: DataFrame, tables: Tables, jobs: Jobs, scope: ReduceScope) -> Reduction:
    """Reduce the logs that `changes` (rows of the change feed) touch, or whose configuration is another one.

    From their stored state and the changes where that is exact; from all of their entries where a log is new, is in
    mode `walk` or turns to it, or has another configuration than before. After a killed run everything is reduced
    again, since rows may be newer than their state.
    """
    if tables.has_partial_run(REDUCED):
        return _of_all(tables, jobs, scope)
    every = held(tables, jobs, scope.version)
    changes = jobs.persist(changes.drop(*UNREAD), "changes")
    touched = jobs.checkpoint(_touched(changes, every, tables, scope), "logs")
    _check_told(touched, every, jobs)
    found = jobs.row(
        touched.agg(
            F.collect_set("bucket").alias("buckets"), F.count_if("whole").alias("whole"),
            F.count_if(~F.col("whole")).alias("others"),
        )
    )  # fmt: skip
    if not found["buckets"]:
        return Reduction({}, tables.read(STATES).limit(0))
    buckets = tuple(sorted(found["buckets"]))
    within = every.within(buckets)
    whole = touched.where("whole")
    parts: list[folding.Folded] = []
    if found["others"]:
        known = touched.where("NOT whole")
        arrived = met(changes, within, known, tables, jobs, buckets)
        turned = jobs.checkpoint(within.may_walk(dag.walked(arrived.bonds)), "logs that turn to walk")
        if jobs.has_rows(turned):
            whole = whole.unionByName(known.join(turned, "namespace", "left_semi"))
            arrived = arrived.without(turned)
            found = jobs.row(whole.agg(F.count(F.lit(1)).alias("whole")))
        parts.append(from_news(arrived, tables, jobs, buckets))
    if found["whole"]:
        parts.append(folding.from_all(within.of(whole), whole, tables, jobs, scope))
    of_news = jobs.checkpoint(
        changes.where("variant <> 'v0'").select(*forks.CLOCK).distinct(), "clocks of news"
    )
    witnesses = within.witnesses(tables)
    clocks = witnesses.join(folding.on_every_machine(of_news, jobs), list(forks.CLOCK), "left_semi")
    return folding.reduction(parts, folding.equivocations(witnesses, forks.suspects(clocks), jobs), scope)


def _configured(counted: DataFrame, every: RetainedEntries, tables: Tables, scope: ReduceScope) -> DataFrame:
    carries = None if every.pruned is None else every.pruned.carries
    manifests = tables.read_version(MANIFESTS, scope.side_versions[MANIFESTS])
    return logs.configured(counted, manifests, carries, scope.reducer_options)


def _check_told(configured: DataFrame, every: RetainedEntries, jobs: Jobs) -> None:
    """See that the operator's file says of logs with pruned entries what it said when they were pruned.

    Raises: UsageError LOG_CONFIG_PRUNED.
    """
    if every.pruned is None:
        return
    refused = jobs.row(configured.where("is_refused").agg(F.min("namespace").alias("namespace")))["namespace"]
    if refused is not None:
        raise UsageError(
            "LOG_CONFIG_PRUNED",
            f"Entries of the log {refused} were pruned as its store and write list said: it can have no others.",
            "Say of this log what was said then, or nothing; to read it otherwise take it into a new lake.",
        )


def _touched(changes: DataFrame, every: RetainedEntries, tables: Tables, scope: ReduceScope) -> DataFrame:
    """Logs to reduce: with changes, with another configuration than that of their state, or refused by an earlier run.

    Gives: `states.LOG`, is_known, is_refused, old_blocks, old_groups, whole (whether all entries are needed).
    """
    configured_logs = [log_namespace(log_id) for log_id in scope.reducer_options]
    stored = tables.read(STATES).where(F.col("dialect") == DIALECT)
    may_differ = (
        F.col("namespace").startswith(COMMITTED) | F.col("namespace").isin(configured_logs)
        | (F.col("configuration") != LogConfiguration().as_json)
    )  # fmt: skip
    arrived = logs.counted(changes).withColumnRenamed("record_count", "new_count")
    old = stored.select(
        "namespace", "bucket", F.col("record_count").alias("old_count"), F.col("order_blocks").alias("old_blocks"),
        F.col("document_groups").alias("old_groups"), F.col("depends_on").alias("old_depends_on"),
        F.col("configuration").alias("old_configuration"), may_differ.alias("may_differ"),
    )  # fmt: skip
    zero = F.lit(0).cast("bigint")
    candidates = old.join(arrived, ["namespace", "bucket"], "full_outer").where(
        "new_count IS NOT NULL OR may_differ"
    )
    counted = candidates.withColumn(
        "record_count", F.coalesce("old_count", zero) + F.coalesce("new_count", zero)
    ).withColumn("is_retried", F.lit(False))
    again = _again(changes, every, scope)
    if again is not None:
        retry_namespaces = every.of(again).counted().withColumn("is_retried", F.lit(True))
        counted = counted.join(F.broadcast(again), "namespace", "left_anti").unionByName(
            retry_namespaces, allowMissingColumns=True
        )
    configured = _configured(counted, every, tables, scope)
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
        .select(*states.LOG, "old_blocks", "old_groups", "whole", is_known.alias("is_known"), "is_refused")
    )  # fmt: skip


def _again(changes: DataFrame, every: RetainedEntries, scope: ReduceScope) -> DataFrame | None:
    """Logs whose stored state cannot be continued: refused by an earlier run, or with changes that are pruned."""
    retry_namespaces = every.entries.where(F.col("namespace").isin(*scope.retry_namespaces)).select(
        "namespace"
    )
    found = retry_namespaces if scope.retry_namespaces else None
    if every.pruned is not None:
        gone = changes.join(every.pruned.ids, ["namespace", "record_id"], "left_semi").select("namespace")
        found = gone if found is None else found.unionByName(gone)
    return None if found is None else found.distinct()
