"""What one lake holds of a dialect and another lacks: counted, compared by hashes, named by ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.dialect import Dialect
from strandline.frames import differences
from strandline.frames.row_rules import is_comparable
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables.other_lake import OtherLake
from strandline.tables.reads import TableReads

KEY = ("bucket", "namespace", "record_id")
SHOWN = 50


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a lake lacks of another: `missing` are differences.ID_COLUMNS, kept, or None if nothing is.

    `namespaces` are those that the other lake holds, `equal` those whose sets are equal, `behind` those of which
    `records` are missing. `plan` names the first of these, the most missing records first. `incomparable` are rows of
    that lake whose namespace or id is none.
    """

    missing: DataFrame | None
    namespaces: int = 0
    equal: int = 0
    behind: int = 0
    records: int = 0
    incomparable: int = 0
    plan: tuple[Mapping[str, object], ...] = ()


def compare(here: TableReads | None, there: OtherLake, dialect: Dialect, jobs: SparkJobs) -> Comparison:
    """Return what the lake `here` (None: there is none yet) lacks of `there`.

    Counts that differ settle a namespace; where they are equal set hashes do, and their parts say where to look.
    """
    every = _union(_named(there.ids(table), table) for table in dialect.info.ingest_tables)
    if not jobs.has_rows(every):
        return Comparison(None)
    theirs = every.where("is_comparable").select(*differences.ID_COLUMNS)
    ours = theirs.limit(0) if here is None else _ids(here, dialect)
    counts = jobs.checkpoint(differences.compared(every, ours), "compared namespaces")
    alike = (F.col("there") == F.col("here")) & (F.col("there") > 0)
    told = jobs.row(
        counts.agg(
            F.count_if(F.col("there") > 0).alias("namespaces"), F.count_if(alike).alias("alike"),
            F.sum("incomparable").alias("incomparable"),
        )
    )  # fmt: skip
    parts, unequal = theirs.limit(0).select("namespace", F.col("record_id").alias("first")), 0
    if told["alike"]:
        parts = jobs.checkpoint(differences.unequal_parts(theirs, ours, counts), "unequal parts")
        unequal = jobs.row(parts.agg(F.count_distinct("namespace").alias("namespaces")))["namespaces"]
    equal = told["alike"] - unequal
    if equal == told["namespaces"]:
        return Comparison(None, equal, equal, incomparable=told["incomparable"])
    lacking = jobs.checkpoint(differences.missing(theirs, ours, counts, parts), "missing records")
    plan = jobs.checkpoint(differences.planned(lacking, counts), "plan")
    found = jobs.row(plan.agg(F.count(F.lit(1)).alias("behind"), F.sum("missing").alias("records")))
    first = plan.orderBy(F.col("missing").desc(), "namespace").limit(SHOWN)
    return Comparison(
        lacking if found["behind"] else None,
        told["namespaces"], equal, found["behind"], found["records"] or 0, told["incomparable"],
        tuple({"dialect": dialect.info.name, **row.asDict()} for row in first.collect()),
    )  # fmt: skip


def _ids(tables: TableReads, dialect: Dialect) -> DataFrame:
    """Return differences.ID_COLUMNS of all records of the dialect."""
    return _union(_named(tables.read(table).select(*KEY), table) for table in dialect.info.ingest_tables)


def _named(ids: DataFrame, table: str) -> DataFrame:
    return ids.withColumn("table", F.lit(table))


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)


def rows_of(found: Comparison, there: OtherLake, dialect: Dialect) -> dict[str, DataFrame]:
    """Return the missing rows by table, as `OtherLake.marked` gives them; only files of their buckets are opened.

    Rows:   as many as `records` and `incomparable` of the comparison together.
    """
    rows: dict[str, list[DataFrame]] = {}
    if found.missing is not None:
        missing = found.missing
        for row in missing.groupBy("table").agg(F.collect_set("bucket").alias("buckets")).collect():
            table = row["table"]
            ids = missing.where(F.col("table") == table).select(*KEY)
            of_buckets = there.marked(table).where(F.col("bucket").isin(*sorted(row["buckets"])))
            rows[table] = [of_buckets.where(is_comparable()).join(ids, list(KEY), "left_semi")]
    for table in dialect.info.ingest_tables if found.incomparable else ():
        rows.setdefault(table, []).append(there.incomparable(table))
    return {table: _union(parts) for table, parts in rows.items()}
