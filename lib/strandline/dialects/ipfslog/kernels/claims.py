"""The claims on a block: its delivered content address and the id of the snapshot around it.

Each row has its claims. A snapshot is a line of up to 16 MiB with 65,536 elements, and its id may be half of it: what
no verdict and no evidence shows of a claim is cut.
"""

from __future__ import annotations

import hashlib
from typing import Final

from strandline.core.verdict import MAX_TEXT_CHARS
from strandline.dialects.ipfslog.codec import MAX_CID_CHARS, address_text, parse_cid, parse_cid_bytes
from strandline.dialects.ipfslog.types import MAX_ID_BYTES, Cid

_ADDRESS_CHARS: Final = MAX_CID_CHARS + 1
"""More characters than an address has: a longer text is malformed, also when it is cut here."""
_ID_CHARS: Final = MAX_TEXT_CHARS + 1
"""More characters than evidence shows."""


def judge_id(digest: bytes, claimed: str | None, snapshot_id: str | None) -> bytes:
    """Return the id of a block together with the claims that do not match it."""
    if claimed is None and snapshot_id is None:
        return digest
    parts = (digest, (claimed or "").encode("utf-8"), (snapshot_id or "").encode("utf-8"))
    joined = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    # A claim may be empty, which is another claim than none.
    return hashlib.sha256(joined + bytes([claimed is not None, snapshot_id is not None])).digest()


def is_address_of(claimed: str | bytes | None, digest: bytes) -> bool:
    """Return whether the claimed content address has this digest; True without a claim."""
    if claimed is None:
        return True
    cid = parse_cid(claimed) if isinstance(claimed, str) else parse_cid_bytes(claimed)
    return isinstance(cid, Cid) and cid.digest == digest


def claimed_text(claimed: str | bytes | None) -> str | None:
    """Return a claimed content address as a text that `parse_cid` reads as the same address, or as none."""
    text = address_text(claimed) if isinstance(claimed, bytes) else claimed
    return None if text is None else text[:_ADDRESS_CHARS]


def claimed_log(snapshot_id: str | None, log_id: str | None) -> str | None:
    """Return the id of a snapshot if it is not that of its block, else None.

    Of a long id this is a start that is not that of the block, either.
    """
    if snapshot_id is None or log_id is None or snapshot_id == log_id:
        return None
    start = snapshot_id[:_ID_CHARS]
    return snapshot_id[: _ID_CHARS + 1] if start == log_id else start


def is_log_id(log_id: str) -> bool:
    """Return whether a log may have this id."""
    return 1 <= len(log_id.encode("utf-8")) <= MAX_ID_BYTES
