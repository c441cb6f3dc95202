"""Finds the records that one lake has and another lacks, by namespace and id."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.frames.sets import bucket_hashes, first_byte

ID_COLUMNS = ("table", "bucket", "namespace", "record_id")

FEW_KEYS_BYTES = 32 * 1024 * 1024
"""Keys of up to so many bytes go to every worker, so that the rows of a table that match them need no shuffle."""
_KEY_BYTES = 192
"""Bytes of a key besides its namespace: an id or the hash of a line, and a bucket."""


def key_bytes() -> Column:
    """Sum the bytes of keys: the namespaces of another lake are as long as it likes.

    Reads:  namespace.
    """
    return F.coalesce(F.sum(F.octet_length("namespace") + F.lit(_KEY_BYTES)), F.lit(0))


def matching(rows: DataFrame, keys: DataFrame, size: int) -> DataFrame:
    """Keep the rows that have the columns of a row of `keys`, whose `key_bytes` are `size`.

    Spark does not know that a checkpoint is small, and would shuffle all rows.
    """
    return rows.join(F.broadcast(keys) if size <= FEW_KEYS_BYTES else keys, keys.columns, "left_semi")


def with_pruned(ids: DataFrame, pruned: DataFrame) -> DataFrame:
    """Add the pruned records to the stored ones. A record that is both is pruned: its collection has yet to end.

    Reads:  ids: ID_COLUMNS and further ones; pruned: these columns.
    Gives:  the columns of `ids`, and is_pruned.
    Rows:   one per record.
    """
    key = ["namespace", "record_id"]
    gone = pruned.dropDuplicates(key)
    held = ids.join(gone.select(*key), key, "left_anti").select(*ids.columns, F.lit(False).alias("is_pruned"))
    return held.unionByName(gone.select(*ids.columns, F.lit(True).alias("is_pruned")))


def compared(theirs: DataFrame, ours: DataFrame) -> DataFrame:
    """Count the records of each namespace of `theirs` on both sides.

    Reads:  ID_COLUMNS, of both sides; is_comparable of theirs.
    Gives:  namespace (null for rows without a valid one), there BIGINT, here BIGINT (0 if we have none), incomparable
            BIGINT: further rows of theirs that cannot be compared.
    Rows:   one per namespace of `theirs`.
    """
    there = theirs.groupBy("namespace").agg(
        F.count_if("is_comparable").alias("there"), F.count_if(~F.col("is_comparable")).alias("incomparable")
    )
    here = ours.groupBy("namespace").agg(F.count(F.lit(1)).alias("here"))
    return there.join(here, "namespace", "left").select(
        "namespace", "there", F.coalesce("here", F.lit(0)).cast("bigint").alias("here"), "incomparable"
    )


def unequal_parts(theirs: DataFrame, ours: DataFrame, counts: DataFrame) -> DataFrame:
    """Find where sets with equal counts differ: the parts of their set_hash that are not equal.

    Reads:  ID_COLUMNS, of both sides; columns of `compared`.
    Gives:  namespace, first (BINARY, 1 byte).
    Rows:   one per part of theirs that differs from ours; a namespace without a row has equal sets.
    """
    alike = counts.where("there = here").select("namespace")

    def hashes(ids: DataFrame, name: str) -> DataFrame:
        of_alike = ids.join(alike, "namespace", "left_semi")
        parts = bucket_hashes(of_alike.select("namespace", F.col("record_id").alias("value")))
        return parts.select("namespace", "first", F.col("digest").alias(name))

    both = hashes(theirs, "there").join(hashes(ours, "here"), ["namespace", "first"], "left")
    return both.where(~F.col("there").eqNullSafe(F.col("here"))).select("namespace", "first")


def missing(theirs: DataFrame, ours: DataFrame, counts: DataFrame, parts: DataFrame) -> DataFrame:
    """Keep the ids of theirs that we lack.

    Reads:  ID_COLUMNS, of both sides; columns of `compared` and `unequal_parts`.
    Gives:  the columns of `theirs`.
    Rows:   those in namespaces with different counts and in unequal parts that are not among ours.
    """
    uneven = counts.where("there <> here").select("namespace")

    def doubtful(ids: DataFrame) -> DataFrame:
        of_parts = ids.withColumn("first", first_byte("record_id")).join(
            parts, ["namespace", "first"], "left_semi"
        )
        return ids.join(uneven, "namespace", "left_semi").unionByName(of_parts.drop("first"))

    keys = doubtful(ours).select("namespace", "record_id")
    return doubtful(theirs).join(keys, ["namespace", "record_id"], "left_anti")


def planned(lacking: DataFrame, counts: DataFrame) -> DataFrame:
    """Return by namespace how many of the lacking records are stored there, and how many are pruned there.

    Reads:  ID_COLUMNS and is_pruned of the lacking records; columns of `compared`.
    Gives:  namespace, there, here, missing, pruned_there.
    Rows:   one per namespace with lacking records.
    """
    found = lacking.groupBy("namespace").agg(
        F.count_if(~F.col("is_pruned")).alias("missing"), F.count_if("is_pruned").alias("pruned_there")
    )
    return counts.join(found, "namespace").select("namespace", "there", "here", "missing", "pruned_there")


def numbered(files: DataFrame) -> DataFrame:
    """Number files; checkpoint them first or after, since the numbers depend on the tasks.

    Gives:  the columns of `files` and file_no.
    """
    return files.withColumn("file_no", F.monotonically_increasing_id())
