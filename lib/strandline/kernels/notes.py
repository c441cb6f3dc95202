"""Signed notes of trees over batches: written, and opened again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from strandline.core.ed25519 import Ed25519Key
from strandline.core.notes import NoteRefused, TreeHead, log_name, open_note, sign
from strandline.kernels.batches import as_batch

NOTE_SCHEMA: Final = pa.schema({"namespace": pa.string(), "note": pa.string()})
REFUSED_SCHEMA: Final = pa.schema({"namespace": pa.string(), "refused": pa.string()})


def signed_notes(batches: Iterable[pa.RecordBatch], *, origin: str, seed: bytes) -> Iterator[pa.RecordBatch]:
    """Yield the signed note of each tree.  Reads: namespace, size, root.  Gives: NOTE_SCHEMA."""
    key = Ed25519Key(seed)
    for batch in batches:
        rows = [
            (namespace, sign(TreeHead(log_name(origin, namespace), size, root), key))
            for namespace, size, root in _values(batch, ("namespace", "size", "root"))
        ]
        if rows:
            yield as_batch(rows, NOTE_SCHEMA)


def refused_notes(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the trees whose note does not open with the key beside it, or states another tree, and why.

    Reads: namespace, size, root, origin, public_key, note.  Gives: REFUSED_SCHEMA.
    """
    names = ("namespace", "size", "root", "origin", "public_key", "note")
    for batch in batches:
        refused = [
            (namespace, why)
            for namespace, *stated in _values(batch, names)
            if (why := why_refused(namespace, *stated)) is not None
        ]
        if refused:
            yield as_batch(refused, REFUSED_SCHEMA)


def why_refused(
    namespace: str, size: int, root: bytes, origin: str | None, key: bytes | None, note: str
) -> str | None:
    """Return why a stored note is not one of this tree by this key, or None if it is."""
    if origin is None or key is None:
        return "its row has no origin or no key"
    name = log_name(origin, namespace)
    try:
        found = open_note(note, name, key)
    except NoteRefused as refused:
        return str(refused)
    return None if found == TreeHead(name, size, root) else "it states another tree than its row"


def _values(batch: pa.RecordBatch, names: Iterable[str]) -> Iterator[tuple]:  # type: ignore[type-arg]
    return zip(*(batch.column(name).to_pylist() for name in names), strict=True)
