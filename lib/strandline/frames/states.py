"""Rows of `namespace_state` and `equivocation` in the form of their contracts."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

OPTIONAL = ("depends_on", "order_blocks", "document_groups", "configuration")
"""Columns that a dialect can leave out; they are then null."""


def as_namespace_state(states: DataFrame, *, dialect: str, reduced_version: int, run_id: str) -> DataFrame:
    """Shape states to rows of `namespace_state`, without the time.

    Reads:  namespace, bucket, record_count, state_hash, reducer_version, and existing columns of OPTIONAL.
    Gives:  these, dialect, reduced_version, run_id.
    Rows:   one per row.
    """
    return states.select(
        "namespace", "bucket", F.lit(dialect).alias("dialect"), "record_count", "state_hash", "reducer_version",
        *(name for name in OPTIONAL if name in states.columns),
        F.lit(reduced_version).cast("bigint").alias("reduced_version"), F.lit(run_id).alias("run_id"),
    )  # fmt: skip


def as_equivocation(found: DataFrame, *, dialect: str, kind: str, attributable: bool) -> DataFrame:
    """Shape forks to the contract of `equivocation`.

    Reads:  equivocation_id, namespace, bucket, key, position, members, member_count, bytes_a, bytes_b,
            evidence.
    Gives:  the columns of `equivocation`.
    Rows:   one per row.
    """
    return found.select(
        "equivocation_id", "namespace", "bucket", F.lit(dialect).alias("dialect"), F.lit(kind).alias("kind"),
        "key", "position", "members", "member_count", "bytes_a", "bytes_b",
        F.lit(attributable).alias("attributable"), "evidence",
    )  # fmt: skip
