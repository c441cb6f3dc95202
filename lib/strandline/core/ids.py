"""Namespaces and buckets: names and partitions for ids from data, which never become paths."""

import hashlib
from collections.abc import Sequence
from typing import Final, Literal, get_args
from urllib.parse import quote

from strandline.core.errors import UsageError

NamespaceKind = Literal["node", "group", "log", "authority", "context"]

ENOUGH_NAMESPACES: Final = 3
"""Enough matches to show that a prefix is ambiguous; see `only_one`."""


def namespace(kind: NamespaceKind, id: str) -> str:  # noqa: A002 - the product's own word
    """Return the namespace `<kind>:<id>`, the unit of merging and of state."""
    return f"{kind}:{id}"


def namespaces_named(given: str) -> tuple[str, ...]:
    """Return the namespaces that a text may name: itself, or an id of each kind, plain or percent-encoded."""
    try:
        encoded = quote(given, safe="")
    except UnicodeEncodeError:
        # Namespaces are UTF-8, so this argument names none.
        return ()
    ids = dict.fromkeys((given, encoded))
    return tuple(
        dict.fromkeys((given, *(f"{kind}:{each}" for kind in get_args(NamespaceKind) for each in ids)))
    )


def namespace_prefixes(given: str) -> tuple[str, ...]:
    """Return the prefixes of namespaces that a text may mean: they contain at least a part of an id."""
    return tuple(each for each in namespaces_named(given) if each.partition(":")[2])


def only_one(given: str, fits: Sequence[str]) -> str | None:
    """Return the only match of a text, or None if `fits` is empty.

    Raises: UsageError NAMESPACE_AMBIGUOUS, which names the first two.
    """
    if len(fits) > 1:
        more = ", among others" if len(fits) > 2 else ""
        raise UsageError(
            "NAMESPACE_AMBIGUOUS",
            f"{given} matches {fits[0]} and {fits[1]}{more}",
            "give a longer prefix, or include the kind as shown",
        )
    return fits[0] if fits else None


def unknown_namespace(given: str, similar: str | None = None) -> UsageError:
    """Return the error of a text that names no namespace of a lake; `similar` is a namespace that may be meant."""
    return UsageError(
        "NAMESPACE_UNKNOWN",
        f"this lake has no namespace {given or repr(given)}",
        f"did you mean {similar}?"
        if similar
        else "`strandline status --all` lists them; a unique prefix is enough",
    )


def bucket_of(namespace: str, buckets: int) -> int:
    """Return the partition of a namespace: the first two bytes of SHA-256 of its UTF-8, big-endian, modulo N.

    Spark SQL, Python and any other engine can compute it.
    """
    return bucket_of_digest(hashlib.sha256(namespace.encode("utf-8")).digest(), buckets)


def bucket_of_digest(digest: bytes, buckets: int) -> int:
    """Return the partition of a row without a namespace, from the first two bytes of its id."""
    return int.from_bytes(digest[:2], "big") % buckets
