"""Sources in an object store: an object, a prefix of objects, or a glob of keys."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Final

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import why_unreadable
from strandline.kernels.object_stores import BY_SCHEME
from strandline.kernels.objects import has_plain_parts, look_up, objects_below, root_exists, store_of
from strandline.tables.paths import (
    WILD_SIGNS,
    FoundBy,
    has_hidden_part,
    path_text,
)

_ROOT_PARTS: Final = 3
"""Parts of `s3://BUCKET` between slashes, and of the root of each other store."""


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object of a source: its path, its size in bytes, how it was found."""

    path: bytes
    size: int
    found_by: FoundBy


def object_path(source: str) -> bytes | None:
    """Return the path of a source in an object store, None for another source. `s3a://` is `s3://`, `abfs://` `abfss://`.

    Raises: UsageError SOURCE_URI (no bucket or container, credentials in the URI; a key with an empty part, `.`, `..`
        or a control character).
    """
    scheme, colon, rest = source.partition("://")
    store = BY_SCHEME.get(scheme) if colon else None
    if store is None:
        return None
    root, _, key = rest.partition("/")
    if not store.root.fullmatch(root):
        # Not shown: what stands here may be a key and its secret.
        raise UsageError(
            "SOURCE_URI",
            f"A source that begins with {scheme}:// names no {store.place}, or has credentials in it.",
            f"Give {store.form}; credentials and endpoint are read from {store.variables} variables.",
        )
    path = f"{root}/{key}".rstrip("/")
    if not has_plain_parts(path.split("/")) or not path.isprintable():
        raise UsageError(
            "SOURCE_URI",
            f"The key of {source!a} has an empty part, `.`, `..` or a control character, and such keys are not read.",
            "Copy the object to another key.",
        )
    return f"{store.scheme}://{path}".encode()


def objects_of(path: bytes) -> Iterator[FoundObject]:
    """Yield the objects that a path of `object_path` names: itself, those below it, or those that match it as a glob.

    Keys with a part that begins with `.` or `_` are skipped below a prefix, but found by a glob.

    Raises: UsageError SOURCE_MISSING, SOURCE_DENIED; FaultError SOURCE_UNREADABLE, STORE_PACKAGE_MISSING.
    """
    with source_errors(path):
        kind, size = look_up(path)
        if kind == "folder":
            for each in objects_below(path):
                if not has_hidden_part(each.path, path):
                    yield FoundObject(each.path, each.size, "folder")
            return
        found = [(path, size)] if kind == "file" else list(_matches(path))
        if not found:
            raise _missing(path)
        for given, size in found:
            yield FoundObject(given, size, "given")


def check_prefix(path: bytes) -> None:
    """Check that objects can appear below a path of `object_path`: it is no object, and its bucket exists.

    Raises: UsageError SOURCE_NOT_A_FOLDER, SOURCE_MISSING, SOURCE_DENIED; FaultError SOURCE_UNREADABLE.
    """
    with source_errors(path):
        if look_up(path)[0] == "file":
            raise UsageError(
                "SOURCE_NOT_A_FOLDER",
                f"{path_text(path)} is an object, and stream follows only prefixes, folders and topics",
                f"read it once: `strandline ingest {shlex.quote(path_text(path))} --dialect NAME`",
            )
        if not root_exists(path):
            raise _missing(path)


def _matches(path: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the objects that match a path as a glob: `*` and `?` inside a part of the key, `**` any number of parts.

    As in a shell, a part that begins with `.` matches only a sign that is written.
    """
    parts = path_text(path).split("/")
    root, pattern = parts[:_ROOT_PARTS], parts[_ROOT_PARTS:]
    plain = list(takewhile(lambda part: not any(sign in part for sign in WILD_SIGNS), pattern))
    if plain == pattern:
        return
    for each in objects_below("/".join([*root, *plain]).encode("utf-8")):
        if key_matches(path_text(each.path).split("/")[_ROOT_PARTS + len(plain) :], pattern[len(plain) :]):
            yield each.path, each.size


def key_matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether all parts of a key match a pattern, by the rules of `_matches`.

    Each part is compared at most once with each part of the pattern: keys are untrusted.
    """
    is_reached = [True, *(False for _ in pattern)]
    for part in parts:
        is_reached_after = [False for _ in is_reached]
        for at, sign in enumerate(pattern):
            is_hidden_part = part.startswith(".") and not sign.startswith(".")
            if not is_reached[at]:
                continue
            if sign == "**":
                is_reached[at + 1] = True
                is_reached_after[at] = is_reached_after[at] or not is_hidden_part
            elif not is_hidden_part and fnmatchcase(part, sign):
                is_reached_after[at + 1] = True
        is_reached = is_reached_after
    # At the end each `**` that is left matches no part.
    open_end = len(list(takewhile(lambda sign: sign == "**", reversed(pattern))))
    return any(is_reached[len(pattern) - open_end :])


def _missing(path: bytes) -> UsageError:
    store = store_of(path)
    lacks = "no file and no folder" if store.has_folders else f"no object and no {store.place} for"
    return UsageError(
        "SOURCE_MISSING",
        f"There is {lacks} {path_text(path)}.",
        f"Give an object, a prefix or a quoted glob of {store.form} that exists.",
    )


@contextmanager
def source_errors(path: bytes) -> Iterator[None]:
    """Raise an error of a store about a path as UsageError SOURCE_MISSING, SOURCE_DENIED, or as FaultError."""
    try:
        yield
    except FileNotFoundError:
        raise _missing(path) from None
    except PermissionError as error:
        raise UsageError(
            "SOURCE_DENIED",
            f"{path_text(path)} cannot be read: {why_unreadable(error)}.",
            f"Set credentials that may list and read it ({store_of(path).rights}).",
        ) from None
    except OSError as error:
        if error.errno == errno.ENOTSUP and (package := store_of(path).package):
            raise FaultError(
                "STORE_PACKAGE_MISSING",
                f"{path_text(path)} cannot be read: {why_unreadable(error)}.",
                f"Install it, on each worker, too: pip install {package}, or the wheel with its extra.",
            ) from None
        raise FaultError(
            "SOURCE_UNREADABLE",
            f"{path_text(path)} cannot be read: {why_unreadable(error)}.",
            f"Check {store_of(path).endpoint} and run the command again.",
        ) from None
