"""Candidates joined to the entries that they name."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.devicelog import kernels
from strandline.frames.known import KEY
from strandline.frames.lift import map_batches

_PLACE: Final = ("namespace", "profile")
"""An entry names entries of its namespace and profile only."""
_COLUMNS: Final = ("record_id", "log", "seq", "lamport")


def judged_locally(candidates: DataFrame, accepted: DataFrame, *, are_granted: bool) -> DataFrame:
    """Judge each candidate by itself and the entries that it names.

    Reads:  candidates: `kernels.JUDGED`, of entries that are valid by their own bytes; accepted: columns of
            `device_log_entry`. `are_granted`: there are key entries, so that grants must be looked up.
    Gives:  `kernels.LOCAL_SCHEMA`.
    Rows:   one per distinct candidate. What it names is one list: at most `MAX_DEPS` entries, prev and the last one of
            a removed log, some 200 bytes each. An aggregate holds 128 such lists of a task, 26 MB, before it sorts.
    """
    every = candidates.dropDuplicates(list(KEY))
    here = every.select(*_PLACE, *_COLUMNS).withColumn("is_accepted", F.lit(False))
    there = accepted.select(*_PLACE, *_COLUMNS).withColumn("is_accepted", F.lit(True))
    named = every.select(*_PLACE, F.col("record_id").alias("by"), F.explode("named").alias("record_id"))
    found = named.join(here.unionByName(there), [*_PLACE, "record_id"])
    member = F.struct(F.col("record_id").alias("id"), *kernels.NAMED_ENTRY[1:])
    of_each = found.groupBy("namespace", F.col("by").alias("record_id")).agg(
        F.collect_list(member).alias("found")
    )
    rows = every.join(of_each, list(KEY), "left")
    if are_granted:
        rows = rows.join(_granted(every, accepted), list(KEY), "left")
    else:
        rows = rows.withColumn("is_granted", F.lit(None).cast("boolean"))
    removal = F.when(F.col("entry_kind") == "remove-log", F.col("body"))
    columns = rows.withColumn("statement", removal).select(*kernels.CANDIDATE_COLUMNS)
    return map_batches(columns, kernels.judged_locally, kernels.LOCAL_SCHEMA)


def judged_in_order(local: DataFrame) -> DataFrame:
    """Judge candidates with all that they descend from.

    Reads:  `kernels.LOCAL_SCHEMA`.  Gives: `kernels.VERDICT_SCHEMA`.
    Rows:   one per row. One pass per namespace, only over the candidates.
    """
    in_order = local.repartition(*_PLACE).sortWithinPartitions(*_PLACE)
    return map_batches(in_order, kernels.judged_in_order, kernels.VERDICT_SCHEMA)


def _granted(candidates: DataFrame, accepted: DataFrame) -> DataFrame:
    """Return the key entries, and whether their grant names their log.

    Gives:  KEY, is_granted.  Rows: one per key entry whose grant is there.
    """
    keys = candidates.where((F.col("entry_kind") == "key") & (F.size("deps") == 1)).select(
        "namespace", F.col("record_id").alias("by"), "log", F.col("deps")[0].alias("record_id")
    )
    columns = ("namespace", "record_id", "kind", "body")
    every = (
        candidates.withColumn("kind", F.col("entry_kind"))
        .select(*columns)
        .unionByName(accepted.select(*columns))
    )
    grants = every.where(F.col("kind").isin("key", "add-log"))
    found = keys.join(grants, ["namespace", "record_id"])
    named = _netstring(F.col("log"))
    # The first field of a key entry is its label, which may spell a log.
    in_key = F.contains("body", F.concat(F.lit(b","), named))
    admits = F.when(F.col("kind") == "key", in_key).otherwise(F.col("body") == named)
    return found.groupBy("namespace", F.col("by").alias("record_id")).agg(F.max(admits).alias("is_granted"))


def _netstring(log: Column) -> Column:
    """Return a log as a field of a body. A label is too short to hold one inside."""
    return F.concat(F.lit(b"64:"), F.lower(F.hex(log)).cast("binary"), F.lit(b","))
