"""Sources in an object store: an object, a prefix of objects, or a glob of keys."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Final

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import why_unreadable
from strandline.kernels.objects import SCHEME, has_plain_parts, look_up, objects_below
from strandline.tables.paths import (
    MANIFEST_SUFFIX,
    WILD_SIGNS,
    FoundBy,
    has_hidden_part,
    is_hidden,
    path_text,
)

_URI: Final = re.compile(r"s3a?://([^/]*)(.*)", re.DOTALL)
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object of a source: its path, its size in bytes, how it was found."""

    path: bytes
    size: int
    found_by: FoundBy


def object_path(source: str) -> bytes | None:
    """Return the path of a source in an object store, None for another source. `s3a://` is `s3://`.

    Raises: UsageError SOURCE_URI (no bucket, credentials in the URI; a key with an empty part, `.`, `..` or a control
        character).
    """
    parts = _URI.fullmatch(source)
    if parts is None:
        return None
    if not _BUCKET.fullmatch(parts[1]):
        # Not shown: what stands here may be a key and its secret.
        raise UsageError(
            "SOURCE_URI",
            "A source that begins with s3:// does not name a bucket.",
            "Give s3://BUCKET/KEY; credentials and endpoint are read from AWS_.. variables.",
        )
    path = f"{parts[1]}{parts[2]}".rstrip("/")
    if not has_plain_parts(path.split("/")) or not path.isprintable():
        raise UsageError(
            "SOURCE_URI",
            f"The key of {source!a} has an empty part, `.`, `..` or a control character, and such keys are not read.",
            "Copy the object to another key.",
        )
    return SCHEME + path.encode("utf-8")


def objects_of(path: bytes, searched: set[bytes]) -> Iterator[FoundObject]:
    """Yield the objects that a path of `object_path` names: itself, those below it, or those that match it as a glob.

    Keys with a part that begins with `.` or `_` are skipped below a prefix, but found by a glob. Beside each object
    that is given or matches, its folder is searched for manifests, once: `searched` has the folders.

    Raises: UsageError SOURCE_MISSING, SOURCE_DENIED; FaultError SOURCE_UNREADABLE.
    """
    with _told(path):
        kind, size = look_up(path)
        if kind == "folder":
            for below, size in objects_below(path):
                if not has_hidden_part(below, path):
                    yield FoundObject(below, size, "folder")
            return
        found = [(path, size)] if kind == "file" else list(_matches(path))
        if not found:
            raise _missing(path)
        for each, size in found:
            yield FoundObject(each, size, "given")
            if not each.endswith(MANIFEST_SUFFIX):
                yield from _manifests_beside(each, searched)


def _manifests_beside(path: bytes, searched: set[bytes]) -> Iterator[FoundObject]:
    folder = os.path.dirname(path)
    if folder not in searched:
        searched.add(folder)
        for other, size in objects_below(folder, deep=False):
            if other.endswith(MANIFEST_SUFFIX) and not is_hidden(os.path.basename(other)):
                yield FoundObject(other, size, "beside")


def _matches(path: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the objects that match a path as a glob: `*` and `?` inside a part of the key, `**` any number of parts.

    As in a shell, a part that begins with `.` matches only a sign that is written.
    """
    bucket, *pattern = path_text(path.removeprefix(SCHEME)).split("/")
    plain = list(takewhile(lambda part: not any(sign in part for sign in WILD_SIGNS), pattern))
    if plain == pattern:
        return
    for each, size in objects_below(SCHEME + "/".join([bucket, *plain]).encode("utf-8")):
        if _fits(path_text(each.removeprefix(SCHEME)).split("/")[1 + len(plain) :], pattern[len(plain) :]):
            yield each, size


def _fits(parts: list[str], pattern: list[str]) -> bool:
    if not pattern or not parts:
        return not parts and all(part == "**" for part in pattern)
    if parts[0].startswith(".") and not pattern[0].startswith("."):
        return False
    if pattern[0] == "**":
        return _fits(parts, pattern[1:]) or _fits(parts[1:], pattern)
    return fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _missing(path: bytes) -> UsageError:
    return UsageError(
        "SOURCE_MISSING",
        f"There is no object and no bucket for {path_text(path)}.",
        "Give an object, a prefix or a quoted glob of s3://BUCKET/KEY that exists.",
    )


@contextmanager
def _told(path: bytes) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise _missing(path) from None
    except PermissionError as error:
        raise UsageError(
            "SOURCE_DENIED",
            f"{path_text(path)} cannot be read: {why_unreadable(error)}.",
            "Set credentials that may list and read it (AWS_ACCESS_KEY_ID and its secret, AWS_PROFILE, or a role).",
        ) from None
    except OSError as error:
        raise FaultError(
            "SOURCE_UNREADABLE",
            f"{path_text(path)} cannot be read: {why_unreadable(error)}.",
            "Check AWS_REGION and AWS_ENDPOINT_URL and run the command again.",
        ) from None
