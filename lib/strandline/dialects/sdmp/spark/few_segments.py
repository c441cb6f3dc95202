"""Admission of small input: its segments are placed in the driver, at the positions that joins would find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import pyarrow.compute as pc
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.contracts.shared_tables import QUARANTINE
from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.info import INFO
from strandline.dialects.sdmp.kernels import PlacedHead, Segment
from strandline.dialects.sdmp.spark import elements, line_columns
from strandline.dialects.sdmp.spark.stored_lines import FEW_SEGMENTS, LineKey, StoredLines
from strandline.dialects.sdmp.spark.tables import JOURNALS, of_few
from strandline.dialects.sdmp.types import DIALECT
from strandline.frames.listed import MOST_PUSHED, is_listed
from strandline.frames.namespaces import only_namespaces
from strandline.frames.quarantine import deferred

_MOST_LEAVES: Final = 1_000
_Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class FewSegments:
    """The elements of small input, counted and placed in the driver.

    `spans` is `elements.tally` of them. `journals` are the stored rows of their journals by namespace. `numbers` are
    those of the lines that heads follow, where a line was looked up. `followed` are ends of segments that a stored line
    follows; None if this was not asked.
    """

    spans: Sequence[Row]
    heads: Sequence[PlacedHead]
    journals: Mapping[str, Mapping[str, Any]]
    numbers: Mapping[LineKey, str | None]
    followed: frozenset[LineKey] | None


def place(facts: DataFrame, tables: Tables, jobs: Jobs, *, has_journals: bool) -> FewSegments | None:
    """Count and place the elements of a run, whose facts are in one part; one job, if the tables are small.

    Without `has_journals` the reduced journals do not count.
    None if there are too many segments, or if waiting rows of their journals must be judged again.
    """
    spans = _spans(facts, jobs)
    if spans is None:
        return None
    of_run = _segments(spans)
    names = sorted({each.namespace for each in of_run})
    if _has_waiting(names, tables, jobs):
        return None
    journals = _journals(names, tables, jobs) if has_journals else {}
    if journals is None:
        return None
    found = kernels.attached_heads(of_run, journals, _leaves(journals.values()))
    wanted = {each.segment.follows for each in found if each.attached_n is None and each.segment.follows}
    parents = _parents(wanted, facts, jobs)
    stored = StoredLines(names, tables, jobs)
    lines = None if parents is None else stored.lines(wanted - set(parents))
    if parents is None or lines is None:
        return None
    placed = kernels.placed_heads(
        found,
        {key: parent.place for key, parent in parents.items()},
        {key: line.n for key, line in lines.items()},
    )
    numbers = {key: parent.number for key, parent in parents.items()}
    numbers |= {key: line.number for key, line in lines.items()}
    lengths: dict[LineKey, int] = {}
    last_ns: set[int] = set()
    for each in placed:
        if each.last_n is not None:
            key = each.segment.ends_with
            lengths[key] = max(each.segment.lines, lengths.get(key, 0))
            last_ns.add(each.last_n)
    ends = stored.ends(lengths, last_ns)
    if ends is None:
        return FewSegments(spans, placed, journals, numbers, None)
    known, followed = ends
    return FewSegments(
        spans,
        [replace(each, is_known=each.n is not None and each.segment.ends_with in known) for each in placed],
        journals,
        numbers,
        followed,
    )


def _spans(facts: DataFrame, jobs: Jobs) -> list[Row] | None:
    first = F.struct("node", "since", line_columns.number_or_null().alias("number"))
    ends = (F.min_by(first, F.col("idx")).alias("first"), F.max_by("hash", "idx").alias("last_hash"))
    return jobs.few(elements.tally(facts, *ends), FEW_SEGMENTS)


def _segments(spans: Iterable[Row]) -> list[Segment]:
    return [
        Segment(
            row["file_no"], row["part"], row["frame"], row["head"], row["lines"], row["first"]["node"],
            row["first"]["number"], row["first"]["since"], row["last_hash"],
        )
        for row in spans
        if row["verdict"] == elements.CANDIDATE
    ]  # fmt: skip


def _has_waiting(names: Sequence[str], tables: Tables, jobs: Jobs) -> bool:
    """Return whether rows wait for this run, or too many names to ask: those of these journals.

    After a run that was killed or raced by another one, those of all journals.
    """
    few = tables.few_rows(QUARANTINE)
    if few is not None:
        waits = pc.and_(pc.equal(few["dialect"], DIALECT), pc.equal(few["status"], "deferred"))
        waiting = few.filter(waits)
        return bool(waiting.num_rows) and (
            of_few(waiting, names).num_rows > 0 or tables.begin_repair(INFO.ingest_tables)
        )
    if len(names) > MOST_PUSHED:
        return True
    rows = deferred(tables.read(QUARANTINE), DIALECT)
    return jobs.has_rows(only_namespaces(rows, names, tables.buckets)) or (
        tables.begin_repair(INFO.ingest_tables) and jobs.has_rows(rows)
    )


def _journals(names: Sequence[str], tables: Tables, jobs: Jobs) -> dict[str, Mapping[str, Any]] | None:
    """Return the stored rows of these journals by namespace, or None if they are too many or have many leaves."""
    columns = ["namespace", "tip_hash", "tip_number", "tip_n", "leaves"]
    few = tables.few_rows(JOURNALS)
    if few is not None:
        rows: _Rows = of_few(few, names).select(columns).to_pylist()
        return {row["namespace"]: row for row in rows}
    if len(names) > MOST_PUSHED:
        return None
    leaves = F.when(F.size("leaves") <= _MOST_LEAVES, F.col("leaves")).alias("leaves")
    found = jobs.few(
        only_namespaces(tables.read(JOURNALS), names, tables.buckets).select(*columns[:-1], leaves),
        MOST_PUSHED,
    )
    if found is None or any(row["leaves"] is None for row in found):
        return None
    return {row["namespace"]: row.asDict(recursive=True) for row in found}


def _leaves(journals: Iterable[Mapping[str, Any]]) -> dict[LineKey, int]:
    """Return n of the leaves of stored journals. In profile 0.12 only the tip is found: the record id of another leaf
    does not contain its hash.
    """
    found: dict[LineKey, int] = {}
    for row in journals:
        found.update(
            ((row["namespace"], bytes(leaf["record_id"]).hex()), leaf["n"]) for leaf in row["leaves"]
        )
        found[row["namespace"], row["tip_hash"]] = row["tip_n"]
    return found


class _Parent(NamedTuple):
    """An element of the run that a head follows: its place, and its number (None: line 1)."""

    place: kernels.Place
    number: str | None


def _parents(wanted: set[LineKey], facts: DataFrame, jobs: Jobs) -> dict[LineKey, _Parent] | None:
    """Return the first element of the run with each hash that is wanted, or None if too many have one."""
    if not wanted:
        return {}
    hashes = sorted({line for _, line in wanted})
    named = facts.where(elements.is_candidate() & is_listed("hash", hashes))
    key = (line_columns.namespace().alias("namespace"), "hash", line_columns.number_or_null().alias("number"))
    rows = jobs.few(named.select(*key, "file_no", "part", "frame", "idx", "head"), FEW_SEGMENTS)
    if rows is None:
        return None
    found: dict[LineKey, _Parent] = {}
    for namespace, line, number, *place in sorted(rows, key=lambda row: row[3:]):
        file_no, part, frame, idx, head = place
        found.setdefault((namespace, line), _Parent((file_no, part, frame, idx, head), number))
    return found
