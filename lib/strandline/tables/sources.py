"""Which files a run reads: folders, globs and links resolved, in one order, each once."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from strandline.core.errors import UsageError

MANIFEST_SUFFIX: Final = b".manifest.json"
_HIDDEN: Final = (b".", b"_")
_WILD: Final = ("*", "?", "[")


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of the input. `file_no` ascends with the paths; `path` as the file system spells it; `size` in bytes."""

    file_no: int
    path: bytes
    size: int

    @property
    def source(self) -> str:
        """The path as text; bytes that are not UTF-8 show as `\\xNN`."""
        return self.path.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Selection:
    """The input of a run: files to read, manifests beside them, links that lead outside of their root."""

    files: tuple[InputFile, ...]
    manifests: tuple[bytes, ...]
    refused: tuple[tuple[bytes, bytes], ...]
    """(path of the link, where it leads)"""


def select(sources: Iterable[str], *, most: int) -> Selection:
    """Return the files that `sources` name: files, folders (recursive) and globs, in any order.

    - Names that start with `.` or `_` are skipped inside folders, not where they are given.
    - A link is followed inside the root that was given; one that leads outside is refused and reported.
    - A file given twice is read once. `*.manifest.json` are manifests, no input.

    Raises:
        UsageError: SOURCE_MISSING (a path that does not exist, a glob without match), SOURCE_NOT_LOCAL (a URI that
            tasks cannot open by path), TOO_MANY_FILES (over `most`).
    """
    found: dict[bytes, bytes] = {}
    manifests: dict[bytes, bytes] = {}
    refused: dict[bytes, bytes] = {}
    for source in sources:
        for root in _roots(source):
            for path, real in _walk(root):
                if real is None:
                    refused.setdefault(path, os.path.realpath(path))
                elif path.endswith(MANIFEST_SUFFIX):
                    manifests.setdefault(real, path)
                else:
                    found.setdefault(real, path)
                if len(found) > most:
                    raise UsageError(
                        code="TOO_MANY_FILES",
                        message=f"The input has more than {most} files.",
                        next="Ingest it folder by folder, or raise limits.files.",
                    )
    ordered = sorted(found.values())
    files = tuple(InputFile(number, path, os.path.getsize(path)) for number, path in enumerate(ordered))
    return Selection(files, tuple(sorted(manifests.values())), tuple(sorted(refused.items())))


def _roots(source: str) -> list[bytes]:
    if source.startswith("file:/"):
        source = "/" + source.removeprefix("file:").lstrip("/")
    elif "://" in source:
        raise UsageError(
            code="SOURCE_NOT_LOCAL",
            message=f"The source {source} is a URI that tasks cannot open by path.",
            next="Mount it (a volume, /dbfs, a network folder) and give the mounted path.",
        )
    raw = os.fsencode(source)
    if os.path.lexists(raw):
        return [raw]
    if any(sign in source for sign in _WILD):
        matches = sorted(os.fsencode(match) for match in glob.glob(source, recursive=True))
        if matches:
            return matches
        raise UsageError(
            code="SOURCE_MISSING",
            message=f"No file matches {source}.",
            next="Quote the pattern so that the shell leaves it alone, and check it with ls.",
        )
    raise UsageError(
        code="SOURCE_MISSING",
        message=f"The source {source} does not exist.",
        next="Give a file, a folder or a quoted glob that exists.",
    )


def _walk(root: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield (path, real path) of the files below `root`; the real path is None for a link that leads outside."""
    if not os.path.isdir(root):
        yield root, os.path.realpath(root)
        return
    inside = os.path.realpath(root)
    seen: set[bytes] = set()
    folders = [root]
    while folders:
        folder = folders.pop()
        here = os.path.realpath(folder)
        if here in seen:
            continue
        seen.add(here)
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda each: each.name, reverse=True):
                if entry.name.startswith(_HIDDEN):
                    continue
                real = os.path.realpath(entry.path)
                if not _is_inside(real, inside):
                    yield entry.path, None
                elif entry.is_dir():
                    folders.append(entry.path)
                elif entry.is_file():
                    yield entry.path, real
                elif entry.is_symlink():
                    yield entry.path, None


def _is_inside(path: bytes, root: bytes) -> bool:
    return path == root or path.startswith(root.rstrip(b"/") + b"/")
