"""Merkle trees by the words of RFC 9162, section 2.1, one leaf after the other: the oracle of `core.merkle`."""

import hashlib
from collections.abc import Sequence

RECORDS = [hashlib.sha256(f"record-{number}".encode()).digest() for number in range(8)]
"""Ids of records of the published vectors."""
LEAVES = [RECORDS[number] for number in (4, 3, 2, 0, 1, 7, 6, 5)]
"""Their order in the tree: five of a first checkpoint, then three, each ascending."""


def tree_root(data: Sequence[bytes]) -> bytes:
    """Return MTH(D[n])."""
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\0" + data[0]).digest()
    split = 1
    while split * 2 < len(data):
        split *= 2
    return hashlib.sha256(b"\1" + tree_root(data[:split]) + tree_root(data[split:])).digest()


def ids(count: int) -> list[bytes]:
    """Return so many ids."""
    return [hashlib.sha256(b"id %d" % number).digest() for number in range(count)]


def flipped(data: bytes, bit: int) -> bytes:
    """Return the bytes with one bit changed."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
