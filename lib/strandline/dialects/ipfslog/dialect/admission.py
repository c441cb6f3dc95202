"""Admission of a batch of logs: documents, blocks, identities, verdicts.

Parents are not waited for, so nothing here follows links: each block is judged by its own bytes and by its identity.
Source: ipfs-log's `Entry.verify`, `Identities.verifyIdentity` and `Log.join`.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.admission import Admission, AdmitRequest, TableInsert
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialects.ipfslog.dialect.batch import (
    IDENTITIES,
    MANIFESTS,
    Batch,
    read_batch,
    shared_bucket,
)
from strandline.dialects.ipfslog.dialect.claims import head_claims, stated_claims
from strandline.dialects.ipfslog.dialect.retained import ENTRIES, PRUNED
from strandline.dialects.ipfslog.frames import findings, pruned, records
from strandline.frames.buckets import bucket_of


def admit(scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Admission:
    """Judge one batch: which entries, identities and manifests are accepted, rejected or deferred."""
    batch = read_batch(scan, tables, jobs, request)
    told = jobs.row(
        batch.delivered.agg(
            *(
                F.count(F.when(F.col("fate") == fate, 1)).alias(fate)
                for fate in ("accepted", "rejected", "deferred", "foreign")
            ),
            F.count(F.when(F.col("is_fault"), 1)).alias("faults"),
        )
    )
    accepted = _accepted(batch, tables, jobs)
    new = jobs.row(
        batch.verdicts.where("is_row").agg(
            F.count(F.lit(1)).alias("rows"), F.count(F.when(~F.col("is_record"), 1)).alias("embedded")
        )
    )
    claims_known, claims_missing = head_claims(batch, tables, jobs)
    counts = {
        "read": told["accepted"] + told["rejected"] + told["deferred"],
        "accepted": told["accepted"],
        "rejected": told["rejected"],
        "deferred": told["deferred"],
        "foreign_blocks": told["foreign"],
        "identities_embedded": 0,
        "identity_verifications": new["rows"],
        "signatures_verified": accepted["signed"],
        "claims_known": claims_known,
        "claims_missing": claims_missing,
    }
    is_entry = (F.col("kind") == "entry") & F.col("outcome").isin("accepted", "deferred")
    named = batch.fates.where(is_entry).agg(F.count_distinct("namespace").alias("rows"))
    sources = scan.sources()
    return Admission(
        inserts=_inserts(batch, tables, jobs, request, accepted, new),
        counts=counts,
        findings=_findings(batch, sources, bool(told["rejected"] or told["deferred"])),
        namespaces=jobs.row(named)["rows"],
        resolved=None if batch.recalled is None else _resolved(batch, batch.recalled),
        faults=told["faults"],
        damaged=findings.first_damages(batch.delivered, batch.fates, batch.documents, sources)
        if told["rejected"]
        else None,
        per_file=batch.delivered.where("fate <> 'foreign'").groupBy("file_no")
        .agg(F.count(F.lit(1)).alias("records")),
        claims=stated_claims(batch, tables),
    )  # fmt: skip


def _accepted(batch: Batch, tables: Tables, jobs: Jobs) -> Row:
    """Return what the merges need to know of the blocks judged now: manifests, and the entries' buckets and times."""
    is_entry = (F.col("kind") == "entry") & (F.col("outcome") == "accepted")
    bucket = bucket_of(F.col("namespace"), tables.buckets)
    return jobs.row(
        batch.concluded.agg(
            F.count(F.when(F.col("kind") == "manifest", 1)).alias("manifests"),
            F.collect_set(F.when(is_entry, bucket)).alias("buckets"),
            F.min(F.when(is_entry, F.col("clock_time"))).alias("low"),
            F.max(F.when(is_entry, F.col("clock_time"))).alias("high"),
            F.count(F.when(F.col("is_signed"), 1)).alias("signed"),
        )
    )


def _inserts(
    batch: Batch, tables: Tables, jobs: Jobs, request: AdmitRequest, accepted: Row, new: Row
) -> tuple[TableInsert, ...]:
    """Return what is accepted, by table.

    Identities come before the entries that need them: after a kill between the two the next run finds them known. What
    was pruned is known too and does not come back.
    """
    found: list[TableInsert] = []
    shared = shared_bucket(tables)
    if new["rows"]:
        identities = records.as_ipfs_log_identity(batch.verdicts, bucket=shared)
        embedded = batch.verdicts.where("is_row AND NOT is_record").select("record_id")
        derived_keys = embedded if new["embedded"] else None
        found.append(
            TableInsert(
                IDENTITIES,
                identities,
                (shared,),
                derived_keys=derived_keys,
                derived_as="identities_embedded",
            )
        )
    if accepted["manifests"]:
        manifests = records.as_ipfs_log_manifest(batch.concluded, bucket=shared)
        found.append(TableInsert(MANIFESTS, manifests, (shared,)))
    if accepted["buckets"]:
        entries = records.as_ipfs_log_entry(batch.concluded, buckets=tables.buckets, run_id=request.run_id)
        pruned_entries = pruned.of_logs(tables.read(PRUNED)).where(F.col("bucket").isin(*accepted["buckets"]))
        if jobs.has_rows(pruned_entries):
            entries = entries.join(pruned_entries.select(*pruned.KEY), list(pruned.KEY), "left_anti")
        bounds = {"clock_time": (accepted["low"], accepted["high"])}
        found.append(TableInsert(ENTRIES, entries, tuple(sorted(accepted["buckets"])), bounds))
    return tuple(found)


def _resolved(batch: Batch, recalled: DataFrame) -> DataFrame:
    """Return the waiting rows that were judged now, but for those that a fault of ours makes wait on."""
    judged = batch.concluded.where("outcome <> 'deferred'").select("record_id")
    return recalled.join(judged, "record_id", "left_semi").select(
        "quarantine_id", "bucket", "namespace", "record_id"
    )


def _findings(batch: Batch, sources: DataFrame, has_bad: bool) -> DataFrame | None:
    found = findings.findings(batch.documents, batch.delivered, batch.fates, sources) if has_bad else None
    if batch.refuted is None:
        return found
    return batch.refuted if found is None else found.unionByName(batch.refuted)
