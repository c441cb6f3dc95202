"""Namespaces and buckets: how an id from data is named and placed without ever becoming a path."""

import hashlib
from typing import Literal

NamespaceKind = Literal["node", "group", "log", "authority", "context"]


def namespace(kind: NamespaceKind, id: str) -> str:  # noqa: A002 - the product's own word
    """Return the namespace `<kind>:<id>`, the unit of merging and of state."""
    return f"{kind}:{id}"


def bucket_of(namespace: str, buckets: int) -> int:
    """Return the partition of a namespace: the first two bytes of SHA-256 of its UTF-8, big-endian, modulo N.

    Portable by design: Spark SQL, Python and any other engine compute it alike.
    """
    return bucket_of_digest(hashlib.sha256(namespace.encode("utf-8")).digest(), buckets)


def bucket_of_digest(digest: bytes, buckets: int) -> int:
    """Return the partition of a row without a namespace, from the first two bytes of its own id."""
    return int.from_bytes(digest[:2], "big") % buckets
