"""Admission of dialects whose records wait until all their parents are accepted."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.records import RecordDialect
from strandline.dialect_api.stages import Gathered, Resolution
from strandline.frames.ancestry import missing_parents
from strandline.frames.buckets import bucket_of, in_buckets
from strandline.frames.known import KEY
from strandline.frames.verdicts import VERDICT, is_candidate, is_internal_error, waits_for
from strandline.kernels.guard import NEXT_RULES

NAMED_PARENTS: Final = 16
"""Maximum number of missing parents in evidence, the least ones."""


class ParentedDialect(RecordDialect):
    """A dialect of records with an address whose `links` are parents: each must be accepted before its children.

    `missing_reason` is the code of a record that waits for a parent.
    """

    links: ClassVar[str]
    missing_reason: ClassVar[str]

    def recall(self, waiting: DataFrame, gathered: Gathered) -> DataFrame:
        """Return the waiting records of namespaces with new records; after a killed run, all waiting records."""
        if gathered.tables.begin_repair(self.info.ingest_tables):
            return waiting
        fresh = gathered.judged.where(is_candidate()).select("namespace").distinct()
        return waiting.join(fresh, "namespace", "left_semi")

    def resolve(self, judged: DataFrame, gathered: Gathered) -> Resolution:
        """Decide by ancestry: a record without a parent waits for it; all other valid records are accepted."""
        jobs, tables = gathered.jobs, gathered.tables
        candidates = judged.where(is_candidate())
        bucket = bucket_of(F.col("namespace"), tables.buckets)
        buckets = jobs.row(candidates.agg(F.collect_set(bucket).alias("buckets")))["buckets"]
        stored = tables.read(self.info.record_table).select("bucket", *KEY)
        stored = stored.unionByName(self.pruned(tables).select("bucket", *KEY)).where(in_buckets(buckets))
        missing = jobs.checkpoint(missing_parents(candidates, stored, self.links), "ancestry")
        lacks = F.size("missing") > 0
        refuted = F.size("reasons") > 0
        outcome = (
            F.when(F.col("kind").isin("foreign", "stray"), F.col("kind"))
            .when(is_internal_error(), F.lit("deferred"))
            .when(refuted, F.lit("rejected"))
            .when(lacks, F.lit("deferred"))
            .otherwise(F.lit("accepted"))
        )
        concluded = judged.join(missing, list(KEY), "left").withColumn("outcome", outcome)
        waits = F.coalesce(~refuted & lacks, F.lit(False))
        verdicts = {
            "reasons": F.when(waits, F.array(F.lit(self.missing_reason))).otherwise(F.col("reasons")),
            "evidence": F.when(waits, self._evidence()).otherwise(F.col("evidence")),
            "waits_for": F.when(waits, _hexed(F.col("missing"), "record:")).otherwise(
                waits_for(F.when(is_internal_error(), F.lit(NEXT_RULES)))
            ),
        }
        # All three expressions read the reasons before the change.
        return Resolution(concluded, concluded.withColumns(verdicts).select(*VERDICT, "is_recalled"))

    def _evidence(self) -> Column:
        """Return evidence in the form of `core.verdict`; ids need no escapes."""
        named = _hexed(F.slice("missing", 1, NAMED_PARENTS), "")
        return F.to_json(F.struct(F.struct(named.alias("missing")).alias(self.missing_reason)))


def _hexed(ids: Any, prefix: str) -> Column:
    return F.transform(ids, lambda each: F.concat(F.lit(prefix), F.lower(F.hex(each))))
