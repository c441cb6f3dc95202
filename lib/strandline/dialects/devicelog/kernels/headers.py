"""Rows of `device_log_entry` as headers, namespace by namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa

from strandline.dialects.devicelog.codec import parse_statement
from strandline.dialects.devicelog.types import Header, ScrewStatement
from strandline.kernels.batches import slices

HEADER_COLUMNS: Final = (
    "namespace", "bucket", "record_id", "profile", "log", "seq", "kind", "lamport", "utc", "prev", "deps", "body",
)  # fmt: skip
"""What reducers read; `body` is null for the kinds of `NO_STATEMENT`."""

NO_STATEMENT: Final = ("msg", "ack")


@dataclass(frozen=True, slots=True)
class Rows:
    """The headers of one namespace."""

    namespace: str
    bucket: int
    headers: list[Header]


def by_namespace(batches: Iterable[pa.RecordBatch]) -> Iterator[Rows]:
    """Yield the headers of each namespace, whose rows follow one another; one namespace is in memory at a time."""
    for (namespace, bucket), rows in groupby(_tuples(batches), key=itemgetter(0, 1)):
        yield Rows(namespace, bucket, _headers(namespace, rows))


def _headers(namespace: str, rows: Iterable[tuple[Any, ...]]) -> list[Header]:
    headers = Headers(namespace)
    return [headers.of(*row[2:]) for row in rows]


def _tuples(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        for some in slices(batch):
            yield from zip(*(some.column(name).to_pylist() for name in HEADER_COLUMNS), strict=True)


class Headers:
    """Headers of one namespace from values of HEADER_COLUMNS; equal keys of logs are one object, and so are equal ids.

    An id that many entries name is held once. Drop this object once the headers are made: it holds all ids.
    """

    def __init__(self, namespace: str) -> None:
        self._group = group_of(namespace)
        self._logs: dict[bytes, bytes] = {}
        self._ids: dict[bytes, bytes] = {}

    def of(
        self, record_id: bytes, profile: Any, log: bytes, seq: int, kind: Any, lamport: int, utc: int,
        prev: bytes | None, deps: list[bytes], body: bytes | None,
    ) -> Header:  # fmt: skip
        """Return the header of a row: its values without namespace and bucket."""
        log = self._logs.setdefault(log, log)
        founds = log if record_id == self._group else None
        statement = (
            None if kind in NO_STATEMENT or body is None else parse_statement(kind, body, founds=founds)
        )
        if isinstance(statement, ScrewStatement):
            statement = replace(statement, from_heads=self._same(statement.from_heads))
        return Header(
            self._ids.setdefault(record_id, record_id), profile, self._group, log, seq, kind, lamport, utc,
            None if prev is None else self._ids.setdefault(prev, prev), self._same(deps) if deps else (), statement,
        )  # fmt: skip

    def _same(self, ids: Iterable[bytes]) -> tuple[bytes, ...]:
        return tuple([self._ids.setdefault(each, each) for each in ids])


def group_of(namespace: str) -> bytes:
    """Return the id of the group of a namespace."""
    return bytes.fromhex(namespace.removeprefix("group:"))
