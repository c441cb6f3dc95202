"""What was accepted, in the form of the record tables."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.ipfslog.types import SHARED_NAMESPACE
from strandline.frames.buckets import bucket_of


def as_ipfs_log_entry(concluded: DataFrame, *, buckets: int, run_id: str) -> DataFrame:
    """Shape accepted entries to the contract of `ipfs_log_entry`.

    Reads:  what `identities.concluded` gives.
    Gives:  the columns of `ipfs_log_entry`.
    Rows:   one per accepted entry.
    """
    return concluded.where("kind = 'entry' AND outcome = 'accepted'").select(
        "namespace", bucket_of(F.col("namespace"), buckets).alias("bucket"), "record_id", "cid", "variant", "log_id",
        "key", "sig", "clock_time", "clock_id", F.coalesce("writer", "writer_id").alias("writer"), "identity_digest",
        "block", "next", "refs", "payload_json", "value_json", "ops", "flags", F.lit(run_id).alias("run_id"),
    )  # fmt: skip


def as_ipfs_log_identity(identities: DataFrame, *, bucket: int) -> DataFrame:
    """Shape identities to the contract of `ipfs_log_identity`.

    Reads:  the columns of `kernels.IDENTITY`, is_row.
    Gives:  the columns of `ipfs_log_identity`.
    Rows:   one per identity that is a row.
    """
    return identities.where("is_row").select(
        F.lit(SHARED_NAMESPACE).alias("namespace"), F.lit(bucket).cast("int").alias("bucket"), "record_id", "block",
        "cid", "id", "public_key", "sig_id", "sig_public_key", "type", "valid",
    )  # fmt: skip


def as_ipfs_log_manifest(judged: DataFrame, *, bucket: int) -> DataFrame:
    """Shape manifests to the contract of `ipfs_log_manifest`.

    Reads:  the columns of `kernels.JUDGED`.
    Gives:  the columns of `ipfs_log_manifest`.
    Rows:   one per manifest.
    """
    return judged.where("kind = 'manifest'").select(
        F.lit(SHARED_NAMESPACE).alias("namespace"), F.lit(bucket).cast("int").alias("bucket"), "record_id", "block",
        "cid", F.col("manifest_kind").alias("kind"), "log_id", "name", "type", "access", "write",
    )  # fmt: skip
