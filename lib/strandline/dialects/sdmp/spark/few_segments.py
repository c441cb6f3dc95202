"""Admission of small input: its segments are placed in the driver, at the positions that joins would find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp import kernels
from strandline.dialects.sdmp.kernels import PlacedHead, Segment
from strandline.dialects.sdmp.spark import elements, heads
from strandline.dialects.sdmp.spark.named import MOST_NAMED, of_journals
from strandline.dialects.sdmp.spark.positions import JOURNALS, LINES
from strandline.dialects.sdmp.types import DIALECT

FEW_SEGMENTS: Final = 2_000
"""Segments of a run, and rows of a table that are about them: up to so many are placed in the driver."""
_MOST_LEAVES: Final = 1_000

_Key = tuple[str, str]
"""A namespace, and the hash of one of its lines."""
_Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class FewSegments:
    """The elements of small input, counted and placed in the driver.

    `spans` is `elements.tally` of them. `journals` are the stored rows of their journals by namespace. `followed` are
    ends of segments that a stored line follows; None if this was not asked.
    """

    spans: Sequence[Row]
    heads: Sequence[PlacedHead]
    journals: Mapping[str, Mapping[str, Any]]
    followed: frozenset[_Key] | None


def place(facts: DataFrame, tables: Tables, jobs: Jobs) -> FewSegments | None:
    """Count and place the elements of a run, whose facts are in one part; one job, if the tables are small.

    None if there are too many segments, or if waiting rows of their journals must be judged again.
    """
    spans = _spans(facts, jobs)
    if spans is None:
        return None
    of_run = _segments(spans)
    names = sorted({each.namespace for each in of_run})
    if _has_waiting(names, tables, jobs):
        return None
    journals = _journals(names, tables, jobs)
    if journals is None:
        return None
    found = kernels.attached_heads(of_run, journals, _leaves(journals.values()))
    wanted = {each.segment.follows for each in found if each.attached_n is None and each.segment.follows}
    parents = _parents(wanted, facts, jobs)
    stored = _StoredLines(names, tables, jobs)
    lines = None if parents is None else stored.places(wanted - set(parents))
    if parents is None or lines is None:
        return None
    placed = kernels.placed_heads(found, parents, lines)
    lengths: dict[_Key, int] = {}
    for each in placed:
        if each.n is not None:
            key = each.segment.ends_with
            lengths[key] = max(each.segment.lines, lengths.get(key, 0))
    ends = stored.ends(lengths)
    if ends is None:
        return FewSegments(spans, placed, journals, None)
    known, followed = ends
    return FewSegments(
        spans,
        [replace(each, is_known=each.n is not None and each.segment.ends_with in known) for each in placed],
        journals,
        followed,
    )


def _spans(facts: DataFrame, jobs: Jobs) -> list[Row] | None:
    first = F.struct("node", "since", heads.number_or_null().alias("number"))
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
    """Return whether these journals have waiting rows, or too many names to ask."""
    few = tables.few_rows("quarantine")
    if few is not None:
        ours = pc.and_(pc.equal(few["dialect"], DIALECT), pc.equal(few["status"], "deferred"))
        return bool(pc.any(pc.and_(ours, pc.is_in(few["namespace"], pa.array(names, pa.string())))).as_py())
    if len(names) > MOST_NAMED:
        return True
    rows = of_journals(tables.read("quarantine"), names, tables)
    return jobs.has_rows(rows.where((F.col("dialect") == DIALECT) & (F.col("status") == "deferred")))


def _journals(names: Sequence[str], tables: Tables, jobs: Jobs) -> dict[str, Mapping[str, Any]] | None:
    """Return the stored rows of these journals by namespace, or None if they are too many or have many leaves."""
    columns = ["namespace", "tip_hash", "tip_number", "tip_n", "leaves"]
    few = tables.few_rows(JOURNALS)
    if few is not None:
        rows: _Rows = (
            few.filter(pc.is_in(few["namespace"], pa.array(names, pa.string()))).select(columns).to_pylist()
        )
        return {row["namespace"]: row for row in rows}
    if len(names) > MOST_NAMED:
        return None
    leaves = F.when(F.size("leaves") <= _MOST_LEAVES, F.col("leaves")).alias("leaves")
    found = jobs.few(
        of_journals(tables.read(JOURNALS), names, tables).select(*columns[:-1], leaves), MOST_NAMED
    )
    if found is None or any(row["leaves"] is None for row in found):
        return None
    return {row["namespace"]: row.asDict(recursive=True) for row in found}


def _leaves(journals: Iterable[Mapping[str, Any]]) -> dict[_Key, int]:
    """Return n of the leaves of stored journals. In profile 0.12 only the tip is found: the record id of another leaf
    does not contain its hash.
    """
    found: dict[_Key, int] = {}
    for row in journals:
        found.update(
            ((row["namespace"], bytes(leaf["record_id"]).hex()), leaf["n"]) for leaf in row["leaves"]
        )
        found[row["namespace"], row["tip_hash"]] = row["tip_n"]
    return found


def _parents(wanted: set[_Key], facts: DataFrame, jobs: Jobs) -> dict[_Key, kernels.Place] | None:
    """Return the place of the first element of the run with each hash that is wanted, or None if too many have one."""
    if not wanted:
        return {}
    hashes = sorted({line for _, line in wanted})
    named = facts.where(elements.is_candidate() & F.col("hash").isin(hashes))
    columns = ("file_no", "part", "frame", "idx", "head")
    rows = jobs.few(named.select(heads.namespace().alias("namespace"), "hash", *columns), FEW_SEGMENTS)
    if rows is None:
        return None
    found: dict[_Key, kernels.Place] = {}
    for namespace, line, *place in sorted(rows, key=lambda row: row[2:]):
        file_no, part, frame, idx, head = place
        found.setdefault((namespace, line), (file_no, part, frame, idx, head))
    return found


class _StoredLines:
    """Questions about the stored lines of some journals."""

    def __init__(self, names: Sequence[str], tables: Tables, jobs: Jobs) -> None:
        self._names = names
        self._tables = tables
        self._jobs = jobs
        few = tables.few_rows(LINES)
        if few is not None:
            few = few.filter(pc.is_in(few["namespace"], pa.array(names, pa.string())))
        self._few = few

    def places(self, keys: set[_Key]) -> dict[_Key, int] | None:
        """Return n of the stored lines with these hashes, or None if there are too many keys."""
        hashes = sorted({line for _, line in keys})
        rows = [] if not keys else self._rows(F.col("line_hash").isin(hashes), len(hashes))
        if rows is None:
            return None
        return {(name, line): n for name, n, line, _ in rows if (name, line) in keys}

    def ends(self, lengths: Mapping[_Key, int]) -> tuple[frozenset[_Key], frozenset[_Key]] | None:
        """Return which segments are stored, and the ends of which a stored line follows; None if they are too many.

        `lengths` is the number of lines of a segment, by the hash of its last line. Of a large table only that line is
        asked: the accepted lines of a journal contain the predecessor of each.
        """
        hashes = sorted({line for _, line in lengths})
        is_asked = F.col("line_hash").isin(hashes) | F.col("line_number").isin(hashes)
        rows = [] if not lengths else self._rows(is_asked, len(hashes))
        if rows is None:
            return None
        before = {(name, line): number for name, _, line, number in rows}
        asked = {key: length if self._few is not None else 1 for key, length in lengths.items()}
        stored = (key for key, length in asked.items() if _is_chain(key, length, before))
        followed = {(name, number) for name, _, _, number in rows if number is not None}
        return frozenset(stored), frozenset(followed.intersection(lengths))

    def _rows(self, which: Any, asked: int) -> list[tuple[str, int, str, str | None]] | None:
        columns = ("namespace", "n", "line_hash", "line_number")
        if self._few is not None:
            return list(zip(*(self._few[name].to_pylist() for name in columns), strict=True))
        if asked > MOST_NAMED or len(self._names) > MOST_NAMED:
            return None
        named = of_journals(self._tables.read(LINES), self._names, self._tables)
        rows = self._jobs.few(named.where(which).select(*columns), FEW_SEGMENTS)
        return None if rows is None else [tuple(row) for row in rows]


def _is_chain(last: _Key, length: int, before: Mapping[_Key, str | None]) -> bool:
    """Return whether the line and those before it are stored, as many as `length`; `before` has the number of each."""
    namespace, line = last
    here: str | None = line
    for _ in range(length):
        if here is None or (namespace, here) not in before:
            return False
        here = before[namespace, here]
    return True
