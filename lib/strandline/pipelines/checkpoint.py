"""`checkpoint`: grows the Merkle tree of each namespace by its new records, and signs its root."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import CHECKPOINT_LEAVES, CHECKPOINTS
from strandline.core.merkle import EMPTY_ROOT
from strandline.dialect_api.dialect import Dialect
from strandline.frames.buckets import bucket_of
from strandline.frames.lift import map_batches
from strandline.kernels.notes import NOTE_SCHEMA, signed_notes
from strandline.pipelines.checkpoint_request import CheckpointRequest, Signer
from strandline.pipelines.grown_trees import Grown, grow
from strandline.pipelines.named_namespaces import named
from strandline.pipelines.report import Report
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.runs import RunResult, record_run
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import lake
from strandline.tables.store import TableStore
from strandline.tables.written import Written

COUNTS: Final = ("checkpoints", "leaves", "signed", "unchanged", "damaged", "overtaken")
DAMAGED_LISTED: Final = 20
"""Namespaces with a damaged tree that a report lists."""


def run(
    store: TableStore, dialects: Iterable[Dialect], request: CheckpointRequest, context: RunContext
) -> Report:
    """Write a checkpoint of each namespace that has news, or that must be signed. Trees only grow.

    Before a tree grows, its stored root is found again from the stored leaves, each leaf in the records or the pruned
    records, and the tree in its note. A namespace where one fails is damaged: it gets no checkpoint, the member
    `damaged` lists the first ones, and the outcome is `found`. `counts` has `checkpoints` and their `leaves`, `signed`
    ones, namespaces that are `unchanged`, `damaged` or `overtaken` (another run wrote their checkpoint meanwhile).

    A kill leaves leaves without a checkpoint, which are ignored; the same command then writes the same trees.
    Raises: UsageError LAKE_NOT_FOUND, LAKE_FOREIGN, CONTRACT_NEWER, CONTRACT_OLDER, TABLE_MISSING; NAMESPACE_UNKNOWN,
    NAMESPACE_AMBIGUOUS, DIALECTS_DIFFER; FaultError WRITE_CONFLICT.
    """
    lake.check_there(store)
    every = tuple(dialects)
    names = named(store, every, request, context)
    infos = [
        each.info
        for each in every
        if (not request.dialects or each.info.name in request.dialects)
        and not names.leaves_out(each.info.name)
        and (store.stored_bytes(each.info.record_table) or store.stored_bytes(CHECKPOINTS))
    ]
    chosen = tuple(sorted(each for theirs in names.chosen.values() for each in theirs))
    tables = {table for info in infos for table in info.tables}
    work_bytes = sum(store.stored_bytes(info.record_table) for info in infos)
    result = RunResult(counts=dict.fromkeys(COUNTS, 0), members=_members(request.signer, ()))
    if infos:
        with (
            store.sized(
                work_bytes + store.stored_bytes(CHECKPOINT_LEAVES), (*tables, CHECKPOINTS, CHECKPOINT_LEAVES)
            ),
            SparkJobs(context.progress) as jobs,
        ):
            context.progress.stage("comparing records with trees")
            grown = grow(store, infos, request, chosen if names.chosen else None, jobs)
            if isinstance(grown, int):
                result = replace(result, counts={**result.counts, "unchanged": grown}, namespaces=grown)
            else:
                result = _write(store, request.signer, grown, context, jobs)
    return record_run(store, context, result)


def _members(signer: Signer | None, damaged: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "origin": None if signer is None else signer.origin,
        "public_key": None if signer is None else signer.public_key.hex(),
        "damaged": list(damaged),
    }


def _write(
    store: TableStore, signer: Signer | None, grown: Grown, context: RunContext, jobs: SparkJobs
) -> RunResult:
    """Write leaves, then checkpoints, whose rows are the commit points."""
    trees = grown.trees.withColumn("bucket", bucket_of(F.col("namespace"), store.buckets))
    is_next = F.col("damage").isNull() & ((F.col("new_size") > F.col("old_size")) | F.col("is_due"))
    found = jobs.row(
        trees.agg(
            F.count(F.lit(1)).alias("namespaces"), F.count("damage").alias("damaged"),
            F.count_if(is_next).alias("checkpoints"),
            F.coalesce(F.sum(F.when(is_next, F.col("new_size") - F.col("old_size"))), F.lit(0)).alias("leaves"),
            F.collect_set(F.when(is_next, F.col("bucket"))).alias("buckets"),
            F.min(F.when(is_next, F.col("old_size"))).alias("low"), F.max("new_size").alias("high"),
        )
    )  # fmt: skip
    attempt = f"{store.run_id}-{store.attempt}".rstrip("-")
    ours = {
        "checkpoints": found["checkpoints"], "leaves": found["leaves"],
        "signed": 0 if signer is None else found["checkpoints"],
    }  # fmt: skip
    written: dict[str, Written] = {}
    if found["checkpoints"]:
        place = tuple(sorted(found["buckets"]))
        rows = _rows(trees.where(is_next), signer, grown).withColumn("attempt", F.lit(attempt))
        if found["leaves"]:
            context.progress.stage("writing leaves")
            leaves = _leaves(store, trees, grown, are_all=not found["damaged"]).withColumn(
                "attempt", F.lit(attempt)
            )
            bounds = {"position": (found["low"], found["high"])}
            written[CHECKPOINT_LEAVES] = store.merge_new(
                CHECKPOINT_LEAVES, leaves, place, bounds, presorted=grown.is_laid_out
            )
        context.faults.reach("checkpoint.leaves")
        context.progress.stage("signing and writing checkpoints" if signer else "writing checkpoints")
        written[CHECKPOINTS] = store.merge_new(CHECKPOINTS, rows, place, {})
        context.faults.reach("checkpoint.row")
        if written[CHECKPOINTS].inserted < found["checkpoints"]:
            ours = _ours(store, attempt, jobs)
    counts = {
        **ours, "damaged": found["damaged"], "overtaken": found["checkpoints"] - ours["checkpoints"],
        "unchanged": grown.unchanged + found["namespaces"] - found["damaged"] - found["checkpoints"],
    }  # fmt: skip
    return RunResult(
        outcome="found" if found["damaged"] else "ok",
        counts={name: counts[name] for name in COUNTS},
        namespaces=found["namespaces"] + grown.unchanged,
        read_versions={
            table: version
            for table, version in grown.versions.items()
            if table not in (CHECKPOINTS, CHECKPOINT_LEAVES)
        },
        written=written,
        members=_members(signer, _damages(trees, jobs) if found["damaged"] else ()),
    )


def _ours(store: TableStore, attempt: str, jobs: SparkJobs) -> dict[str, int]:
    """Return what counts of this run: a row that another one wrote meanwhile was not inserted, so its leaves do not."""
    ours = store.read(CHECKPOINTS).where(F.col("attempt") == attempt)
    return jobs.row(
        ours.agg(
            F.count(F.lit(1)).alias("checkpoints"), F.count("note").alias("signed"),
            F.coalesce(F.sum(F.col("size") - F.col("prev_size")), F.lit(0)).alias("leaves"),
        )
    ).asDict()  # fmt: skip


def _leaves(store: TableStore, trees: DataFrame, grown: Grown, *, are_all: bool) -> DataFrame:
    """Return the rows of `checkpoint_leaf` without attempt: the new leaves of trees that are not damaged."""
    news = grown.news
    if grown.is_laid_out:
        return news
    if not are_all:
        news = news.join(trees.where("damage IS NULL").select("namespace"), "namespace", "left_semi")
    return news.withColumn("bucket", bucket_of(F.col("namespace"), store.buckets))


def _rows(trees: DataFrame, signer: Signer | None, grown: Grown) -> DataFrame:
    """Return rows of `checkpoint` without attempt, run_id and landed_at."""
    by_dialect = (F.lit(each) for pair in grown.record_versions.items() for each in pair)
    record_version = F.create_map(*by_dialect)[F.col("dialect")]
    rows = trees.select(
        "namespace", "bucket",
        (F.coalesce("seq", F.lit(0)) + 1).cast("bigint").alias("seq"),
        "dialect",
        F.col("new_size").alias("size"), F.col("new_root").alias("root"),
        F.col("old_size").alias("prev_size"), F.coalesce("root", F.lit(EMPTY_ROOT)).alias("prev_root"),
        record_version.cast("bigint").alias("record_version"),
    )  # fmt: skip
    none = F.lit(None)
    if signer is None:
        return rows.withColumns(
            {"origin": none.cast("string"), "public_key": none.cast("binary"), "note": none.cast("string")}
        )
    notes = map_batches(
        rows.select("namespace", "size", "root"), signed_notes, NOTE_SCHEMA, origin=signer.origin, seed=signer.seed
    )  # fmt: skip
    named_key = {"origin": F.lit(signer.origin), "public_key": F.lit(signer.public_key)}
    return rows.withColumns(named_key).join(notes, "namespace")


def _damages(trees: DataFrame, jobs: SparkJobs) -> list[dict[str, Any]]:
    """Return the first damaged trees, by namespace."""
    columns = ("namespace", "damage", "seq", "size", "lost", "first_lost", "refused")
    first = trees.where("damage IS NOT NULL").select(*columns).orderBy("namespace").limit(DAMAGED_LISTED)
    rows = jobs.row(first.agg(F.array_sort(F.collect_list(F.struct(*columns))).alias("rows")))["rows"]
    return [
        {
            "namespace": row["namespace"], "damage": row["damage"], "seq": row["seq"], "size": row["size"],
            "lost": row["lost"] or 0,
            "first_lost": None if row["first_lost"] is None else bytes(row["first_lost"]).hex(),
            "note": row["refused"],
        }
        for row in rows
    ]  # fmt: skip
