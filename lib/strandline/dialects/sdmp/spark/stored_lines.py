"""Stored lines that small input is about: those that its segments follow, and those with which they end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from pyspark.sql import Column

from strandline.dialect_api.ports import Jobs, Tables
from strandline.dialects.sdmp.spark.tables import LINES, of_few
from strandline.frames.listed import MOST_PUSHED, is_listed
from strandline.frames.namespaces import only_namespaces

FEW_SEGMENTS: Final = 2_000
"""Segments of a run, and rows of a table that are about them: up to so many are placed in the driver."""

LineKey: TypeAlias = tuple[str, str]
"""A namespace, and the hash of one of its lines."""


class StoredLine(NamedTuple):
    """A stored line that a head follows: its n, and its number (None: line 1)."""

    n: int
    number: str | None


class StoredLines:
    """Questions about the stored lines of some journals."""

    def __init__(self, names: Sequence[str], tables: Tables, jobs: Jobs) -> None:
        self._names = names
        self._tables = tables
        self._jobs = jobs
        few = tables.few_rows(LINES)
        self._few = None if few is None else of_few(few, names)

    def lines(self, keys: set[LineKey]) -> dict[LineKey, StoredLine] | None:
        """Return the stored lines with these hashes, or None if there are too many keys."""
        hashes = sorted({line for _, line in keys})
        rows = [] if not keys else self._rows(lambda: is_listed("line_hash", hashes), len(hashes))
        if rows is None:
            return None
        return {(name, line): StoredLine(n, number) for name, n, line, number in rows if (name, line) in keys}

    def ends(
        self, lengths: Mapping[LineKey, int], last_ns: set[int]
    ) -> tuple[frozenset[LineKey], frozenset[LineKey]] | None:
        """Return which segments are stored, and the ends of which a stored line follows; None if they are too many.

        `lengths` is the number of lines of a segment, by the hash of its last line; `last_ns` are the n of these lines.
        Of a large table only they and the lines after them are asked: the accepted lines of a journal contain the
        predecessor of each.
        """
        hashes = sorted({line for _, line in lengths})

        def is_asked() -> Column:
            is_here = is_listed("n", sorted(last_ns | {n + 1 for n in last_ns}))
            return is_here & (is_listed("line_hash", hashes) | is_listed("line_number", hashes))

        rows = [] if not lengths else self._rows(is_asked, len(hashes))
        if rows is None:
            return None
        before = {(name, line): number for name, _, line, number in rows}
        asked = {key: length if self._few is not None else 1 for key, length in lengths.items()}
        stored = (key for key, length in asked.items() if _is_chain(key, length, before))
        followed = {(name, number) for name, _, _, number in rows if number is not None}
        return frozenset(stored), frozenset(followed.intersection(lengths))

    def _rows(self, which: Callable[[], Column], asked: int) -> list[tuple[str, int, str, str | None]] | None:
        """Return the rows that meet a condition, or more; None if too many are asked for.

        The condition is made if Spark is asked alone: a list of thousands takes it longer than the rows.
        """
        columns = ("namespace", "n", "line_hash", "line_number")
        if self._few is not None:
            return list(zip(*(self._few[name].to_pylist() for name in columns), strict=True))
        if asked > MOST_PUSHED or len(self._names) > MOST_PUSHED:
            return None
        named = only_namespaces(self._tables.read(LINES), self._names, self._tables.buckets)
        rows = self._jobs.few(named.where(which()).select(*columns), FEW_SEGMENTS)
        return None if rows is None else [tuple(row) for row in rows]


def _is_chain(last: LineKey, length: int, before: Mapping[LineKey, str | None]) -> bool:
    """Return whether the line and those before it are stored, as many as `length`; `before` has the number of each."""
    namespace, line = last
    here: str | None = line
    for _ in range(length):
        if here is None or (namespace, here) not in before:
            return False
        here = before[namespace, here]
    return True
