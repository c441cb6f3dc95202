"""What a block came with: the content address, and the snapshot around it."""

from __future__ import annotations

import hashlib

from strandline.dialects.ipfslog.codec import address_text, parse_cid, parse_cid_bytes
from strandline.dialects.ipfslog.types import MAX_ID_BYTES, BlockDocument, Cid, JsonDocument


def judge_id(digest: bytes, claimed: str | None, snapshot_id: str | None) -> bytes:
    """Return what names a block together with the claims that are not its own."""
    if claimed is None and snapshot_id is None:
        return digest
    parts = (digest, b"" if claimed is None else claimed.encode("utf-8"), (snapshot_id or "").encode("utf-8"))
    joined = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hashlib.sha256(joined + (b"\x01" if snapshot_id is not None else b"\x00")).digest()


def names(claimed: str | bytes | None, digest: bytes) -> bool:
    """Return whether a content address, if there is one, is that of the block with this digest."""
    if claimed is None:
        return True
    cid = parse_cid(claimed) if isinstance(claimed, str) else parse_cid_bytes(claimed)
    return isinstance(cid, Cid) and cid.digest == digest


def as_text(claimed: str | bytes | None) -> str | None:
    """Return a content address as a text that is read as the same."""
    return address_text(claimed) if isinstance(claimed, bytes) else claimed


def is_log_id(log_id: str) -> bool:
    """Return whether a log may have this id."""
    return 1 <= len(log_id.encode("utf-8")) <= MAX_ID_BYTES


def claimed_digest(document: BlockDocument | JsonDocument) -> bytes | None:
    """Return the digest that the address of a document names, None without one that can be read."""
    claimed = document.claimed if isinstance(document, BlockDocument) else document.value.get("hash")
    if not isinstance(claimed, str | bytes):
        return None
    cid = parse_cid(claimed) if isinstance(claimed, str) else parse_cid_bytes(claimed)
    return cid.digest if isinstance(cid, Cid) else None
