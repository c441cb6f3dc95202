"""Carries out what `pruned_record` lists: deletes rows of record tables, or erases a part of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.contracts.shared_tables import EQUIVOCATIONS, QUARANTINE
from strandline.dialect_api.dialect import Dialect
from strandline.dialect_api.info import DialectInfo
from strandline.dialect_api.pruning import Prunes
from strandline.frames.known import KEY
from strandline.pipelines.changes import advance_reduced_version, has_new_records
from strandline.pipelines.run_context import RunContext
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import maintain
from strandline.tables.reduced_versions import reduced_before
from strandline.tables.store import TableStore
from strandline.tables.written import Written

SHOWN_MEMBERS: Final = 2
"""Members of a row of `equivocation` whose bytes are in it."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What was removed: the number of records, and the commits by table."""

    records: int
    written: Mapping[str, Written]


def carry_out(
    store: TableStore,
    dialect: Dialect,
    prunes: Prunes,
    records: DataFrame,
    jobs: SparkJobs,
    context: RunContext,
    before: Callable[[], Mapping[str, Written]] = dict,
) -> Removal:
    """Delete the rows of pruned records, or erase the part that may be erased; delete their reduced rows, too.

    If there are such rows, `before` is called first, and its commits are part of the result. Reduced rows are deleted
    before the records: after a kill, the records that are still there show what is left to do. An erasure changes rows
    but leaves nothing to reduce; the states record this.

    Reads:  records: namespace, bucket, record_id.
    """
    total = jobs.row(records.agg(F.collect_set("bucket").alias("buckets"), F.count(F.lit(1)).alias("rows")))
    buckets = tuple(sorted(total["buckets"]))
    if not buckets:
        return Removal(0, {})
    written = dict(before())
    context.faults.reach("gc.delete")
    written |= _delete_reduced(store, prunes, records, buckets, jobs)
    table = dialect.info.record_table
    written[table] = _carry_out(store, dialect.info, records, buckets)
    if dialect.info.erasable is not None:
        reduced, _ = reduced_before(store, dialect.info.name)
        newest = store.version(table)
        if reduced is not None and has_new_records(store, table, reduced, newest) is False:
            advance_reduced_version(store, dialect, reduced, newest, jobs)
    return Removal(total["rows"], written)


def _carry_out(store: TableStore, info: DialectInfo, records: DataFrame, buckets: tuple[int, ...]) -> Written:
    """Delete or erase in the record table; no live file has the bytes then."""
    table = info.record_table
    keys = records.select("namespace", "bucket", F.col("record_id").alias(contract(table).key[1]))
    written = (
        store.delete(table, keys, buckets)
        if info.erasable is None
        else store.erase(table, keys, buckets, info.erasable)
    )
    return replace(written, version=store.version(table)) if maintain.purge(store, table) else written


def _delete_reduced(
    store: TableStore, prunes: Prunes, records: DataFrame, buckets: tuple[int, ...], jobs: SparkJobs
) -> dict[str, Written]:
    return {
        table: store.delete(table, keys, buckets)
        for table, keys in prunes.rows_of(records, store).items()
        if store.stored_bytes(table) and jobs.has_rows(keys)
    }


def left_over(store: TableStore, info: DialectInfo, pruned: DataFrame) -> DataFrame:
    """Return the pruned records whose rows are still complete: neither deleted nor erased.

    Reads:  pruned: namespace, bucket, record_id.  Gives: the same columns.  Rows: one per such record.
    """
    key = contract(info.record_table).key[1]
    rows = store.read(info.record_table)
    if info.erasable is not None:
        rows = rows.where(F.col(info.erasable).isNotNull())
    stored = rows.select("namespace", "bucket", F.col(key).alias("record_id"))
    return stored.join(pruned.select("bucket", *KEY), ["bucket", *KEY], "left_semi")


def still_shown(store: TableStore, erased: DataFrame, jobs: SparkJobs) -> int:
    """Count the places that still show what was erased: evidence of forks, and rejected copies in quarantine.

    Reads:  erased: namespace, record_id.
    """
    members = F.explode(F.slice("members", 1, SHOWN_MEMBERS)).alias("record_id")
    shown = store.read(EQUIVOCATIONS).select("namespace", members)
    rejected = store.read(QUARANTINE).where("status = 'rejected'").select(*KEY)
    places = shown.unionByName(rejected).join(erased.select(*KEY), list(KEY), "left_semi")
    return int(jobs.row(places.agg(F.count(F.lit(1)).alias("places")))["places"])
