"""Chunks of text journals: rows of many lines that are judged, placed and written together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark.elements import (
    CANDIDATE,
    ELEMENT_COLUMNS,
    IRREGULAR,
    with_line_facts,
)
from strandline.dialects.sdmp.spark.line_columns import namespace
from strandline.frames.buckets import bucket_of
from strandline.frames.layout import in_order
from strandline.frames.lift import map_batches
from strandline.kernels.pieces import piece_schema

CHUNK_LINES: Final = 1024
"""Lines of a chunk, 200 KB: few enough for the rows of one batch, and so many that joins have little to do."""
LINE_ORDER: Final = ("bucket", "namespace", "n")
"""The write order of `node_journal_line`, as far as a chunk has it."""
KEY: Final = ("file_no", "part")
"""The key of a chunk in a run: each chunk is a part of its file."""


def is_chunk() -> Column:
    """True for an element that is a chunk."""
    return F.col("frame") == kernels.CHUNK_FRAME


def is_whole_chunk() -> Column:
    """True for a segment that is a chunk no line of which another segment has, too."""
    return F.col("is_chunk") & ~F.col("overlaps")


def judged(kept: DataFrame) -> DataFrame:
    """Keep what is known of chunks, without their bytes.

    Reads:  the elements with their facts.
    Gives:  KEY, node, is_regular, number (of its first line; null: line 1), last_hash, last_line (BINARY), lines.
    Rows:   one per chunk.
    """
    last_line = F.substring("raw", -kernels.CHUNK_LINE_BYTES, kernels.CHUNK_LINE_BYTES - 1)
    return kept.where(is_chunk()).select(
        *KEY, "node", (F.col("code") == 0).alias("is_regular"), F.col("expected").alias("number"),
        F.col("hash").alias("last_hash"), last_line.alias("last_line"),
        (F.col("idx") + 1).alias("lines"),
    )  # fmt: skip


def tally(chunks: DataFrame) -> DataFrame:
    """Count the lines of chunks as `elements.tally`; of those that are not regular, none are counted."""
    verdict = F.when(F.col("is_regular"), F.lit(CANDIDATE)).otherwise(F.lit(IRREGULAR))
    return chunks.select(
        *_segment(), F.lit(False).alias("border"), verdict.cast("tinyint").alias("verdict"), "lines",
        (F.col("lines") - 1).alias("last_idx"),
    )  # fmt: skip


def heads(chunks: DataFrame, buckets: int) -> DataFrame:
    """Shape regular chunks to `heads.segments`: each is a segment of its own."""
    return chunks.select(
        *_segment(), F.concat_ws(":", *_segment()).alias("head_id"), namespace().alias("namespace"), "node", "number",
        F.lit(None).cast("string").alias("since"), "lines", bucket_of(namespace(), buckets).alias("bucket"),
        F.lit(True).alias("is_chunk"),
    )  # fmt: skip


def last_lines(chunks: DataFrame) -> DataFrame:
    """Return the last line of each chunk: SEGMENT, node, idx, hash, raw."""
    return chunks.select(
        *_segment(), "node", (F.col("lines") - 1).alias("idx"), F.col("last_hash").alias("hash"),
        F.col("last_line").alias("raw"),
    )  # fmt: skip


def _segment() -> tuple[Column, ...]:
    text, first = F.lit(kernels.TEXT_FRAME).cast("bigint"), F.lit(0).cast("bigint")
    return F.col("file_no"), F.col("part"), text.alias("frame"), first.alias("head")


@dataclass(frozen=True, slots=True)
class Chunks:
    """The regular chunks of a run: `rows` have the bytes (the persisted elements), `judged` the facts of each."""

    rows: DataFrame
    judged: DataFrame
    strict: bool

    def without(self, keys: DataFrame) -> Chunks:
        """Return all chunks but those with one of the keys."""
        return Chunks(self.rows, self.judged.join(keys.select(*KEY), list(KEY), "left_anti"), self.strict)

    def one_by_one(self, keys: DataFrame) -> DataFrame:
        """Judge the lines of the chunks with one of the keys one by one: their facts, as of any element."""
        return with_line_facts(self._lines(keys), strict=self.strict)

    def lines(self, keys: DataFrame | None = None) -> DataFrame:
        """Return the lines of regular chunks, or of those with one of the keys, with their facts.

        Keys of other parts are left out: a chunk that was opened has lines under its key. The first line belongs to
        the segment of the chunk, since it was checked that it follows the part before.
        """
        chosen = self.judged if keys is None else self.judged.join(keys.select(*KEY), list(KEY), "left_semi")
        facts = self.one_by_one(chosen)
        return facts.withColumns(
            {"head": F.lit(0).cast("bigint"), "border": F.lit(False), "code": F.lit(0).cast("tinyint")}
        )

    def accepted(self, heads: DataFrame) -> DataFrame:
        """Return the lines of placed chunks as rows of `node_journal_line`, in its order in each task.

        Reads:  KEY, n, namespace, bucket, source of segments.
        Gives:  the columns of `node_journal_line` without those that the writing run adds.
        Rows:   one per line.
        """
        placed = heads.select(*KEY, "n", "namespace", "bucket", "source")
        chunks = (
            self.rows.where(is_chunk())
            .select(*KEY, "raw", F.col("hash").alias("last_hash"))
            .join(placed, list(KEY))
        )
        return map_batches(
            in_order(chunks, LINE_ORDER).drop(*KEY), kernels.accepted_lines, kernels.ACCEPTED_SCHEMA
        )

    def _lines(self, keys: DataFrame) -> DataFrame:
        chunks = self.rows.where(is_chunk()).join(keys.select(*KEY), list(KEY), "left_semi")
        chosen = chunks.select("file_no", "part", "offset", "size", "raw", "node")
        fields = piece_schema(kernels.ELEMENT_FIELDS)
        lines = map_batches(
            chosen, kernels.chunk_lines, fields, frame=kernels.TEXT_FRAME, fields=kernels.ELEMENT_FIELDS
        )
        return lines.select(*ELEMENT_COLUMNS)
