"""Namespaces and buckets: how an id from data is named and placed without ever becoming a path."""

import hashlib
from typing import Literal, get_args
from urllib.parse import quote

NamespaceKind = Literal["node", "group", "log", "authority", "context"]


def namespace(kind: NamespaceKind, id: str) -> str:  # noqa: A002 - the product's own word
    """Return the namespace `<kind>:<id>`, the unit of merging and of state."""
    return f"{kind}:{id}"


def namespaces_named(given: str) -> tuple[str, ...]:
    """Return the namespaces that an operator's text may name: itself, or an id of each kind, as it is or encoded."""
    try:
        spelled = quote(given, safe="")
    except UnicodeEncodeError:
        # An argument that is not UTF-8: no namespace is.
        return ()
    ids = dict.fromkeys((given, spelled))
    return tuple(
        dict.fromkeys((given, *(f"{kind}:{each}" for kind in get_args(NamespaceKind) for each in ids)))
    )


def bucket_of(namespace: str, buckets: int) -> int:
    """Return the partition of a namespace: the first two bytes of SHA-256 of its UTF-8, big-endian, modulo N.

    Portable by design: Spark SQL, Python and any other engine compute it alike.
    """
    return bucket_of_digest(hashlib.sha256(namespace.encode("utf-8")).digest(), buckets)


def bucket_of_digest(digest: bytes, buckets: int) -> int:
    """Return the partition of a row without a namespace, from the first two bytes of its own id."""
    return int.from_bytes(digest[:2], "big") % buckets
