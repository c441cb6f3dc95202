"""Parts of logs as rows of `namespace_state`."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.frames.logs import has_documents
from strandline.dialects.ipfslog.types import DIALECT, SHARED_NAMESPACE

LOG = (
    "namespace", "bucket", "record_count", "store", "write", "whence", "depends_on", "reducer_version",
    "configuration",
)  # fmt: skip
"""A log and what it is reduced as."""

CONFIGURED = ("depends_on", "reducer_version", "configuration")


def head_digests(heads: DataFrame) -> DataFrame:
    """Gather the heads of logs.  Reads: namespace, record_id.  Gives: namespace, heads.  Rows: one per log."""
    return heads.groupBy("namespace").agg(F.collect_list("record_id").alias("heads"))


def missing_digests(tails: DataFrame) -> DataFrame:
    """Gather what logs miss.  Reads: namespace, missing.  Gives: namespace, missing.  Rows: one per partial log."""
    each = tails.select("namespace", F.explode("missing").alias("digest"))
    return each.groupBy("namespace").agg(F.collect_set("digest").alias("missing"))


def depends_on(digests: Column) -> Column:
    """The manifests that a configuration was read from, as `namespace_state` has them: null for none."""
    found = F.transform(
        F.array_sort(F.array_distinct(digests)),
        lambda digest: F.struct(F.lit(SHARED_NAMESPACE).alias("namespace"), digest.alias("commitment")),
    )
    return F.when(F.size(digests) > 0, found)


def hashed(logs: DataFrame) -> DataFrame:
    """Hash the states of logs.

    Reads:  LOG, entries, mode, heads, missing, kept_blocks, blocks, kept_groups, groups (`kernels.state_hashes`).
    Gives:  LOG, state_hash, order_blocks, document_groups.
    Rows:   one per row.
    """
    parts = logs.withColumn("has_documents", has_documents()).select(*kernels.STATE_COLUMNS)
    states = parts.mapInArrow(kernels.state_hashes, kernels.STATE_DDL)
    return logs.select(*LOG).join(states, "namespace")


def as_namespace_state(states: DataFrame, *, reduced_version: int, run_id: str) -> DataFrame:
    """Shape hashed states to rows of `namespace_state`, without the time.  Rows: one per row."""
    return states.select(
        "namespace",
        "bucket",
        F.lit(DIALECT).alias("dialect"),
        "record_count",
        "state_hash",
        "reducer_version",
        depends_on(F.col("depends_on")).alias("depends_on"),
        "order_blocks",
        "document_groups",
        "configuration",
        F.lit(reduced_version).cast("bigint").alias("reduced_version"),
        F.lit(run_id).alias("run_id"),
    )
