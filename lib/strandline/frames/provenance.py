"""Provenance of records: the source of each, and the run and time that wrote it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.contracts.model import Contract
from strandline.frames.blocks import REPLAY_FILE_NO, replay_numbered

MESSAGE_OFFSET = r"^(kafka://.*)@[0-9]+$"
"""The source of a message, as in `message_source`; the group is topic and partition."""


def message_source(topic: str, partition: Column, offset: Column) -> Column:
    """Return the source of a message: topic (`kafka://HOST:PORT/NAME`), `/`, partition, `@`, offset."""
    return F.concat(F.lit(f"{topic}/"), partition.cast("string"), F.lit("@"), offset.cast("string"))


def record_source(source: Column) -> Column:
    """Return a source for tables of records: that of `quarantine`, but messages without their offset.

    With the offset, each record of a topic would have a different source.
    """
    return F.regexp_replace(source, MESSAGE_OFFSET, "$1")


def batch_sources(files: DataFrame, replay: DataFrame | None) -> DataFrame:
    """Return the sources of everything that a batch reads.

    Reads:  files: file_no, source; replay: rows of `quarantine` that are judged again, or None.
    Gives:  file_no, source, base_offset (BIGINT, the position of the read bytes in the source).
    Rows:   one per file_no. Rows of `quarantine` whose ids have the same first bits share one.
    """
    read = files.select("file_no", "source", F.lit(0).cast("bigint").alias("base_offset"))
    if replay is None:
        return read
    place = F.min(F.struct("source", F.col("source_offset").alias("base_offset"))).alias("place")
    again = replay_numbered(replay).groupBy("file_no").agg(place)
    return read.unionByName(again.select("file_no", "place.source", "place.base_offset"))


def of_files(sources: DataFrame) -> DataFrame:
    """Keep the sources of files, without those of `quarantine` rows that are judged again."""
    return sources.where(F.col("file_no") < REPLAY_FILE_NO)


def with_record_source(rows: DataFrame, sources: DataFrame) -> DataFrame:
    """Add `source` in the form of `record_source`.

    Reads:  rows: file_no; sources: `batch_sources`.
    Gives:  the columns of `rows` and source.
    Rows:   one per row. Without a broadcast hint: the sources of a million files are too large for one.
    """
    named = sources.select("file_no", record_source(F.col("source")).alias("source"))
    return rows.join(named, "file_no", "left")


def with_run(rows: DataFrame, described: Contract, run_id: str) -> DataFrame:
    """Add the columns run_id and landed_at that the table has: the writing run and the write time.

    Gives:  the columns of `rows` and these.  Rows: one per row.
    """
    values = {"run_id": F.lit(run_id), "landed_at": F.current_timestamp()}
    return rows.withColumns({name: value for name, value in values.items() if name in described.names})
