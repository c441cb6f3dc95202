"""Documents as read, the distinct blocks among them, and what those blocks are."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from strandline.dialects.ipfslog import kernels
from strandline.dialects.ipfslog.types import Profile
from strandline.frames.buckets import bucket_of
from strandline.kernels.pieces import PIECE_FIELDS
from strandline.kernels.reading import ReadOptions

DOCUMENT_COLUMNS = tuple(field.name for field in (*PIECE_FIELDS, *kernels.DOCUMENT_FIELDS))
PLACE = ("file_no", "part", "frame")
"""What names a document inside a run."""

REPLAY_FILE_NO = 2**61
"""`file_no` of rejected rows that are judged again: this and 60 bits of their quarantine id."""


def is_block() -> Column:
    """True for a document that is a block to judge."""
    return F.col("kind").isin("block", "car")


def with_bucket(documents: DataFrame, buckets: int) -> DataFrame:
    """Add bucket: of the namespace that a block begins to tell, else null."""
    bucket = F.when(F.col("namespace").isNotNull(), bucket_of(F.col("namespace"), buckets))
    return documents.withColumn("bucket", bucket)


def blocks(documents: DataFrame) -> DataFrame:
    """Give what there is to judge, each once however often it was delivered.

    Reads:  DOCUMENT_COLUMNS.
    Gives:  judge_id, block, claimed, snapshot_id.
    Rows:   one per judge_id.
    """
    return (
        documents.where(is_block())
        .groupBy("judge_id")
        .agg(
            F.first("raw").alias("block"),
            F.first("claimed").alias("claimed"),
            F.first("snapshot_id").alias("snapshot_id"),
        )
    )


def waiting_blocks(waiting: DataFrame) -> DataFrame:
    """Shape waiting rows of `quarantine` to what there is to judge.

    Reads:  record_id, raw.  Gives: judge_id, block, claimed, snapshot_id.  Rows: one per row.
    """
    text = F.lit(None).cast("string")
    return waiting.select(
        F.col("record_id").alias("judge_id"),
        F.col("raw").alias("block"),
        text.alias("claimed"),
        text.alias("snapshot_id"),
    )


def judged(to_judge: DataFrame, profile: Profile) -> DataFrame:
    """Say of each block what it is; signatures of entries are verified here.

    Reads:  judge_id, block, claimed, snapshot_id.
    Gives:  the columns of `kernels.JUDGED`.
    Rows:   one per row.
    """

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return kernels.judged(batches, profile)

    asked = to_judge.select("judge_id", "block", "claimed", "snapshot_id")
    return asked.mapInArrow(judge, from_arrow_schema(kernels.JUDGED))


def replayed_documents(rows: DataFrame, options: ReadOptions) -> DataFrame:
    """Shape rejected rows of `quarantine` to documents, with what they claimed.

    Reads:  quarantine_id, namespace, raw, record_id, reasons, evidence.
    Gives:  DOCUMENT_COLUMNS.
    Rows:   one per row; of a snapshot as many as it holds.
    """
    number = F.conv(F.substring(F.hex("quarantine_id"), 1, 15), 16, 10).cast("bigint")
    asked = rows.select(
        (F.lit(REPLAY_FILE_NO).cast("bigint") + number).alias("file_no"),
        "namespace",
        "raw",
        "record_id",
        F.array_join("reasons", ",").alias("reasons"),
        "evidence",
    )

    def replay(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return kernels.replayed(batches, options)

    fields = from_arrow_schema(pa.schema((*PIECE_FIELDS, *kernels.DOCUMENT_FIELDS)))
    return asked.mapInArrow(replay, fields).select(*DOCUMENT_COLUMNS)
