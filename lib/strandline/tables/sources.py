"""Which files a run reads: folders, globs and links resolved, in one order, each once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import guarded
from strandline.tables.paths import HIDDEN, absolute, is_inside, no_file, path_text, roots, walk

MANIFEST_SUFFIX: Final = b".manifest.json"
_TASK_FILES: Final = 500
_TASK_BYTES: Final = 32 * 1024 * 1024

FoundBy = Literal["folder", "given", "beside"]
_CLOSEST: Final[tuple[FoundBy, ...]] = ("folder", "given", "beside")


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of the input. `file_no` ascends with the paths; `path` as the file system spells it; `size` in bytes.

    `real` is the path without links: two files are one if it is equal. `guarded` is the path to open, as
    `core.safe_files.guarded` makes it. `format` is what its name or the command says
    that it holds, None where the content tells.
    """

    file_no: int
    path: bytes
    size: int
    real: bytes
    guarded: bytes
    format: str | None = None

    @property
    def source(self) -> str:
        """The path as text; bytes that are not UTF-8 show as `\\xNN`."""
        return path_text(self.path)


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A file named as a manifest. `found_by`: in a folder that was given, given itself, or beside a file given.

    `guarded` is the path to open.
    """

    path: bytes
    guarded: bytes
    found_by: FoundBy


@dataclass(frozen=True, slots=True)
class Selection:
    """The input of a run: files to read, manifests that speak of them, links that lead outside of their root."""

    files: tuple[InputFile, ...]
    manifests: tuple[ManifestFile, ...]
    refused: tuple[tuple[bytes, bytes], ...]
    """(path of the link, where it leads)"""


def select(sources: Iterable[str], *, most: int, within: bytes | None = None) -> Selection:
    """Return the files that `sources` name: files, folders (recursive) and globs, in any order.

    - Names that start with `.` or `_` are skipped inside folders, not where they are given.
    - A link is followed inside the root that was given (of a glob: the folder before its first wild sign); one that
      leads outside, or nowhere, is refused and reported. A link that is given itself is followed.
    - A file given twice is read once. `*.manifest.json` are manifests, no input.
    - With `within`, a folder, sources are what was found in it: links that lead out of it are refused.

    Raises:
        UsageError: SOURCE_MISSING (a path that does not exist, a glob without match), SOURCE_NOT_LOCAL (a URI that
            tasks cannot open by path), SOURCE_NOT_A_FILE (a pipe, a socket or a device), TOO_MANY_FILES (over `most`).
        FaultError: SOURCE_UNREADABLE (a folder that may not be listed).
    """
    found = _Found(most)
    border = None if within is None else os.path.realpath(within)
    try:
        for source in sources:
            # What was found already is a path, whatever signs its name has, and may be gone by now.
            for root, wild in roots(source) if within is None else [(absolute(os.fsencode(source)), None)]:
                inside = border or wild
                if os.path.isdir(root) and (inside is None or is_inside(os.path.realpath(root), inside)):
                    found.walk(root, root if inside is None else inside)
                else:
                    found.file(root, inside)
    except PermissionError as error:
        raise FaultError(
            "SOURCE_UNREADABLE",
            f"the folder {path_text(os.fsencode(error.filename))} may not be read",
            "give read access to it, or leave it out",
        ) from None
    return found.selection()


def numbered(files: Iterable[tuple[bytes, bytes, bytes]]) -> tuple[InputFile, ...]:
    """Return input files, given as (path, real path, path to open), in the order of their paths.

    One that is gone already has no bytes: the task that opens it says so.
    """
    return tuple(
        InputFile(number, path, _bytes_at(real), real, opened)
        for number, (path, real, opened) in enumerate(sorted(files))
    )


def _bytes_at(path: bytes) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def tasks_for(sizes: Sequence[int]) -> int:
    """Return how many tasks open so many files, or parts, of these sizes in bytes: two at least where there are two."""
    wanted = max(sum(sizes) // _TASK_BYTES, len(sizes) // _TASK_FILES, 2)
    return max(1, min(len(sizes), wanted))


@dataclass(slots=True)
class _Found:
    """What a selection has found so far, each file by its real path."""

    most: int
    files: dict[bytes, tuple[bytes, bytes]] = field(default_factory=dict)
    manifests: dict[bytes, ManifestFile] = field(default_factory=dict)
    refused: dict[bytes, bytes] = field(default_factory=dict)
    looked_beside: set[bytes] = field(default_factory=set)

    def walk(self, root: bytes, trusted: bytes) -> None:
        """Take all files below a folder, which is or lies in the folder `trusted`."""
        inside = os.path.realpath(trusted)
        for path, real in walk(root, inside):
            if real is None:
                self.refused.setdefault(path, os.path.realpath(path))
            else:
                self._take(path, real, "folder", guarded(trusted, real[len(inside) :]))

    def file(self, path: bytes, inside: bytes | None) -> None:
        """Take one file, given itself or matched by a glob below `inside`, and look for manifests beside it."""
        real = os.path.realpath(path)
        if inside is not None and not is_inside(real, inside):
            self.refused.setdefault(path, real)
        elif os.path.isfile(path) or (inside is not None and not os.path.lexists(path)):
            opened = path if inside is None else guarded(inside, real[len(inside) :])
            self._take(path, real, "given", opened)
            if not path.endswith(MANIFEST_SUFFIX):
                self._look_beside(path)
        elif inside is None:
            raise no_file(path)
        elif os.path.islink(path):
            self.refused.setdefault(path, real)

    def selection(self) -> Selection:
        """Return all that was found, in order."""
        files = numbered((path, real, opened) for real, (path, opened) in self.files.items())
        manifests = sorted(self.manifests.values(), key=lambda each: each.path)
        return Selection(files, tuple(manifests), tuple(sorted(self.refused.items())))

    def _take(self, path: bytes, real: bytes, found_by: FoundBy, opened: bytes) -> None:
        if path.endswith(MANIFEST_SUFFIX):
            self._manifest(path, found_by, opened)
        else:
            # Not the first: then the order of the sources would tell.
            self.files[real] = min((path, opened), self.files.get(real, (path, opened)))
        if max(len(self.files), len(self.manifests)) > self.most:
            raise UsageError(
                code="TOO_MANY_FILES",
                message=f"The input has more than {self.most} files.",
                next="Ingest it folder by folder, or raise limits.files.",
            )

    def _manifest(self, path: bytes, found_by: FoundBy, opened: bytes) -> None:
        # A manifest speaks of the files in the folder where it lies, so a link to one is one of its own.
        folder, name = os.path.split(path)
        here = os.path.join(os.path.realpath(folder), name)
        before = self.manifests.get(here)
        if before is None or _CLOSEST.index(found_by) < _CLOSEST.index(before.found_by):
            self.manifests[here] = ManifestFile(path, opened, found_by)

    def _look_beside(self, path: bytes) -> None:
        folder = os.path.dirname(path)
        here = os.path.realpath(folder)
        if here in self.looked_beside:
            return
        self.looked_beside.add(here)
        try:
            names = os.listdir(here)
        except (PermissionError, FileNotFoundError, NotADirectoryError):
            return  # a folder that may not be listed, or is gone by now, tells of no manifest
        for name in names:
            beside = os.path.join(folder, name)
            is_named_so = name.endswith(MANIFEST_SUFFIX) and not name.startswith(HIDDEN)
            real = os.path.realpath(beside) if is_named_so else b""
            if is_named_so and os.path.isfile(beside) and is_inside(real, here):
                self._take(beside, beside, "beside", guarded(here, real[len(here) :]))
