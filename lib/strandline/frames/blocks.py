"""Documents as they are read, their distinct blocks, and the facts of each block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from strandline.frames.buckets import bucket_of
from strandline.frames.lift import map_batches
from strandline.kernels import blocks as kernel
from strandline.kernels.judging import PREFIX, Judging, read_judged
from strandline.kernels.judging import judged as judged_batches
from strandline.kernels.pieces import piece_schema
from strandline.kernels.reading import ReadContent, ReadOptions, read_files

PLACE = ("file_no", "part", "frame")
"""The key of a document in a run."""

REPLAY_FILE_NO = 2**61
"""`file_no` of rejected rows that are judged again: this plus 60 bits of their quarantine id."""

FEW_DOCUMENTS: Final = 2_000
"""Up to so many documents of a batch, a shuffle costs more than a second task gains."""
FEW_BYTES: Final = 8 * 1024 * 1024
"""Of these documents, which one task then judges."""


def read_pieces(
    listed: DataFrame,
    read_content: ReadContent,
    extra: tuple[pa.Field, ...],
    judging: Judging | None,
    options: ReadOptions,
) -> DataFrame:
    """Read listed files.

    Reads:  as `kernels.reading.read_files`.
    Gives:  PIECE_FIELDS, `extra`; with `judging` also its fields.
    Rows:   one per piece, in the order of each file.
    """
    settings = {"options": options, "read_content": read_content, "extra": extra}
    if judging is None:
        return map_batches(listed, read_files, piece_schema(extra), **settings)
    fields = piece_schema((*extra, *judging.fields()))
    return map_batches(listed, read_judged, fields, judging=judging, **settings)


def is_block() -> Column:
    """True for a document that is a block to judge."""
    return F.col("kind").isin(*kernel.BLOCK_KINDS)


def is_judged() -> Column:
    """True for a document that was judged as it was read, of documents read with `judging`."""
    return F.col(f"{PREFIX}kind").isNotNull()


def with_bucket(documents: DataFrame, buckets: int) -> DataFrame:
    """Add bucket, derived from the namespace; null without one."""
    bucket = F.when(F.col("namespace").isNotNull(), bucket_of(F.col("namespace"), buckets))
    return documents.withColumn("bucket", bucket)


def counted(documents: DataFrame, may_be_known: Column, was_judged: Column) -> DataFrame:
    """Count what was read.

    Reads:  documents, bucket; may_be_known: `known.may_be_known`; was_judged: `is_judged`, or false.
    Gives:  documents, bytes (null without documents), deliveries (of blocks), judged (of them, as they were read),
            blocks (distinct ones), buckets (of blocks that may be known), claims (addresses that files state).
    Rows:   one.
    """
    return documents.agg(
        F.count(F.lit(1)).alias("documents"),
        F.sum("raw_bytes").alias("bytes"),
        F.count_if(is_block()).alias("deliveries"),
        F.count_if(was_judged).alias("judged"),
        F.count_distinct(F.when(is_block(), F.col("judge_id"))).alias("blocks"),
        F.collect_set(F.when(may_be_known, F.col("bucket"))).alias("buckets"),
        F.count_if(F.col("kind") == "claim").alias("claims"),
    )


def are_few(read: Row) -> bool:
    """Return whether one task should judge all documents; `read` is the row of `counted`."""
    return bool(read["documents"] <= FEW_DOCUMENTS and (read["bytes"] or 0) <= FEW_BYTES)


def judged_documents(documents: DataFrame, facts: pa.Schema, *, has_copies: bool) -> DataFrame:
    """Return the facts of blocks that were judged as they were read.

    Reads:  documents that were read with `judging`, source; `has_copies`: a block may come twice.
    Gives:  `facts`, with the source of the first file that has the block.
    Rows:   one per judge_id.
    """
    given = {"block": F.col("raw"), "judge_id": F.col("judge_id"), "source": F.col("source")}
    named = [given.get(name, F.col(PREFIX + name)).alias(name) for name in facts.names]
    found = documents.where(is_judged())
    if not has_copies:
        return found.select(*named)
    first = F.min_by(F.struct(*named), "file_no").alias("first")
    return found.groupBy("judge_id").agg(first).select("first.*")


def none_judged(like: DataFrame, facts: pa.Schema) -> DataFrame:
    """Return no blocks, as a frame of which Spark knows that it is empty: it runs no job for what is joined with it.

    Gives:  columns of `judged`.  Rows: none.  `like` is any frame of the session.
    """
    return like.sparkSession.createDataFrame([], from_arrow_schema(facts))


def single_blocks(documents: DataFrame, claims: Sequence[str]) -> DataFrame:
    """Return the blocks to judge of documents in which no block comes twice.

    Reads, gives, rows: as `distinct_blocks`, but no block is sorted.
    """
    found = documents.where(is_block())
    return found.select("judge_id", "record_id", F.col("raw").alias("block"), "file_no", *claims)


def distinct_blocks(documents: DataFrame, claims: Sequence[str]) -> DataFrame:
    """Return the distinct blocks to judge.

    Reads:  documents; `claims` are the columns of claims that files make about blocks.
    Gives:  judge_id, record_id, block, file_no (the least of several), `claims`.
    Rows:   one per judge_id.
    """
    firsts = (F.first(name).alias(name) for name in claims)
    return (
        documents.where(is_block())
        .groupBy("judge_id")
        .agg(
            F.first("record_id").alias("record_id"),
            F.first("raw").alias("block"),
            F.min("file_no").alias("file_no"),
            *firsts,
        )
    )


def waiting_blocks(waiting: DataFrame, claims: Sequence[str]) -> DataFrame:
    """Shape waiting rows of `quarantine` to blocks to judge, without claims.

    Reads:  judge_id, record_id, raw, source.
    Gives:  judge_id, record_id, block, source, `claims` (null).
    Rows:   one per row.
    """
    nothing = (F.lit(None).cast("string").alias(name) for name in claims)
    return waiting.select("judge_id", "record_id", F.col("raw").alias("block"), "source", *nothing)


def judged(blocks: DataFrame, judging: Judging, options: ReadOptions) -> DataFrame:
    """Return the facts of each block from its bytes; this verifies signatures of records.

    Reads:  columns of `distinct_blocks`.  Gives: the facts of `judging`.  Rows: one per row.
    """
    return map_batches(blocks, judged_batches, judging.facts, judging=judging, options=options)


def replayed_documents(
    rows: DataFrame, replay: kernel.Replay, extra: tuple[pa.Field, ...], options: ReadOptions
) -> DataFrame:
    """Shape rejected rows of `quarantine` to documents, with their stored claims.

    Reads:  quarantine_id, namespace, raw, record_id, reasons, evidence.
    Gives:  PIECE_FIELDS and `extra`; file_no and part have 120 bits of the quarantine id.
    Rows:   one per row; for a container one per document in it.
    """
    asked = replay_numbered(rows).select(
        "file_no", id_bits(16).alias("part"), "namespace", "raw", "record_id",
        F.array_join("reasons", ",").alias("reasons"), "evidence",
    )  # fmt: skip
    fields = piece_schema(extra)
    return map_batches(asked, kernel.replayed, fields, replay=replay, extra=extra, options=options)


def replay_numbered(rows: DataFrame) -> DataFrame:
    """Add file_no to rejected rows that are judged again, greater than that of any file.  Reads: quarantine_id.

    It has 60 bits of the id: a sender can make two records that share one.
    """
    return rows.withColumn("file_no", F.lit(REPLAY_FILE_NO).cast("bigint") + id_bits(1))


def id_bits(start: int) -> Column:
    """Return 60 bits of a quarantine id as BIGINT, from its hex digit `start` (1: the first)."""
    return F.conv(F.substring(F.hex("quarantine_id"), start, 15), 16, 10).cast("bigint")
