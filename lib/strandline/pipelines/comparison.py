"""Compares the records of one dialect in two lakes: by counts, then by set hashes, then by ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import PRUNED
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.pruning import form_of
from strandline.frames import differences
from strandline.frames.buckets import in_buckets
from strandline.frames.known import pruned_records
from strandline.frames.union import union
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.other_lake import OtherLake
from strandline.tables.reads import TableReads

KEY = ("bucket", "namespace", "record_id")
SHOWN = 50


@dataclass(frozen=True, slots=True)
class Comparison:
    """The records that a lake lacks of another. `missing` has differences.ID_COLUMNS, checkpointed; None if none.

    `namespaces` counts those in the other lake, `equal` those with equal sets, `behind` those with missing records.
    `records` is the number of missing records; `plan` lists the first namespaces, the most missing records first.
    `pruned_there` counts records that this lake never had and the other pruned, in `incomplete` namespaces.
    `incomparable` counts rows of the other lake with an invalid namespace or id.
    """

    missing: DataFrame | None
    namespaces: int = 0
    equal: int = 0
    behind: int = 0
    records: int = 0
    pruned_there: int = 0
    incomplete: int = 0
    incomparable: int = 0
    plan: tuple[Mapping[str, object], ...] = ()


def compare(here: TableReads | None, there: OtherLake, dialect: Dialect, jobs: SparkJobs) -> Comparison:
    """Return what the lake `here` lacks of `there`; `here` is None for a lake that does not exist yet.

    A namespace with different counts is unequal. Where counts are equal, set hashes are compared, and hashes of parts
    of the set limit the join by ids. A set is the stored and the pruned records: what was pruned here is not missing,
    and what was pruned there cannot be copied.
    """
    tables = dialect.info.ingest_tables
    every = _with_pruned(union(_named(there.ids(table), table) for table in tables), there, dialect)
    if not jobs.has_rows(every):
        return Comparison(None)
    theirs = every.where("is_comparable").select(*differences.ID_COLUMNS, "is_pruned")
    ours = theirs.limit(0)
    if here is not None:
        stored = union(_named(here.read(table).select(*KEY), table) for table in tables)
        ours = _with_pruned(stored, here, dialect)
    counts = jobs.checkpoint(differences.compared(every, ours), "compared namespaces")
    alike = (F.col("there") == F.col("here")) & (F.col("there") > 0)
    totals = jobs.row(
        counts.agg(
            F.count_if(F.col("there") > 0).alias("namespaces"), F.count_if(alike).alias("alike"),
            F.sum("incomparable").alias("incomparable"),
        )
    )  # fmt: skip
    parts, unequal = theirs.limit(0).select("namespace", F.col("record_id").alias("first")), 0
    if totals["alike"]:
        parts = jobs.checkpoint(differences.unequal_parts(theirs, ours, counts), "unequal parts")
        unequal = jobs.row(parts.agg(F.count_distinct("namespace").alias("namespaces")))["namespaces"]
    equal = totals["alike"] - unequal
    if equal == totals["namespaces"]:
        return Comparison(None, equal, equal, incomparable=totals["incomparable"])
    lacking = jobs.checkpoint(differences.missing(theirs, ours, counts, parts), "missing records")
    plan = jobs.checkpoint(differences.planned(lacking, counts), "plan")
    found = jobs.row(
        plan.agg(
            F.count_if(F.col("missing") > 0).alias("behind"), F.sum("missing").alias("records"),
            F.count_if(F.col("pruned_there") > 0).alias("incomplete"),
            F.sum("pruned_there").alias("pruned_there"),
        )
    )  # fmt: skip
    first = plan.orderBy(F.col("missing").desc(), F.col("pruned_there").desc(), "namespace").limit(SHOWN)
    return Comparison(
        lacking.where(~F.col("is_pruned")) if found["behind"] else None,
        totals["namespaces"], equal, found["behind"], found["records"] or 0, found["pruned_there"] or 0,
        found["incomplete"], totals["incomparable"],
        tuple({"dialect": dialect.info.name, **row.asDict()} for row in first.collect()),
    )  # fmt: skip


def _with_pruned(stored: DataFrame, tables: TableReads | OtherLake, dialect: Dialect) -> DataFrame:
    """Add the pruned records of the dialect, erased ones among them, and is_pruned.

    `stored` was read before: a record that a collection deletes meanwhile is then in one of both.
    """
    if not tables.has_files(PRUNED):
        return stored.withColumn("is_pruned", F.lit(False))
    rows = pruned_records(tables.read(PRUNED), dialect.info.kinds, form_of(dialect.info)).select(*KEY)
    named = _named(rows, dialect.info.record_table).withColumn("is_comparable", F.lit(True))
    return differences.with_pruned(stored, named)


def _named(ids: DataFrame, table: str) -> DataFrame:
    return ids.withColumn("table", F.lit(table))


def rows_of(found: Comparison, there: OtherLake, dialect: Dialect, jobs: SparkJobs) -> dict[str, DataFrame]:
    """Return the missing rows by table, with the rules that they break; only files of their buckets are opened.

    Rows:   `records` plus `incomparable` of the comparison.
    """
    rows: dict[str, list[DataFrame]] = {}
    if found.missing is not None:
        missing = found.missing
        sizes = (F.collect_set("bucket").alias("buckets"), differences.key_bytes().alias("bytes"))
        for row in missing.groupBy("table").agg(*sizes).collect():
            table = row["table"]
            ids = missing.where(F.col("table") == table).select(*KEY)
            of_buckets = there.rows(table).where(in_buckets(sorted(row["buckets"])))
            # The ids are of comparable rows, so these are, too.
            rows[table] = [differences.matching(of_buckets, ids, row["bytes"])]
    for table in dialect.info.ingest_tables if found.incomparable else ():
        rows.setdefault(table, []).append(there.incomparable(table))
    # Kept, so that Spark cannot evaluate the rules before the join, on every row of the lake.
    kept = {table: jobs.persist(union(parts), "missing rows") for table, parts in rows.items()}
    return {table: there.marked(table, each) for table, each in kept.items()}
