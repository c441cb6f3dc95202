"""From stored states of groups and their new entries to changed rows, group by group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa

from strandline.dialects.devicelog.kernels import grown_rows
from strandline.dialects.devicelog.kernels.headers import HEADER_COLUMNS, Headers, group_of
from strandline.dialects.devicelog.kernels.reduction import reduced_batches
from strandline.dialects.devicelog.kernels.schemas import TIP_COLUMNS
from strandline.dialects.devicelog.kernels.stored_groups import stored_tail, stored_tips
from strandline.dialects.devicelog.reduce.increment import can_extend, increment, needed_above
from strandline.dialects.devicelog.types import ForkPolicy, Header
from strandline.kernels.batches import as_batch, slices

STORED: Final = {
    "tip": tuple(TIP_COLUMNS),
    "view": ("record_id", "log", "seq", "lamport", "utc", "position", "final", "prefix_hash"),
    "screw": ("log", "rewind"),
    "state": ("record_count",),
    "total": ("entry_count",),
    "new": HEADER_COLUMNS[2:],
    "window": HEADER_COLUMNS[2:],
}
"""Columns of the rows of each part, besides namespace and bucket."""

MAX_STORED: Final = 1_000_000
"""Branches in the pasts and bounds of the stored tips of a group, each with its seq: 300 MiB."""

WHOLE: Final = "whole"
"""The part of a row that says: this group must be reduced from all of its entries."""

WINDOW_SCHEMA: Final = pa.schema([
    pa.field("namespace", pa.string()), pa.field("bucket", pa.int32()), pa.field("log", pa.binary()),
    pa.field("above", pa.int64()), pa.field("upto", pa.int64()),
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Group:
    """The rows of one namespace by part, and its entries that are new or in the window."""

    namespace: str
    bucket: int
    rows: dict[str, list[Any]]
    new: list[Header]
    window: list[Header]


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[_Group]:
    """Yield the namespaces, whose rows follow one another; one namespace is in memory at a time."""
    for (namespace, bucket), rows in groupby(_tuples(batches), key=itemgetter(0, 1)):
        yield _group(namespace, bucket, rows)


def _group(namespace: str, bucket: int, rows: Iterable[tuple[Any, ...]]) -> _Group:
    """Return a group; without its rows, as if it were new, if its tips have more values than MAX_STORED."""
    parts: dict[str, list[Any]] = {part: [] for part in STORED}
    headers = Headers(namespace)
    values = 0
    for _, _, part, row in rows:
        if part == "tip":
            values += len(row["past"] or ()) + len(row["bounds"] or ())
            if values > MAX_STORED:
                return _Group(namespace, bucket, {each: [] for each in STORED}, [], [])
        is_entry = part in ("new", "window")
        parts[part].append(headers.of(*(row[name] for name in HEADER_COLUMNS[2:])) if is_entry else row)
    new, window = parts.pop("new"), parts.pop("window")
    return _Group(namespace, bucket, parts, new, window)


def _tuples(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        for some in slices(batch):
            parts = some.column("part").to_pylist()
            columns = {name: some.column(name).to_pylist() for name in {*parts}}
            named = zip(some.column("namespace").to_pylist(), some.column("bucket").to_pylist(), strict=True)
            for place, ((namespace, bucket), part) in enumerate(zip(named, parts, strict=True)):
                yield namespace, bucket, part, columns[part][place]


def windows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the ranges of stored entries that an increment needs.

    Reads: namespace, bucket, part, and STORED of the parts `tip` and `new`, the rows of a namespace together.
    Gives: WINDOW_SCHEMA: by log the seqs above `above` and up to `upto`, its tip. A group that must be reduced whole
    has one row with a null log: it is new, it has a fork, its tips have more values than MAX_STORED, or its new entries
    do not just extend tips.
    """
    for group in _groups(batches):
        stored = stored_tips(group.rows["tip"], {})
        if stored is None or not can_extend(stored.tips, group.new):
            rows: list[tuple[Any, ...]] = [(group.namespace, group.bucket, None, None, None)]
        else:
            needed = needed_above(stored.tips, group.new)
            rows = [
                (group.namespace, group.bucket, log, above, stored.tips[log].seq)
                for log, above in needed.items()
            ]
        yield as_batch(rows, WINDOW_SCHEMA)


def grown(batches: Iterable[pa.RecordBatch], *, policy: ForkPolicy) -> Iterator[pa.RecordBatch]:
    """Yield the state and the changed rows of each group.

    Reads: namespace, bucket, part, and STORED of all parts, the rows of a namespace together: its tips, the rows of its
    view that are not final and the last final one, the last screw of each log, its state, the number of entries, new
    entries and `windows`.
    Gives: REDUCED_SCHEMA; one row of the part WHOLE for a group that must be reduced whole, also if it has
    more or fewer entries than its state and the new ones: some were read before it was refused, or were deleted.
    """
    for group in _groups(batches):
        parts = _grown(group, policy) or ((WHOLE, [{}]),)
        for part, rows in parts:
            yield from reduced_batches(group.namespace, group.bucket, part, rows)


def _grown(group: _Group, policy: ForkPolicy) -> tuple[tuple[str, Iterable[dict[str, Any]]], ...] | None:
    stored = stored_tips(group.rows["tip"], {row["log"]: row["rewind"] for row in group.rows["screw"]})
    tail = stored_tail(group_of(group.namespace), group.rows["view"])
    counts = [row["record_count"] + len(group.new) for row in group.rows["state"]]
    totals = [row["entry_count"] for row in group.rows["total"]]
    if stored is None or tail is None or len(counts) != 1 or counts != totals:
        return None
    found = increment(
        stored.tips, tail.tail, tail.tail.start, group.window, group.new, is_waiting=stored.is_waiting
    )
    if found is None:
        return None
    return (
        ("state", [grown_rows.state_row(group_of(group.namespace), policy, stored, found, counts[0])]),
        ("view", grown_rows.view_rows(stored, tail.before, found)),
        ("screw", grown_rows.screw_rows(stored, found)),
        ("tip", grown_rows.tip_rows(stored, found, group.new)),
    )
