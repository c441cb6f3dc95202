"""One batch: what was read and what waited, judged, with what became of each block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.reasons import rules_version
from strandline.core.ids import bucket_of as bucket_of_namespace
from strandline.dialect_api.admission import AdmitRequest
from strandline.dialect_api.ports import InputScan, Jobs, Tables
from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.dialect.retained import ENTRIES, PRUNED
from strandline.dialects.ipfslog.frames import before, blocks, fates, findings, identities, pruned
from strandline.dialects.ipfslog.info import PROFILE
from strandline.dialects.ipfslog.types import PROFILES, SHARED_NAMESPACE, Profile

IDENTITIES = "ipfs_log_identity"
MANIFESTS = "ipfs_log_manifest"


@dataclass(frozen=True, slots=True)
class Batch:
    """A run's documents, and what became of them.

    `concluded` are the blocks that were judged now, waiting ones too, with outcome (`identities.concluded`); `fates`
    is what became of every block that was delivered, `delivered` of every document. `verdicts` are the identities
    verified by this run. `recalled` are the waiting rows of `quarantine` whose identity is held now, `refuted` the
    findings of those of them that were not accepted; None where nothing waits for what came.
    """

    documents: DataFrame
    concluded: DataFrame
    fates: DataFrame
    delivered: DataFrame
    verdicts: DataFrame
    recalled: DataFrame | None
    refuted: DataFrame | None


def read_batch(scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Batch:
    """Read all that was delivered, judge each block that no earlier run has judged, and what waited for it."""
    profile = _profile(scan)
    documents = jobs.persist(blocks.with_bucket(_documents(scan, request), tables.buckets), "documents")
    known = _known(documents, tables, jobs, request)
    to_judge = blocks.blocks(documents)
    if known is not None:
        to_judge = to_judge.join(known.select("judge_id"), "judge_id", "left_anti")
    judged = jobs.persist(blocks.judged(to_judge, profile), "blocks")
    waiting = fates.waiting(tables.read("quarantine"))
    waits = jobs.has_rows(waiting)
    stored = _stored(judged, waiting if waits else None, tables, jobs)
    verdicts = _verdicts(judged, stored, jobs)
    book = identities.book(verdicts, F.col("is_row"))
    if stored is not None:
        book = book.unionByName(identities.book(stored, F.lit(True)))
    book = jobs.checkpoint(book, "identities")
    concluded = identities.concluded(judged, book)
    of_blocks = _fates(concluded, jobs)
    recalled = refuted = None
    of_blocks = _within_limit(of_blocks, waiting, jobs, request)
    if waits:
        recalled = _recalled(waiting, book, jobs)
    parts = [of_blocks]
    if recalled is not None:
        again = jobs.persist(blocks.judged(blocks.waiting_blocks(recalled), profile), "waiting entries")
        of_waiting = identities.concluded(again, book)
        concluded = concluded.unionByName(of_waiting)
        fates_of_waiting = _fates(of_waiting, jobs)
        refuted = findings.recalled_findings(again, fates_of_waiting)
        parts.append(fates_of_waiting)
    if known is not None:
        if recalled is not None:
            # What waited and is judged now has a new fate.
            of_recalled = recalled.select(F.col("record_id").alias("judge_id"))
            known = known.join(of_recalled, "judge_id", "left_anti")
        parts.append(known)
    every = reduce(DataFrame.unionByName, [part.select(*before.FATES) for part in parts])
    delivered = jobs.checkpoint(fates.delivered(documents, every), "fates")
    return Batch(documents, concluded, every, delivered, verdicts, recalled, refuted)


def _profile(scan: InputScan) -> Profile:
    chosen = scan.options.choices[PROFILE]
    return next(profile for profile in PROFILES if profile == chosen)


def shared_bucket(tables: Tables) -> int:
    """Return the bucket of what belongs to no log."""
    return bucket_of_namespace(SHARED_NAMESPACE, tables.buckets)


def _documents(scan: InputScan, request: AdmitRequest) -> DataFrame:
    found: list[DataFrame] = []
    pieces = scan.pieces(kernels.read_content, kernels.DOCUMENT_FIELDS)
    if pieces is not None:
        found.append(pieces.select(*blocks.DOCUMENT_COLUMNS))
    if request.replay is not None:
        found.append(blocks.replayed_documents(request.replay, scan.options))
    return reduce(DataFrame.unionByName, found)


def _known(documents: DataFrame, tables: Tables, jobs: Jobs, request: AdmitRequest) -> DataFrame | None:
    """Return the fates of blocks that earlier runs have found, or None: entries held or pruned, verdicts, waiting ones.

    Rejected rows that are judged again are to have no memory.
    """
    asked = before.asked_for(documents)
    buckets = jobs.row(asked.agg(F.collect_set("bucket").alias("buckets")))["buckets"]
    found: list[DataFrame] = []
    for table in (tables.read(ENTRIES), pruned.of_logs(tables.read(PRUNED))) if buckets else ():
        entries = table.where(F.col("bucket").isin(*buckets))
        if jobs.has_rows(entries):
            asked = asked.join(found[0].select("judge_id"), "judge_id", "left_anti") if found else asked
            found.append(jobs.checkpoint(before.held(asked, entries), "known entries"))
    rows = before.rows_with_verdict(
        tables.read("quarantine"), rules_version=rules_version(), rejected=request.replay is None
    )
    if jobs.has_rows(rows):
        remembered = before.remembered(asked, rows)
        for each in found:
            remembered = remembered.join(each.select("judge_id"), "judge_id", "left_anti")
        found.append(jobs.checkpoint(remembered, "known verdicts"))
    if not found:
        return None
    known = reduce(DataFrame.unionByName, found)
    return known if jobs.has_rows(known) else None


def _stored(judged: DataFrame, waiting: DataFrame | None, tables: Tables, jobs: Jobs) -> DataFrame | None:
    """Return the rows of `ipfs_log_identity` that this run needs, or None if there are none."""
    rows = tables.read(IDENTITIES).where(F.col("bucket") == shared_bucket(tables))
    if not jobs.has_rows(rows):
        return None
    needed = judged.where("identity_digest IS NOT NULL").select("identity_digest")
    if waiting is not None:
        needed = needed.unionByName(waiting.select("identity_digest"))
    named = needed.distinct().withColumnRenamed("identity_digest", "record_id")
    return jobs.checkpoint(rows.join(named, "record_id", "left_semi"), "known identities")


def _verdicts(judged: DataFrame, stored: DataFrame | None, jobs: Jobs) -> DataFrame:
    met = identities.met(judged)
    if stored is not None:
        met = met.join(stored.select("record_id"), "record_id", "left_anti")
    met = jobs.checkpoint(met, "identities")
    return jobs.checkpoint(identities.new_rows(identities.verified(met), met), "verified identities")


def _fates(concluded: DataFrame, jobs: Jobs) -> DataFrame:
    is_refuted = concluded.where("outcome = 'refuted'")
    refuted = identities.refuted(concluded) if jobs.has_rows(is_refuted) else None
    return jobs.checkpoint(fates.fates(concluded, refuted), "fates")


def _recalled(waiting: DataFrame, book: DataFrame, jobs: Jobs) -> DataFrame | None:
    """Return the waiting rows whose identity is held now, or None."""
    known = book.where("is_row").select("identity_digest")
    recalled = jobs.checkpoint(waiting.join(known, "identity_digest", "left_semi"), "waiting")
    return recalled if jobs.has_rows(recalled) else None


def _within_limit(of_blocks: DataFrame, waiting: DataFrame, jobs: Jobs, request: AdmitRequest) -> DataFrame:
    """Return the fates, blocks beyond the limit of waiting records of their namespace turned away."""
    limit = request.deferred_per_namespace
    deferred = of_blocks.where(
        (F.col("outcome") == "deferred") & F.array_contains("reasons", "IDENTITY_MISSING")
    )
    news = deferred.groupBy("namespace").agg(F.count(F.lit(1)).alias("news"))
    waits = waiting.groupBy("namespace").agg(F.count(F.lit(1)).alias("waits"))
    full = news.join(waits, "namespace", "left").where(F.col("news") + F.coalesce("waits", F.lit(0)) > limit)
    full = jobs.checkpoint(full.select("namespace", F.coalesce("waits", F.lit(0)).alias("waits")), "limit")
    if not jobs.has_rows(full):
        return of_blocks
    return jobs.checkpoint(fates.limited(of_blocks, full, limit), "records over the limit")
