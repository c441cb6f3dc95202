"""Entries of groups to their reduced rows, group by group, by the plain functions of `reduce`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import pyarrow as pa

from strandline.dialects.devicelog.kernels import reduced_rows as rows_of
from strandline.dialects.devicelog.kernels.headers import Rows, by_namespace
from strandline.dialects.devicelog.kernels.reduced_rows import Row
from strandline.dialects.devicelog.kernels.schemas import REDUCED_SCHEMA
from strandline.dialects.devicelog.reduce import MissingEntryError, State, reduce
from strandline.dialects.devicelog.types import ForkPolicy

_BATCH_ROWS: Final = 8192
_WIDE: Final = ("screw", "tip")
_WIDE_ROWS: Final = 64
"""Rows with pasts in them: each can have thousands of values."""
LOST: Final = "lost"
"""The part of a row that says: an accepted entry names one that is not there any more, so the group has no state."""


def reduced(batches: Iterable[pa.RecordBatch], *, policy: ForkPolicy) -> Iterator[pa.RecordBatch]:
    """Yield the state and the rows of each group.

    Reads: HEADER_COLUMNS of all accepted entries, the rows of a namespace together.
    Gives: REDUCED_SCHEMA, each row with one part. Memory: the headers of one group.
    Raises: MissingEntryError.
    """
    for found in by_namespace(batches):
        yield from _batches(found, _parts(reduce(found.headers, policy)))


def reduced_or_lost(batches: Iterable[pa.RecordBatch], *, policy: ForkPolicy) -> Iterator[pa.RecordBatch]:
    """Yield what `reduced` yields; a group that lacks an entry has one row of the part LOST instead."""
    for found in by_namespace(batches):
        try:
            state = reduce(found.headers, policy)
        except MissingEntryError:
            yield from _batches(found, ((LOST, [{}]),))
        else:
            yield from _batches(found, _parts(state))


def _batches(found: Rows, parts: Iterable[tuple[str, Iterable[Row]]]) -> Iterator[pa.RecordBatch]:
    for part, rows in parts:
        yield from reduced_batches(found.namespace, found.bucket, part, rows)


def _parts(state: State) -> Iterator[tuple[str, Iterable[Row]]]:
    yield "state", [rows_of.state_row(state)]
    yield "view", rows_of.view_rows(state)
    yield "screw", rows_of.screw_rows(state)
    yield "tip", rows_of.tip_rows(state)
    yield "member", rows_of.member_rows(state)


def reduced_batches(namespace: str, bucket: int, part: str, rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one part of a namespace as batches of REDUCED_SCHEMA."""
    waiting = iter(rows)
    size = _WIDE_ROWS if part in _WIDE else _BATCH_ROWS
    while some := list(islice(waiting, size)):
        yield _batch(namespace, bucket, part, some)


def _batch(namespace: str, bucket: int, part: str, rows: list[Row]) -> pa.RecordBatch:
    columns = []
    for each in REDUCED_SCHEMA:
        match each.name:
            case "namespace":
                columns.append(pa.array([namespace] * len(rows), each.type))
            case "bucket":
                columns.append(pa.array([bucket] * len(rows), each.type))
            case "part":
                columns.append(pa.array([part] * len(rows), each.type))
            case name if name == part:
                columns.append(pa.array(rows, each.type))
            case _:
                columns.append(pa.nulls(len(rows), each.type))
    return pa.RecordBatch.from_arrays(columns, schema=REDUCED_SCHEMA)
