"""What one lake holds of a dialect and another lacks: counted, compared by hashes, named by ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.dialect import Dialect
from strandline.frames import differences
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.reads import TableReads

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a lake lacks of another: `missing` are differences.ID_COLUMNS, kept, or None if nothing is.

    `namespaces` are those that the other lake holds, `equal` those whose sets are equal, `behind` those of which
    `records` are missing. `plan` names the first of these, the most missing records first.
    """

    missing: DataFrame | None
    namespaces: int
    equal: int
    behind: int
    records: int
    plan: tuple[Mapping[str, object], ...]


def compare(here: TableReads | None, there: TableReads, dialect: Dialect, jobs: SparkJobs) -> Comparison:
    """Return what the lake `here` (None: there is none yet) lacks of `there`.

    Counts that differ settle a namespace; where they are equal set hashes do, and their parts say where to look.
    """
    theirs = _ids(there, dialect)
    if not jobs.has_rows(theirs):
        return Comparison(None, 0, 0, 0, 0, ())
    ours = theirs.limit(0) if here is None else _ids(here, dialect)
    counts = jobs.checkpoint(differences.compared(theirs, ours), "compared namespaces")
    alike = F.col("there") == F.col("here")
    told = jobs.row(
        counts.agg(F.count(F.lit(1)).alias("namespaces"), F.count(F.when(alike, 1)).alias("alike"))
    )
    parts, unequal = theirs.limit(0).select("namespace", F.col("record_id").alias("first")), 0
    if told["alike"]:
        parts = jobs.checkpoint(differences.unequal_parts(theirs, ours, counts), "unequal parts")
        unequal = jobs.row(parts.agg(F.count_distinct("namespace").alias("namespaces")))["namespaces"]
    equal = told["alike"] - unequal
    if equal == told["namespaces"]:
        return Comparison(None, equal, equal, 0, 0, ())
    lacking = jobs.checkpoint(differences.missing(theirs, ours, counts, parts), "missing records")
    plan = jobs.checkpoint(differences.planned(lacking, counts), "plan")
    found = jobs.row(plan.agg(F.count(F.lit(1)).alias("behind"), F.sum("missing").alias("records")))
    first = plan.orderBy(F.col("missing").desc(), "namespace").limit(SHOWN)
    return Comparison(
        lacking if found["behind"] else None,
        told["namespaces"], equal, found["behind"], found["records"] or 0,
        tuple({"dialect": dialect.info.name, **row.asDict()} for row in first.collect()),
    )  # fmt: skip


def _ids(tables: TableReads, dialect: Dialect) -> DataFrame:
    """Return differences.ID_COLUMNS of all records of the dialect."""
    columns = differences.ID_COLUMNS[1:]
    return reduce(
        DataFrame.unionByName,
        (
            tables.read(table).select(F.lit(table).alias("table"), *columns)
            for table in dialect.info.ingest_tables
        ),
    )


def rows_of(missing: DataFrame, there: TableReads) -> dict[str, DataFrame]:
    """Return the rows of these ids, by table; only files of their buckets are opened."""
    key = ["bucket", "namespace", "record_id"]
    found = missing.groupBy("table").agg(F.collect_set("bucket").alias("buckets")).collect()
    return {
        row["table"]: there.read(row["table"])
        .where(F.col("bucket").isin(*sorted(row["buckets"])))
        .join(missing.where(F.col("table") == row["table"]).select(*key), key, "left_semi")
        for row in found
    }
