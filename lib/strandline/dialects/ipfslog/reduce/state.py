"""The state of a log: its reduced rows, and the bytes whose hash is equal for equal states."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal

from strandline.dialects.ipfslog.codec import dag_cbor
from strandline.dialects.ipfslog.reduce.configuration import LogConfiguration
from strandline.dialects.ipfslog.reduce.dag import Dag, Mode, Node, node_of
from strandline.dialects.ipfslog.reduce.stores import (
    STORES_WITH_ROWS,
    DocumentRow,
    Op,
    Store,
    document_groups,
    document_rows,
    ops_of,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReducedDag:
    """What the entries and skeletons of a log determine that count; `documents` is None for stores without rows.

    `order_blocks` and `document_groups` are the joined hashes from which the state hash is computed; None while the
    order has one block. `count` is the number of entries and skeletons.
    """

    mode: Mode
    heads: tuple[HeadRow, ...]
    tails: tuple[TailRow, ...]
    view: tuple[ViewRow, ...]
    documents: tuple[DocumentRow, ...] | None
    missing: tuple[bytes, ...]
    count: int
    state_hash: bytes
    order_blocks: bytes | None
    document_groups: bytes | None

    @property
    def values(self) -> tuple[bytes, ...]:
        """All ids, oldest first."""
        return tuple(row.record_id for row in self.view)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogState(ReducedDag):
    """The state of one log under one configuration.

    `record_count` counts all entries and skeletons, `count` those whose writer is on the write list, and skeletons.
    """

    denied: tuple[bytes, ...]
    record_count: int
    reducer_version: str


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
    reduced = reduce_dag(
        Dag([*map(node_of, listed.values()), *pruned.values()]),
        config.store,
        lambda record_id: ops_of(listed[record_id]) if record_id in listed else (),
        ORDER_BLOCK,
    )
    return LogState(
        **{member.name: getattr(reduced, member.name) for member in fields(reduced)},
        denied=tuple(sorted(stored.keys() - listed.keys())),
        record_count=len(stored) + len(pruned),
        reducer_version=config.reducer_version,
    )


def reduce_dag(dag: Dag, store: Store, ops: Callable[[bytes], Sequence[Op]], order_block: int) -> ReducedDag:
    """Return the rows and the state hash of a log.

    `ops` returns the possible effects of an entry: `ops_of`. `order_block` is `ORDER_BLOCK`; a test may take less.
    """
    documents = None
    if store in STORES_WITH_ROWS:
        documents = document_rows(store, ((record_id, ops(record_id)) for record_id in dag.values))
    blocks = order_blocks(dag.values, order_block)
    groups = None if documents is None else document_groups(documents.values())
    has_one_block = len(blocks) <= 1
    return ReducedDag(
        mode=dag.mode,
        heads=tuple(HeadRow(record_id, rank) for rank, record_id in enumerate(dag.heads, start=1)),
        tails=_tails(dag),
        view=_view(dag),
        documents=None if documents is None else tuple(documents[key] for key in sorted(documents)),
        missing=dag.missing,
        count=len(dag.nodes),
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


def order_blocks(values: Sequence[bytes], size: int = ORDER_BLOCK) -> tuple[bytes, ...]:
    """Return the hashes of the digests in order, one per `size` positions."""
    return tuple(
        hashlib.sha256(b"".join(values[start : start + size])).digest()
        for start in range(0, len(values), size)
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
