"""One batch: what was read and what waited, with the facts of each element, and where its heads hang."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from strandline.dialects.base import AdmitRequest, Reading, Stage, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.dialect.positions import resolved
from strandline.dialects.sdmp.frames import borders, heads
from strandline.dialects.sdmp.frames import elements as el
from strandline.dialects.sdmp.frames.again import replayed_elements, waiting_elements
from strandline.dialects.sdmp.types import DIALECT


@dataclass(frozen=True, slots=True)
class Batch:
    """The elements of a run with their facts, waiting ones too, and where their heads hang (n null: open).

    `tallied` counts what was delivered (`elements.tally`). `measured` are the parts of split text journals, or None;
    `waiting` the rows of `quarantine` judged again, or None.
    """

    facts: DataFrame
    tallied: DataFrame
    heads: DataFrame
    measured: DataFrame | None
    waiting: DataFrame | None
    sources: DataFrame


def read_batch(reading: Reading, tables: Tables, stage: Stage, request: AdmitRequest) -> Batch:
    """Read all that was delivered, add what waits in the same namespaces, and find where the heads hang."""
    facts, tallied, measured, reading = _facts(reading, stage, request)
    delivered = stage.settle(heads.segments(facts, tallied, tables.buckets), "segments")
    waiting = _waiting(delivered, tables, stage)
    every = delivered
    if waiting is not None:
        again = el.with_line_facts(waiting_elements(waiting), strict=kernels.is_strict(reading.options))
        recalled = stage.keep(again, "waiting records")
        facts = facts.unionByName(recalled)
        every = delivered.unionByName(heads.segments(recalled, el.tally(recalled), tables.buckets))
    placed = resolved(every, facts, tables, stage)
    return Batch(facts, tallied, placed, measured, waiting, reading.sources())


def _facts(
    reading: Reading, stage: Stage, request: AdmitRequest
) -> tuple[DataFrame, DataFrame, DataFrame | None, Reading]:
    """Return the kept facts of all that is read, their tally, the parts of split text, and the reading that lost no
    line.
    """
    while True:
        facts = stage.keep(
            el.with_line_facts(_elements(reading, request), strict=kernels.is_strict(reading.options)),
            "lines",
        )
        tallied = stage.settle(el.tally(facts), "lines")
        if not reading.has_text:
            return facts, tallied, None, reading
        measured = stage.settle(borders.parts(tallied), "parts")
        whole = reading.rerouted(measured.groupBy("file_no").agg(F.sum("bytes").alias("bytes")))
        if whole is None:
            break
        stage.drop(facts)
        reading = whole
    if not stage.has_rows(measured.where("part > 0")):
        return facts, tallied, None, reading
    first_lines = stage.settle(borders.checked(facts, measured), "borders")
    inside = F.expr("NOT border")
    return (
        facts.where(inside).unionByName(first_lines),
        tallied.where(inside).unionByName(el.tally(first_lines)),
        measured,
        reading,
    )


def _elements(reading: Reading, request: AdmitRequest) -> DataFrame:
    found: list[DataFrame] = []
    if reading.has_text:
        found.append(el.text_elements(reading.lines(), strict=kernels.is_strict(reading.options)))
    pieces = reading.pieces(kernels.read_content, kernels.ELEMENT_FIELDS)
    if pieces is not None:
        found.append(pieces.select(*el.ELEMENT_COLUMNS))
    if request.replay is not None:
        found.append(replayed_elements(request.replay, reading.options))
    return reduce(DataFrame.unionByName, found)


def _waiting(delivered: DataFrame, tables: Tables, stage: Stage) -> DataFrame | None:
    """Return the waiting rows of the namespaces that this batch has lines of, or None if nothing waits there."""
    deferred = tables.read("quarantine").where(
        (F.col("dialect") == DIALECT) & (F.col("status") == "deferred") & F.col("namespace").isNotNull()
    )
    if not stage.has_rows(deferred):
        return None
    touched = delivered.select("namespace").distinct()
    columns = ("quarantine_id", "bucket", "namespace", "record_id", "raw", "raw_bytes", "evidence")
    waiting = stage.settle(deferred.join(touched, "namespace", "left_semi").select(*columns), "waiting")
    return waiting if stage.has_rows(waiting) else None
