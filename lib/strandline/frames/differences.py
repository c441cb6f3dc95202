"""What one lake holds and another lacks, namespace by namespace, found by ids alone."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.frames.sets import bucket_hashes, first_byte

ID_COLUMNS = ("table", "bucket", "namespace", "record_id")


def compared(theirs: DataFrame, ours: DataFrame) -> DataFrame:
    """Count what each side holds of the namespaces that they hold.

    Reads:  ID_COLUMNS, of both sides; is_comparable of theirs.
    Gives:  namespace (null: of rows that do not tell), there BIGINT, here BIGINT (0: we hold nothing of it),
            incomparable BIGINT: rows of theirs beside `there`, that cannot be compared.
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
    """Find where sets of equally many ids differ: the parts of their set_hash that are not equal.

    Reads:  ID_COLUMNS, of both sides; what `compared` gives.
    Gives:  namespace, first (BINARY, 1 byte).
    Rows:   one per part of theirs that ours is not; a namespace without a row has one set_hash on both sides.
    """
    alike = counts.where("there = here").select("namespace")

    def hashes(ids: DataFrame, name: str) -> DataFrame:
        held = ids.join(alike, "namespace", "left_semi")
        parts = bucket_hashes(held.select("namespace", F.col("record_id").alias("value")))
        return parts.select("namespace", "first", F.col("digest").alias(name))

    both = hashes(theirs, "there").join(hashes(ours, "here"), ["namespace", "first"], "left")
    return both.where(~F.col("there").eqNullSafe(F.col("here"))).select("namespace", "first")


def missing(theirs: DataFrame, ours: DataFrame, counts: DataFrame, parts: DataFrame) -> DataFrame:
    """Keep the ids that they hold and we lack.

    Reads:  ID_COLUMNS, of both sides; what `compared` and `unequal_parts` give.
    Gives:  the columns of `theirs`.
    Rows:   those of namespaces whose counts differ and of unequal parts, that are not among ours.
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
    """Say for each namespace how much of it is missing.

    Reads:  ID_COLUMNS of what is missing; what `compared` gives.
    Gives:  namespace, there, here, missing.
    Rows:   one per namespace of which something is missing.
    """
    found = lacking.groupBy("namespace").agg(F.count(F.lit(1)).alias("missing"))
    return counts.join(found, "namespace").select("namespace", "there", "here", "missing")


def numbered(files: DataFrame) -> DataFrame:
    """Number files, once they are computed and kept: the numbers follow the tasks that made them.

    Gives:  the columns of `files` and file_no.
    """
    return files.withColumn("file_no", F.monotonically_increasing_id())
