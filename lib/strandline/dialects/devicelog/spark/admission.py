"""The stages of admission that are specific to device logs: an entry needs the entries that it names.

What an entry and those that it names say is decided by joins, in parallel. Only if an entry is refused or absent, one
pass over the namespace finds what descends from it.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from strandline.dialect_api.records import RecordDialect
from strandline.dialect_api.stages import Gathered, Resolution
from strandline.dialects.devicelog import kernels
from strandline.dialects.devicelog.info import INFO
from strandline.dialects.devicelog.spark import references
from strandline.dialects.devicelog.spark.entries import follows
from strandline.dialects.devicelog.spark.tables import ENTRIES
from strandline.frames.buckets import bucket_of, in_buckets
from strandline.frames.known import KEY
from strandline.frames.verdicts import VERDICT, is_candidate, with_outcome

_AWAITED = "record:"


class EntryAdmission(RecordDialect):
    """Admission of entries of both profiles."""

    info = INFO
    document_fields = kernels.DOCUMENT_FIELDS
    judged = kernels.JUDGED
    links = None
    signature = "sig"

    read_content = staticmethod(kernels.read_content)
    judge = staticmethod(kernels.judge)
    replay = staticmethod(kernels.replay)

    def follows(self) -> Column:
        """Return prev and deps."""
        return follows()

    def recall(self, waiting: DataFrame, gathered: Gathered) -> DataFrame:
        """Return the waiting entries of namespaces in which one waits for a new entry.

        After a killed run, all waiting entries.
        """
        if gathered.tables.begin_repair(self.info.ingest_tables):
            return waiting
        name = F.concat(F.lit(_AWAITED), F.lower(F.hex("record_id"))).alias("awaited")
        fresh = gathered.judged.where(is_candidate()).select("namespace", name).distinct()
        each = waiting.select("namespace", F.explode("waits_for").alias("awaited"))
        met = each.join(fresh, ["namespace", "awaited"], "left_semi").select("namespace").distinct()
        return waiting.join(met, "namespace", "left_semi").select(*waiting.columns)

    def resolve(self, judged: DataFrame, gathered: Gathered) -> Resolution:
        """Decide what each entry needs of those that it names."""
        jobs, tables = gathered.jobs, gathered.tables
        candidates = judged.where(is_candidate())
        bucket = bucket_of(F.col("namespace"), tables.buckets)
        found = jobs.row(
            candidates.agg(
                F.collect_set(bucket).alias("buckets"),
                F.count(F.lit(1)).alias("copies"),
                F.count_distinct(*KEY).alias("entries"),
                F.count_if((F.col("entry_kind") == "key") & (F.size("deps") > 0)).alias("granted"),
            )
        )
        verdicts = None
        if found["entries"]:
            stored = tables.read(ENTRIES).where(in_buckets(found["buckets"]))
            local = references.judged_locally(candidates, stored, are_granted=found["granted"] > 0)
            local = jobs.checkpoint(local, "references")
            is_open = (F.col("absent") > 0) | (F.size("found") > 0)
            if jobs.has_rows(local.where(is_open)):
                verdicts = jobs.checkpoint(references.judged_in_order(local), "order")
        if verdicts is None:
            # Nothing is refused or absent, or there is nothing to judge.
            verdicts = _all_accepted(candidates)
        concluded = with_outcome(judged.join(verdicts, list(KEY), "left"))
        concluded = concluded.withColumn("is_first", _is_first(found))
        return Resolution(concluded, concluded.select(*VERDICT, "is_recalled"))

    def as_records(self, accepted: DataFrame, buckets: int) -> DataFrame:
        """Shape accepted entries to the contract of `device_log_entry`.  Rows: one per entry."""
        columns = {field.name: F.col(field.name) for field in kernels.ENTRY_FIELDS}
        kind = columns.pop("entry_kind").alias("kind")
        return accepted.where("is_first").select(
            "namespace", bucket_of(F.col("namespace"), buckets).alias("bucket"), "record_id", kind, *columns.values(),
            F.lit(None).cast("timestamp").alias("erased_at"), "source",
        )  # fmt: skip


def _all_accepted(candidates: DataFrame) -> DataFrame:
    """Return the verdicts on candidates of which none is refused and none waits."""
    none = F.array().cast("array<string>")
    return candidates.dropDuplicates(list(KEY)).select(
        *KEY, F.lit("accepted").alias("status"), none.alias("found"), F.lit(None).cast("string").alias("shown"),
        none.alias("awaited"),
    )  # fmt: skip


def _is_first(found: Row) -> Column:
    """Return whether an entry is the copy to store: of several signatures the least."""
    if found["copies"] == found["entries"]:
        return F.lit(True)
    copies = Window.partitionBy(*KEY, F.col("outcome")).orderBy("sig")
    return F.row_number().over(copies) == 1
