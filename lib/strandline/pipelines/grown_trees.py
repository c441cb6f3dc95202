"""Compares the records of namespaces with the trees of their checkpoints, and grows the trees by the new records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import CHECKPOINT_LEAVES, CHECKPOINTS, PRUNED
from strandline.core.merkle import EMPTY_ROOT
from strandline.dialect_api.info import DialectInfo
from strandline.frames import checkpoints, trees
from strandline.frames.known import KEY, pruned_records
from strandline.frames.lift import map_batches
from strandline.frames.listed import is_listed
from strandline.frames.namespaces import only_namespaces
from strandline.frames.union import union
from strandline.kernels.notes import REFUSED_SCHEMA, refused_notes
from strandline.kernels.trees import CHUNK_LEAVES
from strandline.pipelines.changes import LARGE_CHANGES
from strandline.pipelines.checkpoint_request import CheckpointRequest
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.store import TableStore

REMOVED, ALTERED, NOTE_WRONG = "REMOVED", "ALTERED", "NOTE_WRONG"
"""What is wrong with a tree: a leaf has no record; the leaves have another root; the note does not open."""

MOST_LAID_OUT: Final = 32_000_000
"""Records of new trees of one chunk each that are sorted by one task a bucket."""


@dataclass(frozen=True, slots=True)
class Grown:
    """The trees of namespaces, and their new leaves, at one set of versions.

    `trees`: namespace, dialect, the columns `checkpoints.STATED` of the newest checkpoint (null without one), old_size
    (0 without one), new_size, new_root, lost (leaves without a record), first_lost, refused (why the note does not
    open), damage (null or one of the above), is_due (must be signed). `news`: namespace, record_id, position. Both are
    computed. `unchanged` namespaces were not looked at. `versions` are by table, `record_versions` by dialect.
    `is_laid_out`: each task has `news` in the write order of their table, with the column bucket.
    """

    trees: DataFrame
    news: DataFrame
    unchanged: int
    versions: Mapping[str, int]
    record_versions: Mapping[str, int]
    is_laid_out: bool = False


def grow(
    store: TableStore,
    infos: Sequence[DialectInfo],
    request: CheckpointRequest,
    chosen: tuple[str, ...] | None,
    jobs: SparkJobs,
) -> Grown | int:
    """Return the grown trees of namespaces of dialects; if none has news, their number.

    `chosen` are the namespaces, or None: all. Versions are pinned in this order: checkpoints, their leaves, records,
    pruned records. Another order could see a leaf without its record, or a deletion without its pruning.
    """
    tables = (CHECKPOINTS, CHECKPOINT_LEAVES, *(info.record_table for info in infos), PRUNED)
    versions = {table: store.version(table) for table in tables}
    at = {table: _at(store, table, versions[table], chosen) for table in tables}
    stated = at[CHECKPOINTS].where(is_listed("dialect", [info.name for info in infos]))
    newest = checkpoints.newest(stated)
    # Of a table without rows Spark knows by the limit that nothing need be joined.
    newest = (
        jobs.checkpoint(newest, "newest checkpoints") if store.has_files(CHECKPOINTS) else newest.limit(0)
    )
    records = union(checkpoints.ids_of(at[info.record_table], info.name) for info in infos)
    pruned = None
    if store.has_files(PRUNED):
        pruned = union(
            checkpoints.ids_of(pruned_records(at[PRUNED], info.kinds), info.name) for info in infos
        )
        pruned = pruned if jobs.has_rows(pruned) else None
    counts = checkpoints.counted(records if pruned is None else union([records, pruned]))
    every = checkpoints.with_counts(newest, counts).withColumn("is_due", _is_due(request))
    is_asked = (
        F.lit(True) if request.compares_all else (F.col("records") != F.col("old_size")) | F.col("is_due")
    )
    every = jobs.checkpoint(every.withColumn("is_asked", is_asked), "counts of records")
    total = jobs.row(
        every.agg(
            F.count(F.lit(1)).alias("namespaces"), F.count_if("is_asked").alias("asked"),
            F.count_if(F.col("is_asked") & F.col("size").isNotNull()).alias("stated"),
            F.max(F.when(F.col("is_asked"), F.col("records"))).alias("largest"),
            F.sum(F.when(F.col("is_asked"), F.col("records"))).alias("records"),
        )
    )  # fmt: skip
    if not total["asked"]:
        return int(total["namespaces"])
    if total["records"] >= LARGE_CHANGES:
        jobs.persist_on_disk()
    asked = every.where("is_asked").drop("is_asked", "records")
    is_all = total["asked"] == total["namespaces"]
    ids = _only(records, asked, is_all=is_all).drop("dialect")
    if pruned is not None:
        ids = union([ids, _only(pruned, asked, is_all=is_all).drop("dialect")]).distinct()
    are_new = not total["stated"]
    is_laid_out = are_new and total["largest"] <= CHUNK_LEAVES and total["records"] <= MOST_LAID_OUT
    if are_new:
        trees, news = _first(asked, ids, jobs, is_laid_out=is_laid_out)
    else:
        leaves = checkpoints.published(_only(at[CHECKPOINT_LEAVES], asked, is_all=is_all), stated)
        trees, news = _continued(asked, ids.select(*KEY), leaves, jobs)
    by_dialect = {info.name: versions[info.record_table] for info in infos}
    return Grown(
        trees, news, total["namespaces"] - total["asked"], versions, by_dialect, is_laid_out=is_laid_out
    )


def _first(
    asked: DataFrame, ids: DataFrame, jobs: SparkJobs, *, is_laid_out: bool
) -> tuple[DataFrame, DataFrame]:
    """Return `Grown.trees` and `Grown.news` of namespaces without a checkpoint."""
    empty = F.lit(0).cast("bigint").alias("old_size")
    placed = (
        trees.with_first_positions(ids)
        if is_laid_out
        else trees.with_positions(ids.select(*KEY, empty)).drop("old_size")
    )
    news = jobs.checkpoint(placed, "positions")
    roots = trees.roots(news.select(*KEY, "position", empty), in_place=is_laid_out)
    return _with_roots(asked.withColumns(_nothing_wrong()), roots, jobs), news


def _continued(
    asked: DataFrame, ids: DataFrame, leaves: DataFrame, jobs: SparkJobs
) -> tuple[DataFrame, DataFrame]:
    """Return the same of namespaces of which some have a checkpoint."""
    old_sizes = asked.select("namespace", "old_size")
    both = jobs.checkpoint(
        checkpoints.compared(ids, leaves).join(old_sizes, "namespace"), "records and leaves"
    )
    without = both.where("is_held AND position IS NULL").drop("position", "is_held")
    news = jobs.checkpoint(trees.with_positions(without), "positions")
    lost = both.where("NOT is_held").groupBy("namespace").agg(
        F.count(F.lit(1)).alias("lost"), F.min_by("record_id", "position").alias("first_lost")
    )  # fmt: skip
    stored = both.where("position IS NOT NULL").select(*news.columns)
    signed = asked.where("note IS NOT NULL")
    refused = map_batches(
        signed.select("namespace", "size", "root", "origin", "public_key", "note"), refused_notes, REFUSED_SCHEMA
    )  # fmt: skip
    verdicts = asked.join(lost, "namespace", "left").join(refused, "namespace", "left")
    return _with_roots(verdicts, trees.roots(union([stored, news])), jobs), news.drop("old_size")


def _with_roots(verdicts: DataFrame, roots: DataFrame, jobs: SparkJobs) -> DataFrame:
    found = roots.select(
        "namespace", F.col("size").alias("new_size"), F.col("root").alias("new_root"), "old_root"
    )
    joined = verdicts.join(found, "namespace", "left").withColumn("damage", _damage()).drop("old_root")
    return jobs.checkpoint(joined, "roots of trees")


def _nothing_wrong() -> dict[str, Column]:
    types = {"lost": "bigint", "first_lost": "binary", "refused": "string"}
    return {name: F.lit(None).cast(kind) for name, kind in types.items()}


def _damage() -> Column:
    """Return what is wrong with the tree of a namespace, or null."""
    stated = F.coalesce("root", F.lit(EMPTY_ROOT))
    is_same = F.col("new_root").isNotNull() & F.col("old_root").eqNullSafe(stated)
    return (
        F.when(F.col("lost") > 0, REMOVED)
        .when(~is_same, ALTERED)
        .when(F.col("refused").isNotNull(), NOTE_WRONG)
    )


def _is_due(request: CheckpointRequest) -> Column:
    if request.signer is None:
        return F.lit(False)
    return ~checkpoints.is_signed_by(request.signer.origin, request.signer.public_key)


def _at(store: TableStore, table: str, version: int, chosen: tuple[str, ...] | None) -> DataFrame:
    rows = store.read_version(table, version)
    return rows if chosen is None else only_namespaces(rows, chosen, store.buckets)


def _only(rows: DataFrame, asked: DataFrame, *, is_all: bool) -> DataFrame:
    """Keep the rows of the asked namespaces; without a join if these are all."""
    return rows if is_all else rows.join(asked.select("namespace"), "namespace", "left_semi")
