"""Paths of untrusted folders: the files that a source names and those below it, without leaving it."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Final, Literal

from strandline.core.errors import UsageError

MANIFEST_SUFFIX: Final = b".manifest.json"

FoundBy = Literal["folder", "given", "beside"]
"""Whether a file was found in a folder that was given, given itself, or in the folder of a given file."""

_HIDDEN: Final = (b".", b"_")
_HALF_WRITTEN: Final = b"._COPYING_"

LOCAL_URIS: Final = ("file:/", "dbfs:/")
WILD_SIGNS: Final = ("*", "?", "[")

_NEXT_OF_OTHERS: Final = (
    "Give an s3://, gs://, abfss:// or hdfs:// URI; "
    "or mount it (a volume, a network folder) and give its path."
)


def path_text(path: bytes) -> str:
    """Return a path as text; bytes that are not UTF-8 show as `\\xNN`."""
    return path.decode("utf-8", "backslashreplace")


def roots(source: str) -> list[tuple[bytes, bytes | None]]:
    """Return the paths of a source: (path, folder that links must not leave; None for the path itself).

    Paths are absolute, since tasks open them in another working folder.
    """
    if source.startswith(LOCAL_URIS):
        source = os.fsdecode(local_path(source))
    elif source.startswith("kafka:"):
        raise UsageError(
            code="SOURCE_NOT_LOCAL",
            message=f"The source {source} is a topic, but ingest reads files.",
            next="Use `strandline stream kafka://HOST:PORT/TOPIC --dialect NAME --available-now`.",
        )
    elif "://" in source:
        scheme = source.partition("://")[0]
        raise UsageError(
            code="SOURCE_NOT_LOCAL",
            message=f"The source is a {scheme}:// URI, of a store that is not supported.",
            next=_NEXT_OF_OTHERS,
        )
    raw = os.fsencode(source)
    if os.path.lexists(raw):
        return [(absolute(raw), None)]
    if any(sign in source for sign in WILD_SIGNS):
        inside = os.path.realpath(_folder_before_wild(raw))
        matches = sorted(os.fsencode(match) for match in glob.glob(source, recursive=True))
        if matches:
            return [(absolute(match), inside) for match in matches]
        raise UsageError(
            code="SOURCE_MISSING",
            message=f"No file matches {source}.",
            next="Quote the pattern so that the shell does not expand it, and check it with ls.",
        )
    raise UsageError(
        code="SOURCE_MISSING",
        message=f"The source {source or repr(source)} does not exist.",
        next="Give a file, a folder or a quoted glob that exists.",
    )


def local_path(uri: str) -> bytes:
    """Return the local path of a path or URI as Spark and Databricks write it: `file:/A`, `dbfs:/A`, `/A`."""
    scheme, colon, rest = uri.partition(":")
    if not colon or "/" in scheme:
        return os.fsencode(uri)
    path = "/" + rest.lstrip("/")
    on_dbfs = scheme == "dbfs" and not path.startswith("/Volumes/")
    return os.fsencode(f"/dbfs{path}" if on_dbfs else path)


def absolute(path: bytes) -> bytes:
    """Return `path` as an absolute path. `..` stays: after a link its meaning depends on the file system."""
    parts = os.path.join(os.getcwdb(), path).split(b"/")
    return b"/" + b"/".join(part for part in parts if part not in (b"", b"."))


def _folder_before_wild(pattern: bytes) -> bytes:
    first = min(place for sign in WILD_SIGNS if (place := pattern.find(os.fsencode(sign))) >= 0)
    return os.path.dirname(pattern[:first]) or b"."


def no_file(path: bytes) -> UsageError:
    if os.path.exists(path):
        return UsageError(
            code="SOURCE_NOT_A_FILE",
            message=f"The source {path_text(path)} is a pipe, a socket or a device.",
            next="Write its content to a file, and give that file.",
        )
    return UsageError(
        code="SOURCE_MISSING",
        message=f"The source {path_text(path)} is a link to a missing file.",
        next="Give a file, a folder or a quoted glob that exists.",
    )


def walk(root: bytes, inside: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield (path, real path) of the files below `root`; None for a link out of `inside` or to nothing."""
    seen: set[bytes] = set()
    folders = [root]
    while folders:
        folder = folders.pop()
        here = os.path.realpath(folder)
        if here in seen:
            continue
        seen.add(here)
        try:
            found = os.scandir(folder)
        except FileNotFoundError:
            continue  # removed since its name was read
        below: list[bytes] = []
        with found as entries:
            # One by one: who counts the files can stop before all names of a large folder are in memory.
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                is_link = entry.is_symlink()
                real = os.path.realpath(entry.path) if is_link else os.path.join(here, entry.name)
                if not is_inside(real, inside):
                    yield entry.path, None
                # Not the methods of the entry: they raise on a link to itself.
                elif os.path.isdir(entry.path) if is_link else entry.is_dir():
                    below.append(entry.path)
                elif os.path.isfile(entry.path) if is_link else entry.is_file():
                    yield entry.path, real
                elif is_link:
                    yield entry.path, None
        # A folder has the path by which it is reached first: that must not depend on the order of the disk.
        folders.extend(sorted(below, reverse=True))


def is_hidden(name: bytes) -> bool:
    """Return whether a file or folder of this name is skipped inside folders.

    Names that begin with `.` or `_`, and names that Hadoop gives a file while it copies it. Spark skips most of these
    (not `_metadata.x` and `_a=b`) and no others.
    """
    return name.startswith(_HIDDEN) or name.endswith(_HALF_WRITTEN)


def has_hidden_part(path: bytes, root: bytes) -> bool:
    """Return whether a part of `path` below the folder `root` is hidden."""
    below = path.removeprefix(root.rstrip(b"/") + b"/")
    return any(is_hidden(part) for part in below.split(b"/"))


def is_inside(path: bytes, root: bytes) -> bool:
    return path == root or path.startswith(root.rstrip(b"/") + b"/")
