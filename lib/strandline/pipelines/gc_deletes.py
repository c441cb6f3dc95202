"""Carries out what `pruned_record` lists: rows of record tables go, or a part of them is erased."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.contracts.load import contract
from strandline.dialect_api.info import DialectInfo
from strandline.dialect_api.pruning import Prunes
from strandline.frames.known import KEY
from strandline.pipelines.spark_jobs import SparkJobs
from strandline.tables import maintain
from strandline.tables.store import TableStore, Written

SHOWN_MEMBERS: Final = 2
"""Members of a row of `equivocation` whose bytes are in it."""


def carry_out(store: TableStore, info: DialectInfo, records: DataFrame, buckets: tuple[int, ...]) -> Written:
    """Delete the rows of pruned records, or erase the part of them that may be erased; no live file has them then.

    Reads:  records: namespace, bucket, record_id.
    """
    table = info.record_table
    keys = records.select("namespace", "bucket", F.col("record_id").alias(contract(table).key[1]))
    written = (
        store.delete(table, keys, buckets)
        if info.erasable is None
        else store.erase(table, keys, buckets, info.erasable)
    )
    return replace(written, version=store.version(table)) if maintain.purge(store, table) else written


def delete_reduced(
    store: TableStore, prunes: Prunes, records: DataFrame, buckets: tuple[int, ...], jobs: SparkJobs
) -> dict[str, Written]:
    """Delete the reduced rows that go with pruned records: before these, so that a killed run is finished by them.

    Reads:  records: namespace, record_id.
    """
    return {
        table: store.delete(table, keys, buckets)
        for table, keys in prunes.rows_of(records, store).items()
        if store.stored_bytes(table) and jobs.has_rows(keys)
    }


def left_over(store: TableStore, info: DialectInfo, pruned: DataFrame) -> DataFrame:
    """Return the pruned records that are still there, whole.

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
    shown = store.read("equivocation").select("namespace", members)
    rejected = store.read("quarantine").where("status = 'rejected'").select(*KEY)
    places = shown.unionByName(rejected).join(erased.select(*KEY), list(KEY), "left_semi")
    return int(jobs.row(places.agg(F.count(F.lit(1)).alias("places")))["places"])
