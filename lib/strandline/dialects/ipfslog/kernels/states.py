"""Parts of logs to their state hashes, row by row."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from strandline.dialects.ipfslog.reduce import state_hash
from strandline.kernels.batches import as_batch

STATE_COLUMNS: Final = (
    "namespace", "entries", "mode", "heads", "missing", "kept_blocks", "blocks", "has_documents", "kept_groups",
    "groups",
)  # fmt: skip
STATE_SCHEMA: Final = pa.schema(
    [
        pa.field("namespace", pa.string()),
        pa.field("state_hash", pa.binary()),
        pa.field("order_blocks", pa.binary()),
        pa.field("document_groups", pa.binary()),
    ]
)
_DIGEST_BYTES: Final = 32
_GROUPS: Final = 256
_EMPTY: Final = hashlib.sha256(b"").digest()

_Part = Mapping[str, Any]


def state_hashes(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the state hash of each log, and the joined hashes that its next reduction starts from.

    Reads: STATE_COLUMNS: entries BIGINT; heads, missing ARRAY<BINARY>; kept_blocks, kept_groups BINARY (joined hashes
            that do not change, or null); blocks, groups ARRAY<STRUCT<place INT, digest BINARY>> (the other hashes;
            null is empty); has_documents: the store has rows.
    Gives: STATE_SCHEMA; order_blocks and document_groups are null while the order has one block.
    """
    for batch in batches:
        rows = [_row(row) for row in batch.select(STATE_COLUMNS).to_pylist()]
        if rows:
            yield as_batch(rows, STATE_SCHEMA)


def _row(row: Mapping[str, Any]) -> tuple[str, bytes, bytes | None, bytes | None]:
    blocks = _split(row["kept_blocks"])
    blocks += [part["digest"] for part in sorted(row["blocks"] or (), key=_place)]
    groups = _groups(row["kept_groups"], row["groups"] or ()) if row["has_documents"] else None
    found = state_hash(row["entries"], row["mode"], row["heads"] or (), row["missing"] or (), blocks, groups)
    is_short = len(blocks) <= 1
    return (
        row["namespace"],
        found,
        None if is_short else b"".join(blocks),
        None if is_short or groups is None else b"".join(groups),
    )


def _groups(kept: bytes | None, changed: Sequence[_Part]) -> list[bytes]:
    groups = _split(kept) or [_EMPTY] * _GROUPS
    for part in changed:
        groups[part["place"]] = part["digest"]
    return groups


def _split(joined: bytes | None) -> list[bytes]:
    raw = joined or b""
    return [raw[start : start + _DIGEST_BYTES] for start in range(0, len(raw), _DIGEST_BYTES)]


def _place(part: _Part) -> int:
    place: int = part["place"]
    return place
