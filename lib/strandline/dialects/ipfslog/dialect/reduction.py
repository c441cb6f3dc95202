"""Reduction of logs: of all entries, or of the news on top of the stored state, with equal rows."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.base import ReducerOption, ReduceScope, Reduction, Stage, Tables
from strandline.dialects.ipfslog.dialect import folding
from strandline.dialects.ipfslog.dialect.news import from_news, met
from strandline.dialects.ipfslog.frames import dag, forks, logs, states
from strandline.dialects.ipfslog.reduce import LogConfiguration, parse_log_config
from strandline.dialects.ipfslog.types import DIALECT, log_namespace

MANIFESTS = "ipfs_log_manifest"
STATES = "namespace_state"
COMMITTED: Final = log_namespace("/orbitdb/")
"""How namespaces of logs begin whose id may commit to manifests."""

LOG_CONFIG: Final = ReducerOption("log-config", parse_log_config, {})
"""Stores and write lists of logs, from a file."""


def reduce_all(tables: Tables, stage: Stage, scope: ReduceScope) -> Reduction:
    """Reduce every log from all of its entries, as of one version of their table."""
    entries = tables.read_version(folding.ENTRIES, scope.last)
    counted = logs.counted(entries).withColumn("is_known", F.lit(True))
    configured = stage.settle(logs.configured(counted, _manifests(tables, scope), scope.told), "logs")
    folded = folding.from_all(entries, configured, tables, stage, scope)
    found = folding.equivocations(entries, forks.suspects(entries), stage)
    return folding.reduction([folded], found, scope)


def reduce_new(news: DataFrame, tables: Tables, stage: Stage, scope: ReduceScope) -> Reduction:
    """Reduce the logs that `news` (rows of the change feed) touch, or whose configuration is another one.

    From their stored state and the news where that is exact; from all of their entries where a log is new, in mode
    `walk` or turns to it, or is told otherwise than before. After a killed run everything is reduced again: then rows
    may be newer than their state.
    """
    if tables.is_torn(folding.REDUCED):
        return reduce_all(tables, stage, scope)
    touched = stage.settle(_touched(news, tables, scope), "logs")
    found = stage.one(
        touched.agg(
            F.collect_set("bucket").alias("buckets"), F.count_if("whole").alias("whole"),
            F.count_if(~F.col("whole")).alias("others"),
        )
    )  # fmt: skip
    if not found["buckets"]:
        return Reduction({}, tables.read(STATES).limit(0))
    buckets = tuple(sorted(found["buckets"]))
    entries = tables.read_version(folding.ENTRIES, scope.last).where(F.col("bucket").isin(*buckets))
    whole = touched.where("whole")
    parts: list[folding.Folded] = []
    if found["others"]:
        known = touched.where("NOT whole")
        arrived = met(news, entries, known, tables, stage, buckets)
        turned = stage.settle(dag.walked(arrived.bonds), "logs that turn to walk")
        if stage.has_rows(turned):
            whole = whole.unionByName(known.join(turned, "namespace", "left_semi"))
            arrived = arrived.without(turned)
            found = stage.one(whole.agg(F.count(F.lit(1)).alias("whole")))
        parts.append(from_news(arrived, tables, stage, buckets))
    if found["whole"]:
        named = F.broadcast(whole.select("namespace"))
        parts.append(
            folding.from_all(entries.join(named, "namespace", "left_semi"), whole, tables, stage, scope)
        )
    of_news = stage.settle(news.where("variant <> 'v0'").select(*forks.CLOCK).distinct(), "clocks of news")
    clocks = entries.join(folding.on_every_machine(of_news, stage), list(forks.CLOCK), "left_semi")
    return folding.reduction(parts, folding.equivocations(entries, forks.suspects(clocks), stage), scope)


def _manifests(tables: Tables, scope: ReduceScope) -> DataFrame:
    return tables.read_version(MANIFESTS, scope.beside[MANIFESTS])


def _touched(news: DataFrame, tables: Tables, scope: ReduceScope) -> DataFrame:
    """Logs to reduce: with news, with another configuration than that of their state, or owed by an earlier run.

    Gives: `states.LOG`, is_known, old_blocks, old_groups, whole (whether all entries are needed).
    """
    told = [log_namespace(log_id) for log_id in scope.told]
    stored = tables.read(STATES).where(F.col("dialect") == DIALECT)
    may_differ = (
        F.col("namespace").startswith(COMMITTED) | F.col("namespace").isin(told)
        | (F.col("configuration") != LogConfiguration().as_json)
    )  # fmt: skip
    arrived = logs.counted(news).withColumnRenamed("record_count", "new_count")
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
    ).withColumn("owed", F.lit(False))
    if scope.owed:
        entries = tables.read_version(folding.ENTRIES, scope.last).where(F.col("namespace").isin(*scope.owed))
        owed = logs.counted(entries).withColumn("owed", F.lit(True))
        counted = counted.where(~F.col("namespace").isin(*scope.owed)).unionByName(
            owed, allowMissingColumns=True
        )
    configured = logs.configured(counted, _manifests(tables, scope), scope.told)
    differs = (
        F.col("owed") | F.col("old_count").isNull()
        | (F.col("old_configuration") != F.col("configuration"))
        | ~F.col("old_depends_on").eqNullSafe(states.depends_on(F.col("depends_on")))
    )  # fmt: skip
    walks = (
        tables.read(folding.VIEW).where((F.col("position") == 1) & (F.col("mode") == "walk"))
        .select("namespace", F.lit(True).alias("walks"))
    )  # fmt: skip
    is_known = F.col("owed") | F.col("old_count").isNotNull()
    whole = differs | F.coalesce("walks", F.lit(False))
    return (
        configured.join(walks, "namespace", "left").withColumn("whole", whole)
        .where(F.col("new_count").isNotNull() | differs)
        .select(*states.LOG, "old_blocks", "old_groups", "whole", is_known.alias("is_known"))
    )  # fmt: skip
