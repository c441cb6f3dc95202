"""Heads of few segments to positions, in the driver: what `spark.positions` finds by joins for many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import pyarrow as pa

from strandline.core.ids import bucket_of, namespace
from strandline.dialects.sdmp.codec import profile_of
from strandline.dialects.sdmp.kernels.heads import RESOLVE_COLUMNS, resolve_heads
from strandline.dialects.sdmp.types import line_hash

Place: TypeAlias = tuple[int, int, int, int, int]
"""file_no, part, frame, idx and head of an element: the order of deliveries."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a run. `number` (None: line 1), `since` and `node` are those of its head."""

    file_no: int
    part: int
    frame: int
    head: int
    lines: int
    node: str
    number: str | None
    since: str | None
    last_hash: str

    @property
    def namespace(self) -> str:
        """The namespace of its journal."""
        return namespace("node", self.node)

    @property
    def head_id(self) -> str:
        """The id of the segment in its run."""
        return _head_id(self.file_no, self.part, self.frame, self.head)

    @property
    def follows(self) -> tuple[str, str] | None:
        """The namespace and the hash of the line that it follows; None if it starts with line 1."""
        return None if self.number is None else (self.namespace, self.number)

    @property
    def ends_with(self) -> tuple[str, str]:
        """The namespace and the hash of its last line."""
        return self.namespace, self.last_hash


@dataclass(frozen=True, slots=True)
class PlacedHead:
    """A segment with the position n of its head, or None if its predecessor is not known.

    `has_stored`: lines of its journal are stored. `overlaps`: another placed segment has a line with the same n.
    `is_known`: all of its lines are stored.
    """

    segment: Segment
    attached_n: int | None
    has_stored: bool
    n: int | None = None
    overlaps: bool = False
    is_known: bool = False

    @property
    def last_n(self) -> int | None:
        """The position of its last line."""
        return None if self.n is None else self.n + self.segment.lines - 1

    def row(self, source: str | None, buckets: int) -> dict[str, object]:
        """Return the row of HEAD_SCHEMA."""
        each = self.segment
        return {
            "file_no": each.file_no, "part": each.part, "frame": each.frame, "head": each.head,
            "head_id": each.head_id, "namespace": each.namespace, "node": each.node, "number": each.number,
            "since": each.since, "lines": each.lines, "bucket": bucket_of(each.namespace, buckets), "is_chunk": False,
            "source": source,
            "attached_n": self.attached_n, "has_stored": self.has_stored, "n": self.n, "overlaps": self.overlaps,
            "is_known": self.is_known,
        }  # fmt: skip


HEAD_SCHEMA: Final = pa.schema(
    {
        "file_no": pa.int64(), "part": pa.int64(), "frame": pa.int64(), "head": pa.int64(), "head_id": pa.string(),
        "namespace": pa.string(), "node": pa.string(), "number": pa.string(), "since": pa.string(),
        "lines": pa.int64(), "bucket": pa.int32(), "is_chunk": pa.bool_(), "source": pa.string(),
        "attached_n": pa.int64(),
        "has_stored": pa.bool_(), "n": pa.int64(), "overlaps": pa.bool_(), "is_known": pa.bool_(),
    }
)  # fmt: skip


def attached_heads(
    segments: Iterable[Segment], journals: Iterable[str], leaves: Mapping[tuple[str, str], int]
) -> list[PlacedHead]:
    """Return the heads that are line 1, follow it or follow a leaf, with attached_n; the others without.

    `journals` are the stored namespaces, `leaves` the n of their leaves by namespace and hash.
    """
    stored = frozenset(journals)
    return [PlacedHead(each, _attached_n(each, leaves), each.namespace in stored) for each in segments]


def _attached_n(segment: Segment, leaves: Mapping[tuple[str, str], int]) -> int | None:
    follows = segment.follows
    if follows is None:
        return 0
    profile = profile_of(segment.node)
    if profile is not None and follows[1] == line_hash(segment.node.encode("ascii"), profile):
        return 1
    return leaves.get(follows)


def placed_heads(
    heads: Sequence[PlacedHead],
    parents: Mapping[tuple[str, str], Place],
    lines: Mapping[tuple[str, str], int],
) -> list[PlacedHead]:
    """Return the heads with n where it is known: after a stored line, or over other heads after one.

    For heads without attached_n, `parents` is the first element of the run with the hash that they follow, and `lines`
    the n of the stored line with it, both by namespace and hash.
    """
    rows: list[tuple[str, str, int | None, str | None, int | None]] = []
    found: list[PlacedHead] = []
    for head in heads:
        follows = head.segment.follows
        place = None
        if head.attached_n is None and follows is not None:
            place = parents.get(follows)
            if place is None and follows in lines:
                head = replace(head, attached_n=lines[follows], has_stored=True)
        parent = (None, None) if place is None else (_head_id(*place[:3], place[4]), place[3] - place[4])
        rows.append((head.segment.namespace, head.segment.head_id, head.attached_n, *parent))
        found.append(head)
    n = _resolved(sorted(rows))
    return _with_overlaps([replace(head, n=n.get(head.segment.head_id)) for head in found])


def _resolved(rows: Sequence[tuple[str, str, int | None, str | None, int | None]]) -> dict[str, int]:
    kinds = (pa.string(), pa.string(), pa.int64(), pa.string(), pa.int64())
    columns = [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds)]
    batch = pa.RecordBatch.from_arrays(columns, list(RESOLVE_COLUMNS))
    return {row["head_id"]: row["n"] for found in resolve_heads([batch]) for row in found.to_pylist()}


def _with_overlaps(heads: Sequence[PlacedHead]) -> list[PlacedHead]:
    by_journal: dict[str, list[tuple[int, int, int]]] = {}
    for at, head in enumerate(heads):
        if head.n is not None:
            by_journal.setdefault(head.segment.namespace, []).append(
                (head.n, head.n + head.segment.lines - 1, at)
            )
    overlapping: set[int] = set()
    for stretches in by_journal.values():
        stretches.sort()
        end, owner = -1, -1
        for first, last, at in stretches:
            if first <= end:
                overlapping.update((owner, at))
            if last > end:
                end, owner = last, at
    return [replace(head, overlaps=at in overlapping) for at, head in enumerate(heads)]


def _head_id(file_no: int, part: int, frame: int, head: int) -> str:
    return f"{file_no}:{part}:{frame}:{head}"
