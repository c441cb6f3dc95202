"""The stages of admission that are specific to logs: entries are judged by their block and by their identity.

An entry does not wait for its parents, so no links are followed here. Source: `Entry.verify`,
`Identities.verifyIdentity` and `Log.join` of ipfs-log.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from strandline.core.ids import bucket_of as bucket_of_namespace
from strandline.dialect_api.admission import TableInsert
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialect_api.records import RecordDialect
from strandline.dialect_api.stages import Batch, Gathered, Resolution, SideRows
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.info import INFO
from strandline.dialects.ipfslog.spark import identities
from strandline.dialects.ipfslog.spark.identities import BatchIdentities
from strandline.dialects.ipfslog.spark.retained import skeletons
from strandline.dialects.ipfslog.spark.tables import ENTRIES, IDENTITIES, MANIFESTS
from strandline.dialects.ipfslog.types import SHARED_NAMESPACE
from strandline.frames.blocks import is_block
from strandline.frames.buckets import bucket_of
from strandline.frames.verdicts import VERDICT, is_internal_error, waits_for
from strandline.kernels.guard import NEXT_RULES


class LogAdmission(RecordDialect):
    """Admission of logs: entries, identities and manifests."""

    info = INFO
    document_fields = kernels.DOCUMENT_FIELDS
    judged = kernels.JUDGED
    links = "next"
    claims = ("claimed", "snapshot_id")
    open_reasons = ("LOG_ID_MISMATCH", "NOT_AN_ENTRY")

    read_content = staticmethod(kernels.read_content)
    judge = staticmethod(kernels.judge)
    replay = staticmethod(kernels.replay)

    def claims_in_evidence(self) -> Mapping[str, Column]:
        """Return the address that a rejected block was delivered with, from its evidence; null if it was right."""
        found = [F.get_json_object("evidence", "$.HASH_MISMATCH.claimed")]
        for code in ("CID_MALFORMED", "CID_UNSUPPORTED"):
            is_of_block = F.get_json_object("evidence", f"$.{code}.field") == "cid"
            found.append(F.when(is_of_block, F.get_json_object("evidence", f"$.{code}.actual")))
        return {"claimed": F.coalesce(*found)}

    def gather(
        self, judged: DataFrame, waiting: DataFrame | None, tables: Tables, jobs: Jobs
    ) -> BatchIdentities:
        """Return the identities that the batch needs; the new ones are verified."""
        return identities.gathered(judged, waiting, _shared_bucket(tables), tables, jobs)

    def recall(self, waiting: DataFrame, gathered: BatchIdentities) -> DataFrame:
        """Return the waiting entries whose identity is known now."""
        known = gathered.known.where("is_row").select("identity_digest")
        named = waiting.withColumn("identity_digest", identities.waited_for())
        return named.join(known, "identity_digest", "left_semi").select(*waiting.columns)

    def resolve(self, judged: DataFrame, gathered: BatchIdentities) -> Resolution:
        """Decide each block, with the checks of its identity."""
        concluded = identities.concluded(judged, gathered.known)
        identity = F.concat(F.lit(identities.WAITS), F.lower(F.hex("identity_digest")))
        missing = (F.col("outcome") == "deferred") & ~is_internal_error()
        is_refuted = F.col("outcome") == "refuted"
        awaited = F.when(missing, identity).when(is_internal_error(), F.lit(NEXT_RULES))
        found = concluded.withColumns(
            {
                "waits_for": waits_for(awaited),
                "outcome": F.when(is_refuted, F.lit("rejected")).otherwise(F.col("outcome")),
                "reasons": F.when(missing, F.array(F.lit("IDENTITY_MISSING"))).otherwise(F.col("reasons")),
            }
        ).select(*VERDICT, "is_recalled")
        measured = self.measure(concluded, gathered)
        if measured["refuted"]:
            found = identities.with_refutations(found, identities.refuted(concluded))
        return Resolution(concluded, found, measured)

    def measures(self) -> Mapping[str, Column]:
        """Count manifests, blocks that state heads, blocks that name new identities, refuted entries."""
        return {
            "manifests": F.count_if(F.col("kind") == "manifest"),
            "heads": F.count_if(F.size("heads") > 0),
            "identities": F.count_if(F.col("is_new") & F.col("is_row")),
            "refuted": F.count_if(F.col("outcome") == "refuted"),
        }

    def side_rows(self, batch: Batch, found: Row) -> SideRows:
        """Return new identities, then manifests, and the counts of head claims.

        Identities are written before the entries that need them: after a kill between the two, the next run knows
        them.
        """
        gathered, shared = batch.gathered, _shared_bucket(batch.gathered.tables)
        inserts: list[TableInsert] = []
        rows = 0
        if found["identities"]:
            verified: DataFrame = gathered.verified
            rows, embedded = _new_identities(verified, gathered.jobs)
            keys = verified.where("is_row AND NOT is_record").select("record_id")
            inserts.append(
                TableInsert(
                    IDENTITIES, _as_ipfs_log_identity(verified, shared), (shared,),
                    derived_keys=keys if embedded else None, derived_as="identities_embedded",
                    is_derived=embedded == rows,
                )
            )  # fmt: skip
        if found["manifests"]:
            manifests = _without_stored(_as_ipfs_log_manifest(batch.concluded, shared), gathered)
            if manifests is not None:
                inserts.append(TableInsert(MANIFESTS, manifests, (shared,)))
        claims_known = claims_missing = 0
        if batch.read["claims"] or found["heads"]:
            claims_known, claims_missing = _head_claims(batch, self.pruned(gathered.tables))
        counts = {
            "identities_embedded": 0, "identity_verifications": rows, "claims_known": claims_known,
            "claims_missing": claims_missing,
        }  # fmt: skip
        return SideRows(tuple(inserts), counts)

    def as_records(self, accepted: DataFrame, buckets: int) -> DataFrame:
        """Shape accepted entries to the contract of `ipfs_log_entry`.  Rows: one per row."""
        return accepted.select(
            "namespace", bucket_of(F.col("namespace"), buckets).alias("bucket"), "record_id", "cid", "variant",
            "log_id", "key", "sig", "clock_time", "clock_id", F.coalesce("writer", "writer_id").alias("writer"),
            "identity_digest", "block", "next", "refs", "payload_json", "value_json", "ops", "flags",
            "source",
        )  # fmt: skip

    def skeletons(self, pruned_rows: DataFrame) -> DataFrame | None:
        """Return the nodes of pruned entries."""
        return skeletons(pruned_rows)


def _new_identities(verified: DataFrame, jobs: Jobs) -> tuple[int, int]:
    """Return how many identities become rows, and how many of them were only embedded."""
    new = jobs.row(
        verified.where("is_row").agg(
            F.count(F.lit(1)).alias("rows"), F.count_if(~F.col("is_record")).alias("embedded")
        )
    )
    return new["rows"], new["embedded"]


def _without_stored(manifests: DataFrame, gathered: Gathered) -> DataFrame | None:
    """Return the manifests that are not stored yet, or None: a MERGE of none would cost more than this question."""
    tables, jobs = gathered.tables, gathered.jobs
    stored = tables.read(MANIFESTS).where(F.col("bucket") == _shared_bucket(tables))
    if not (tables.has_files(MANIFESTS) and jobs.has_rows(stored)):
        return manifests
    new = manifests.join(stored.select("record_id"), "record_id", "left_anti")
    return new if jobs.has_rows(new) else None


def _head_claims(batch: Batch, pruned: DataFrame) -> tuple[int, int]:
    """Return how many head claims name an entry that is stored after this run or was pruned, and how many do not."""
    tables, jobs = batch.gathered.tables, batch.gathered.jobs
    of_files = batch.documents.where("kind = 'claim'").select("record_id")
    of_manifests = (
        batch.documents.where(is_block())
        .join(batch.judged.where("heads IS NOT NULL").select("judge_id", "heads"), "judge_id")
        .select(F.explode("heads").alias("record_id"))
    )
    claims = of_files.unionByName(of_manifests).groupBy("record_id").agg(F.count(F.lit(1)).alias("claims"))
    accepted = batch.verdicts.where("kind = 'record' AND outcome = 'accepted'").select("record_id").distinct()
    marked = claims.join(accepted.withColumn("is_accepted", F.lit(True)), "record_id", "left")
    counted = marked.groupBy().agg(
        F.coalesce(F.sum("claims"), F.lit(0)).alias("all"),
        F.coalesce(F.sum(F.when(F.col("is_accepted"), F.col("claims"))), F.lit(0)).alias("known"),
    )
    found = jobs.row(counted)
    known = found["known"]
    if known < found["all"]:
        rest = marked.where("is_accepted IS NULL AND record_id IS NOT NULL")
        ids = tables.read(ENTRIES).select("record_id").unionByName(pruned.select("record_id")).distinct()
        older = rest.join(ids, "record_id", "left_semi")
        known += jobs.row(older.agg(F.coalesce(F.sum("claims"), F.lit(0)).alias("claims")))["claims"]
    return known, found["all"] - known


def _shared_bucket(tables: Tables) -> int:
    """Return the bucket of identities and manifests, which belong to no log."""
    return bucket_of_namespace(SHARED_NAMESPACE, tables.buckets)


def _as_ipfs_log_identity(verified: DataFrame, bucket: int) -> DataFrame:
    """Shape identities to the contract of `ipfs_log_identity`.  Rows: one per identity that becomes a row."""
    return verified.where("is_row").select(
        F.lit(SHARED_NAMESPACE).alias("namespace"), F.lit(bucket).cast("int").alias("bucket"), "record_id", "block",
        "cid", "id", "public_key", "sig_id", "sig_public_key", "type", "valid", "source",
    )  # fmt: skip


def _as_ipfs_log_manifest(concluded: DataFrame, bucket: int) -> DataFrame:
    """Shape manifests to the contract of `ipfs_log_manifest`.  Rows: one per manifest."""
    return concluded.where("kind = 'manifest'").select(
        F.lit(SHARED_NAMESPACE).alias("namespace"), F.lit(bucket).cast("int").alias("bucket"), "record_id", "block",
        "cid", F.col("manifest_kind").alias("kind"), "log_id", "name", "type", "access", "write", "source",
    )  # fmt: skip
