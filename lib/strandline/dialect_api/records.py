"""Admission of records that have an address and may need others, shared by all such dialects.

The stages of a batch: read documents (0 to 3, `read_content`), set aside blocks with earlier verdicts (4), judge the
distinct others by their own bytes (5, `judge`), add waiting records that can be decided now (`recall`), decide what
needs other records (6, `resolve`), then count and shape all. Actions start only through `jobs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import PRUNED
from strandline.dialect_api.admission import Admission, AdmitRequest, TableInsert
from strandline.dialect_api.batch import read_batch
from strandline.dialect_api.ports import InputScan, Jobs, PlainFile, SplitFormat, Tables
from strandline.dialect_api.stages import Batch, RecordStages
from strandline.frames import blocks, findings, known, verdicts
from strandline.frames.buckets import in_buckets
from strandline.frames.union import union
from strandline.kernels.blocks import RECORD


class RecordDialect(RecordStages):
    """A dialect of records with an address: implements `admit` by the stages that the dialect fills in."""

    def split_format(self, file: PlainFile) -> SplitFormat | None:
        """Return how a plain file may be split: a file of lines anywhere, other files not at all."""
        return SplitFormat("lines", None) if file.format == "lines" else None

    def admit(self, scan: InputScan, tables: Tables, jobs: Jobs, request: AdmitRequest) -> Admission:
        """Judge one batch: records are accepted, rejected or deferred."""
        batch = read_batch(self, scan, tables, jobs, request)
        found, delivered = batch.found, batch.delivered
        if found["refused"]:
            delivered = jobs.checkpoint(delivered, "verdicts")
        totals = jobs.row(verdicts.totals(delivered, batch.others))
        side = self.side_rows(batch, found)
        is_bad = bool(totals["rejected"] or totals["deferred"])
        if is_bad and not found["refused"]:
            delivered = jobs.checkpoint(delivered, "verdicts")
        found_bad = ([findings.findings(batch.documents, delivered, batch.sources)] if is_bad else []) + (
            [] if batch.refuted is None else [batch.refuted]
        )
        resolved = None
        if batch.recalled is not None and batch.others is not None:
            # Counts and a MERGE read them.
            resolved = jobs.checkpoint(_resolved(batch.recalled, batch.others), "resolved rows")
        return Admission(
            inserts=(*side.inserts, *self._records(batch, found, tables, jobs)),
            counts={
                "read": totals["accepted"] + totals["rejected"] + totals["deferred"],
                "accepted": totals["accepted"],
                "rejected": totals["rejected"],
                "deferred": totals["deferred"],
                "foreign_blocks": totals["foreign"],
                "signatures_verified": found["signed"],
                **side.counts,
            },
            findings=union(found_bad) if found_bad else None,
            namespaces=totals["namespaces"],
            resolved=resolved,
            faults=totals["faults"],
            damaged=findings.first_damages(delivered, batch.sources) if totals["rejected"] else None,
            per_file=partial(_per_file, delivered),
            claims=partial(self._stated_claims, batch, tables),
        )

    def _records(self, batch: Batch, found: Row, tables: Tables, jobs: Jobs) -> Iterator[TableInsert]:
        """Yield the insert of accepted records, without pruned ones, which must not return."""
        if not found["buckets"]:
            return
        buckets = tuple(sorted(found["buckets"]))
        accepted = batch.concluded.where(verdicts.is_accepted_record())
        records = self.as_records(accepted, tables.buckets)
        if tables.has_files(PRUNED):
            pruned = self.pruned(tables).where(in_buckets(buckets))
            if jobs.has_rows(pruned):
                records = records.join(pruned.select(*known.KEY), list(known.KEY), "left_anti")
        layout = contract(self.info.record_table).layout_column
        bounds = {} if layout is None else {layout: (found["low"], found["high"])}
        yield TableInsert(self.info.record_table, records, buckets, bounds)

    def _stated_claims(self, batch: Batch, tables: Tables) -> DataFrame:
        """Return each delivered record, accepted or not, with the records that it follows; lazy.

        Gives: file_no, namespace, record_id, name (hex of the id), follows (hex of the links).
        """
        columns = (*known.KEY, self.follows().cast("array<binary>").alias("follows"))
        every = batch.concluded.where((F.col("kind") == RECORD) & F.col("namespace").isNotNull()).select(
            *columns
        )
        every = every.unionByName(tables.read(self.info.record_table).select(*columns))
        skeletons = self.skeletons(self.pruned(tables))
        if skeletons is not None:
            every = every.unionByName(skeletons.select(*columns))
        known_records = every.dropDuplicates(list(known.KEY))
        delivered = batch.documents.where(blocks.is_block()).select("file_no", "record_id")
        return delivered.join(known_records, "record_id").select(
            "file_no", "namespace", "record_id", F.lower(F.hex("record_id")).alias("name"),
            F.transform("follows", lambda each: F.lower(F.hex(each))).alias("follows"),
        )  # fmt: skip


def _per_file(delivered: DataFrame) -> DataFrame:
    counted = delivered.where("status <> 'foreign'").groupBy("file_no")
    return counted.agg(F.count(F.lit(1)).alias("records"))


def _resolved(recalled: DataFrame, verdicts_on_them: DataFrame) -> DataFrame:
    """Return the waiting rows that no longer wait, or wait for another reason: then another row replaces them."""
    judged = verdicts_on_them.select("judge_id", "outcome", F.col("reasons").alias("now"))
    is_over = (F.col("outcome") != "deferred") | (F.col("now") != F.col("reasons"))
    return (
        recalled.join(judged, "judge_id")
        .where(is_over)
        .select("quarantine_id", "bucket", "namespace", "record_id")
    )
