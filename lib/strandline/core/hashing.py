"""Tagged hashes of rows and sets. The tag prevents that a hash of one kind is taken for one of another kind."""

import hashlib
from collections.abc import Iterable, Sequence

ID_BYTES = 32
SET_BUCKET_TAG = "strandline/set-bucket/1"
"""The tag of the hash of the values of a set with one first byte."""


def tagged(tag: str, data: bytes) -> bytes:
    """Return T(tag, data) = SHA-256(ascii(tag) || 00 || data), 32 bytes."""
    return hashlib.sha256(tagged_content(tag, data)).digest()


def tagged_content(tag: str, data: bytes) -> bytes:
    """Return the bytes whose SHA-256 is T(tag, data)."""
    return tag.encode("ascii") + b"\x00" + data


def set_hash(values: Iterable[bytes]) -> bytes:
    """Return the 32-byte hash of a set of 32-byte values: equal hashes claim equal sets.

    `T("strandline/set/1", u64 |S| || B_0 || .. || B_255)`, little-endian; B_i is the tagged hash of the concatenated
    values with first byte i, ascending. Repeated values count once. An attacker who chooses the records can steer sums
    and xors, but not this hash.

    Raises:
        ValueError: a value is not 32 bytes long.
    """
    distinct = set(values)
    by_first_byte: list[list[bytes]] = [[] for _ in range(256)]
    for value in distinct:
        if len(value) != ID_BYTES:
            raise ValueError(f"a set hash is over values of {ID_BYTES} bytes, not {len(value)}")
        by_first_byte[value[0]].append(value)
    hashes = [bucket_hash(sorted(bucket)) if bucket else EMPTY_BUCKET for bucket in by_first_byte]
    return set_hash_of_buckets(len(distinct), hashes)


def bucket_hash(ascending: Iterable[bytes]) -> bytes:
    """Return B_i of `set_hash`: the hash of the distinct values with one first byte, in ascending order."""
    return tagged(SET_BUCKET_TAG, b"".join(ascending))


EMPTY_BUCKET = bucket_hash(())


def set_hash_of_buckets(count: int, hashes: Sequence[bytes]) -> bytes:
    """Return the set hash from the count and the 256 bucket hashes, so that no task holds all values.

    Raises:
        ValueError: there are not 256 hashes.
    """
    if len(hashes) != 256:
        raise ValueError(f"a set hash is over 256 bucket hashes, not {len(hashes)}")
    return tagged("strandline/set/1", count.to_bytes(8, "little") + b"".join(hashes))


def quarantine_id(
    dialect: str, namespace: str | None, status: str, reasons: Iterable[str], raw: bytes
) -> bytes:
    """Return the key of a quarantine row, 32 bytes; `raw` is the whole record, even if the row stores a part.

    It includes the verdict: a record that is rejected in one file and waits in another has two rows.
    """
    head = "\x00".join([dialect, namespace or "", status, ",".join(reasons), ""])
    return tagged("strandline/quarantine/1", head.encode("utf-8") + raw)


def equivocation_id(namespace: str, kind: str, key: str, position: str) -> bytes:
    """Return the key of an equivocation row, 32 bytes: one row per position at which a history forks."""
    return tagged("strandline/equivocation/1", "\x00".join([namespace, kind, key, position]).encode("utf-8"))
