"""The claims on a block: its delivered content address and the id of the snapshot around it."""

from __future__ import annotations

import hashlib

from strandline.dialects.ipfslog.codec import address_text, parse_cid, parse_cid_bytes
from strandline.dialects.ipfslog.types import MAX_ID_BYTES, Cid


def judge_id(digest: bytes, claimed: str | None, snapshot_id: str | None) -> bytes:
    """Return the id of a block together with the claims that do not match it."""
    if claimed is None and snapshot_id is None:
        return digest
    parts = (digest, b"" if claimed is None else claimed.encode("utf-8"), (snapshot_id or "").encode("utf-8"))
    joined = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hashlib.sha256(joined + (b"\x01" if snapshot_id is not None else b"\x00")).digest()


def is_address_of(claimed: str | bytes | None, digest: bytes) -> bool:
    """Return whether the claimed content address has this digest; True without a claim."""
    if claimed is None:
        return True
    cid = parse_cid(claimed) if isinstance(claimed, str) else parse_cid_bytes(claimed)
    return isinstance(cid, Cid) and cid.digest == digest


def claimed_text(claimed: str | bytes | None) -> str | None:
    """Return a claimed content address as a text that `parse_cid` reads as the same address."""
    return address_text(claimed) if isinstance(claimed, bytes) else claimed


def is_log_id(log_id: str) -> bool:
    """Return whether a log may have this id."""
    return 1 <= len(log_id.encode("utf-8")) <= MAX_ID_BYTES
