"""The state of a log: its reduced rows, and the bytes whose hash is equal for equal states."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from strandline.dialects.ipfslog.codec import dag_cbor
from strandline.dialects.ipfslog.reduce.configuration import LogConfiguration
from strandline.dialects.ipfslog.reduce.dag import Dag, Mode, Node, node_of
from strandline.dialects.ipfslog.reduce.stores import (
    STORES_WITH_ROWS,
    DocumentRow,
    document_groups,
    document_rows,
)
from strandline.dialects.ipfslog.types import DIALECT, Entry

ORDER_BLOCK: Final = 65_536
"""Positions covered by one hash of the order; the hashes of blocks without changes are reused."""


@dataclass(frozen=True, slots=True)
class HeadRow:
    """A row of `ipfs_log_head`; rank 1 is the greatest k."""

    record_id: bytes
    rank: int


@dataclass(frozen=True, slots=True)
class TailRow:
    """A row of `ipfs_log_tail`: a root, or an entry whose parents `missing` are not stored."""

    record_id: bytes
    kind: Literal["root", "partial"]
    missing: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ViewRow:
    """A row of `ipfs_log_view`: an entry or a skeleton at its position, from 1."""

    record_id: bytes
    position: int
    tied: bool
    clock_ok: bool


@dataclass(frozen=True, slots=True)
class LogState:
    """The state of one log under one configuration; `documents` is None for stores without rows.

    `order_blocks` and `document_groups` are the joined hashes from which the state hash is computed; None while the
    order has one block. `record_count` counts all entries and skeletons, `count` those whose writer is on the write
    list, and skeletons.
    """

    mode: Mode
    heads: tuple[HeadRow, ...]
    tails: tuple[TailRow, ...]
    view: tuple[ViewRow, ...]
    documents: tuple[DocumentRow, ...] | None
    missing: tuple[bytes, ...]
    denied: tuple[bytes, ...]
    count: int
    record_count: int
    reducer_version: str
    state_hash: bytes
    order_blocks: bytes | None
    document_groups: bytes | None

    @property
    def values(self) -> tuple[bytes, ...]:
        """All ids, oldest first."""
        return tuple(row.record_id for row in self.view)


def reduce_log(
    entries: Iterable[Entry],
    configuration: LogConfiguration | None = None,
    skeletons: Iterable[Node] = (),
) -> LogState:
    """Return the state of a log from the set of its accepted entries; their order of arrival does not matter.

    The state has the entries whose writer is on the write list, and skeletons of pruned entries. An entry that is
    delivered again after it was pruned does not count.
    """
    config = configuration or LogConfiguration()
    pruned = {node.record_id: node for node in skeletons}
    stored = {entry.record_id: entry for entry in entries if entry.record_id not in pruned}
    listed = {record_id: entry for record_id, entry in stored.items() if config.may_write(entry)}
    dag = Dag([*map(node_of, listed.values()), *pruned.values()])
    documents = None
    if config.store in STORES_WITH_ROWS:
        in_order = (listed[record_id] for record_id in dag.values if record_id in listed)
        documents = document_rows(config.store, in_order)
    blocks = order_blocks(dag.values)
    groups = None if documents is None else document_groups(documents.values())
    has_one_block = len(blocks) <= 1
    return LogState(
        mode=dag.mode,
        heads=tuple(HeadRow(record_id, rank) for rank, record_id in enumerate(dag.heads, start=1)),
        tails=_tails(dag),
        view=_view(dag),
        documents=None if documents is None else tuple(documents[key] for key in sorted(documents)),
        missing=dag.missing,
        denied=tuple(sorted(stored.keys() - listed.keys())),
        count=len(dag.nodes),
        record_count=len(stored) + len(pruned),
        reducer_version=config.reducer_version,
        state_hash=state_hash(len(dag.nodes), dag.mode, dag.heads, dag.missing, blocks, groups),
        order_blocks=None if has_one_block else b"".join(blocks),
        document_groups=None if has_one_block or groups is None else b"".join(groups),
    )


def _tails(dag: Dag) -> tuple[TailRow, ...]:
    rows = []
    for record_id in dag.tails:
        missing = dag.missing_of(record_id)
        rows.append(TailRow(record_id, "partial" if missing else "root", missing))
    return tuple(rows)


def _view(dag: Dag) -> tuple[ViewRow, ...]:
    tied = dag.tied()
    return tuple(
        ViewRow(record_id, position, record_id in tied, dag.is_clock_ok(record_id))
        for position, record_id in enumerate(dag.values, start=1)
    )


def order_blocks(values: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the hashes of the digests in order, one per `ORDER_BLOCK` positions."""
    return tuple(
        hashlib.sha256(b"".join(values[start : start + ORDER_BLOCK])).digest()
        for start in range(0, len(values), ORDER_BLOCK)
    )


def state_hash(
    count: int,
    mode: str,
    heads: Iterable[bytes],
    missing: Iterable[bytes],
    blocks: Iterable[bytes],
    groups: Iterable[bytes] | None,
) -> bytes:
    """Return SHA-256 of the canonical state: dag-cbor of count, mode, heads, missing, order and documents."""
    state = dag_cbor(
        {
            "dialect": DIALECT,
            "count": count,
            "mode": mode,
            "heads": sorted(heads),
            "missing": sorted(missing),
            "order": hashlib.sha256(b"".join(blocks)).digest(),
            "documents": None if groups is None else hashlib.sha256(b"".join(groups)).digest(),
        }
    )
    return hashlib.sha256(state).digest()
