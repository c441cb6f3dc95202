"""Stored lines as frames, so that another lake judges them like any other input.

Each frame is a chain of lines: a frame claims that each line follows the one before.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, OtherLakeSnapshot
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.spark import journal_rows
from strandline.dialects.sdmp.spark.line_columns import node
from strandline.dialects.sdmp.spark.tables import LINES
from strandline.frames.lift import map_batches

SPAN_LINES = 50_000
"""Positions of one journal that one task chains; a longer journal is cut, and the cut starts a new frame."""


def to_files(rows: Mapping[str, DataFrame], there: OtherLakeSnapshot, jobs: Jobs) -> DataFrame:
    """Return lines as files of frames.

    Reads:  rows: of `node_journal_line`; there: the lake they are from.
    Gives:  format (null: the content shows it), content (BINARY).
    Rows:   one per chain of lines.
    """
    chained = jobs.checkpoint(_chains(rows[LINES]), "frames")
    before = jobs.checkpoint(_lines_before(chained, there, jobs), "lines before")
    return _frames_of(chained, before)


def _chains(lines: DataFrame) -> DataFrame:
    """Combine lines into chains, in which each line follows the one before.

    Reads:  the columns of `node_journal_line`.
    Gives:  namespace, number and n of a chain's first line, entries (its lines, ARRAY<STRING>).
    Rows:   one per chain; each line is in one.
    """
    span = F.floor((F.col("n") - 1) / SPAN_LINES)
    texts = lines.select(
        "namespace", "n", "record_id", "line_number", journal_rows.exact_line().alias("text")
    )
    in_order = texts.repartition(F.col("namespace"), span).sortWithinPartitions("namespace", "n", "record_id")
    return map_batches(in_order, kernels.chains, kernels.CHAIN_SCHEMA)


def _lines_before(chained: DataFrame, there: OtherLakeSnapshot, jobs: Jobs) -> DataFrame:
    """Find the number of the line that each chain follows, for chains that start after line 2.

    Reads:  `_chains`; there: `node_journal_line`.
    Gives:  namespace, number, since.
    Rows:   one per number that chains follow.
    """
    followed = chained.where("n > 2").select("namespace", F.col("number").alias("line_hash")).distinct()
    found = there.matching(LINES, followed, jobs).where("n > 1")
    return found.groupBy("namespace", F.col("line_hash").alias("number")).agg(
        F.min("line_number").alias("since")
    )


def _frames_of(chained: DataFrame, before: DataFrame) -> DataFrame:
    """Write each chain as a file of one frame.

    Reads:  `_chains`; `_lines_before`.
    Gives:  format (null: the content shows it), content (BINARY).
    Rows:   one per chain. `since` of a chain that starts with line 1 or 2 is the fingerprint.
    """
    followed = chained.join(before, ["namespace", "number"], "left")
    frame = frame_text(node(), F.coalesce("since", node()), F.col("entries"))
    return followed.select(F.lit(None).cast("string").alias("format"), frame.cast("binary").alias("content"))


def frame_text(node: Column, since: Column, entries: Column) -> Column:
    """Return the frame that carries lines (ARRAY<STRING>) of a node, as `codec.batch` writes it: compact JSON."""
    journal = F.struct(since.alias("since"), entries.alias("entries"))
    return F.to_json(F.struct(node.alias("node"), journal.alias("journal")))
