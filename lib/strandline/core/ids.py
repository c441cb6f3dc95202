"""Namespaces and buckets: how an id from data is named and placed without ever becoming a path."""

import hashlib
from collections.abc import Sequence
from typing import Literal, get_args
from urllib.parse import quote

from strandline.core.errors import UsageError

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


def namespace_prefixes(given: str) -> tuple[str, ...]:
    """Return how the namespaces begin of which an operator's text may be the first part: with some of their id."""
    return tuple(each for each in namespaces_named(given) if each.partition(":")[2])


def only_one(given: str, fits: Sequence[str]) -> str | None:
    """Return the namespace that fits an operator's text, None if none does.

    Raises: UsageError NAMESPACE_AMBIGUOUS, which names the first two.
    """
    if len(fits) > 1:
        more = ", among others" if len(fits) > 2 else ""
        raise UsageError(
            "NAMESPACE_AMBIGUOUS",
            f"{given} may be {fits[0]} or {fits[1]}{more}",
            "give more of it, or give it with its kind, as it stands there",
        )
    return fits[0] if fits else None


def bucket_of(namespace: str, buckets: int) -> int:
    """Return the partition of a namespace: the first two bytes of SHA-256 of its UTF-8, big-endian, modulo N.

    Portable by design: Spark SQL, Python and any other engine compute it alike.
    """
    return bucket_of_digest(hashlib.sha256(namespace.encode("utf-8")).digest(), buckets)


def bucket_of_digest(digest: bytes, buckets: int) -> int:
    """Return the partition of a row without a namespace, from the first two bytes of its own id."""
    return int.from_bytes(digest[:2], "big") % buckets
