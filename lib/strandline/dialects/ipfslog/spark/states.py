"""Parts of logs as rows of `namespace_state`."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.spark.logs import has_documents
from strandline.dialects.ipfslog.types import SHARED_NAMESPACE
from strandline.frames.lift import map_batches

LOG = (
    "namespace", "bucket", "record_count", "store", "list_id", "whence", "depends_on", "reducer_version",
    "configuration",
)  # fmt: skip
"""A log and its configuration; `WriteLists.described` fills in what is null in it."""


def head_digests(heads: DataFrame) -> DataFrame:
    """Collect the heads of logs.

    Reads:  namespace, record_id.  Gives: namespace, heads.  Rows: one per log.
    """
    return heads.groupBy("namespace").agg(F.collect_list("record_id").alias("heads"))


def missing_digests(links: DataFrame) -> DataFrame:
    """Collect the missing parents of logs.

    Reads:  namespace, parent, of links to missing parents.  Gives: namespace, missing.  Rows: one per partial log.
    """
    return links.groupBy("namespace").agg(F.collect_set("parent").alias("missing"))


def depends_on(digests: Column) -> Column:
    """Return the manifests of a configuration in the form of `namespace_state`; null for none."""
    found = F.transform(
        F.array_sort(F.array_distinct(digests)),
        lambda digest: F.struct(F.lit(SHARED_NAMESPACE).alias("namespace"), digest.alias("commitment")),
    )
    return F.when(F.size(digests) > 0, found)


def hashed(logs: DataFrame) -> DataFrame:
    """Hash the states of logs.

    Reads:  LOG, entries, mode, heads, missing, kept_blocks, blocks, kept_groups, groups (`kernels.state_hashes`).
    Gives:  LOG (`depends_on` in the form of `namespace_state`), state_hash, order_blocks, document_groups.
    Rows:   one per row.
    """
    parts = logs.withColumn("has_documents", has_documents()).select(*kernels.STATE_COLUMNS)
    return with_state_hashes(logs, map_batches(parts, kernels.state_hashes, kernels.STATE_SCHEMA))


def with_state_hashes(logs: DataFrame, hashes: DataFrame) -> DataFrame:
    """Add the hashes of their states to logs.

    Reads:  logs: LOG; hashes: namespace, state_hash, order_blocks, document_groups.
    Gives:  LOG (`depends_on` in the form of `namespace_state`), state_hash, order_blocks, document_groups.
    Rows:   one per log with hashes.
    """
    named = logs.select(*LOG).withColumn("depends_on", depends_on(F.col("depends_on")))
    return named.join(hashes, "namespace")
