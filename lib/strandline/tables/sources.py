"""The files and objects that a run reads: resolves folders, globs and links, in one order, each once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from strandline.core.errors import FaultError, UsageError
from strandline.core.safe_files import guarded
from strandline.tables.beside import BesideFile, KnownManifests, manifests_beside, place_of
from strandline.tables.object_sources import FoundObject, object_path, objects_of
from strandline.tables.paths import (
    MANIFEST_SUFFIX,
    FoundBy,
    absolute,
    is_inside,
    no_file,
    path_text,
    roots,
    walk,
)

_TASK_FILES: Final = 500
TASK_BYTES: Final = 32 * 1024 * 1024
_MOST_SMALL: Final = 4096

NOT_LISTED: Final[Mapping[bytes, int]] = {}

_CLOSEST: Final[tuple[FoundBy, ...]] = ("folder", "given", "beside")


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of the input. `file_no` ascends with the paths; `path` is the file system's; `size` in bytes.

    `real` is the path without links: equal ones are one file. `guarded` is the path for `kernels.inputs.open_input`.
    `format` is that of its name or of the command; None if the content shows it.
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
    """A file with the name of a manifest, found in a given folder, given itself, or in the folder of a given file.

    `guarded` is the path to open. `beside` tells more of one that was found in the last way.
    """

    path: bytes
    guarded: bytes
    found_by: FoundBy
    beside: BesideFile | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """The input of a run: files to read, manifests about them, links that leave their root."""

    files: tuple[InputFile, ...]
    manifests: tuple[ManifestFile, ...]
    refused: tuple[tuple[bytes, bytes], ...]
    """(path of the link, its target)"""


def select(
    sources: Iterable[str],
    *,
    most: int,
    within: bytes | None = None,
    listed: Mapping[bytes, int] = NOT_LISTED,
    known: KnownManifests | None = None,
) -> Selection:
    """Return the files that `sources` name: files, folders (recursive) and globs, in any order.

    - Names that start with `.` or `_` are skipped inside folders, but read if they are given.
    - A link is followed inside the given root (of a glob: the folder before its first wildcard); one that leaves it, or
      leads nowhere, is refused and reported. A link that is given itself is followed.
    - A file given twice is read once. `*.manifest.json` are manifests, not input.
    - `s3://BUCKET/KEY`, and a URI of each of `kernels.object_stores`, names an object, a prefix or a glob of keys in
      the same way; a store has no links.
    - With `within`, a folder, the sources are paths found in it: links that leave it are refused.
    - `listed` are objects that were listed before, with their bytes: they are not looked up again.
    - Of the manifests beside given files, those that a batch of `known` need not read are left out.

    Raises:
        UsageError: SOURCE_MISSING (a path that does not exist, a glob without match), SOURCE_NOT_LOCAL (a URI of
            another kind), SOURCE_URI (one of a store that names no bucket), SOURCE_DENIED (no right to read it),
            SOURCE_NOT_A_FILE (a pipe, socket or device), TOO_MANY_FILES (more than `most`: files,
            manifests or refused links).
        FaultError: SOURCE_UNREADABLE (a folder that cannot be listed, a store that does not answer).
    """
    found = _Found(most)
    border = None if within is None else os.path.realpath(within)
    try:
        found.objects(FoundObject(path, size, "given") for path, size in listed.items())
        for source in sources:
            stored = object_path(source) if within is None else None
            if stored is not None:
                found.objects(objects_of(stored))
                continue
            # With `within`, sources are literal paths, whatever characters they have, and may be removed by now.
            for root, wild in roots(source) if within is None else [(absolute(os.fsencode(source)), None)]:
                inside = border or wild
                if os.path.isdir(root) and (inside is None or is_inside(os.path.realpath(root), inside)):
                    found.walk(root, root if inside is None else inside)
                else:
                    found.file(root, inside)
    except PermissionError as error:
        raise FaultError(
            "SOURCE_UNREADABLE",
            f"the folder {path_text(os.fsencode(error.filename))} cannot be read",
            "give read access to it, or leave it out",
        ) from None
    return found.selection(known)


def numbered(
    files: Iterable[tuple[bytes, bytes, bytes]], sizes: Mapping[bytes, int]
) -> tuple[InputFile, ...]:
    """Return input files, given as (path, real path, path to open), in the order of their paths.

    `sizes` has bytes by real path; others are looked up. A file that was removed has size 0: the task that opens it
    reports that.
    """
    return tuple(
        InputFile(number, path, sizes[real] if real in sizes else _bytes_at(real), real, opened)
        for number, (path, real, opened) in enumerate(sorted(files))
    )


def _bytes_at(path: bytes) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def tasks_for(sizes: Sequence[int], small_bytes: int = TASK_BYTES) -> int:
    """Return the number of tasks for files or parts of these sizes in bytes: at least two, but not more than files.

    With `small_bytes` a task has about so many, as long as there are not more than _MOST_SMALL tasks.
    """
    wanted = max(sum(sizes) // TASK_BYTES, len(sizes) // _TASK_FILES, 2)
    wanted = max(wanted, min(sum(sizes) // small_bytes, _MOST_SMALL))
    return max(1, min(len(sizes), wanted))


@dataclass(slots=True)
class _Found:
    """The files found so far, by their real paths."""

    most: int
    files: dict[bytes, tuple[bytes, bytes]] = field(default_factory=dict)
    manifests: dict[bytes, ManifestFile] = field(default_factory=dict)
    refused: dict[bytes, bytes] = field(default_factory=dict)
    sizes: dict[bytes, int] = field(default_factory=dict)
    searched: dict[bytes, list[BesideFile]] = field(default_factory=dict)
    places: set[bytes] = field(default_factory=set)

    def walk(self, root: bytes, trusted: bytes) -> None:
        """Add all files below a folder, which is `trusted` or in it."""
        inside = os.path.realpath(trusted)
        for path, real in walk(root, inside):
            if real is None:
                self._refuse(path, os.path.realpath(path))
            else:
                self._take(path, real, "folder", guarded(trusted, real[len(inside) :]))

    def file(self, path: bytes, inside: bytes | None) -> None:
        """Add one file, given itself or matched by a glob below `inside`, and the manifests in its folder."""
        real = os.path.realpath(path)
        if inside is not None and not is_inside(real, inside):
            self._refuse(path, real)
        elif os.path.isfile(path) or (inside is not None and not os.path.lexists(path)):
            opened = path if inside is None else guarded(inside, real[len(inside) :])
            self._take(path, real, "given", opened)
        elif inside is None:
            raise no_file(path)
        elif os.path.islink(path):
            self._refuse(path, real)

    def objects(self, found: Iterable[FoundObject]) -> None:
        """Add objects, and the manifests beside those that are given."""
        for each in found:
            self.sizes[each.path] = each.size
            self._take(each.path, each.path, each.found_by, each.path)

    def selection(self, known: KnownManifests | None) -> Selection:
        """Return the selection, in order; of the manifests beside given files, those that `known` must read."""
        if known is not None:
            known.forget_gone(self.searched)
        for each in (each for found in self.searched.values() for each in found):
            opened = each.guarded() if known is None or known.must_read(each, self.places) else None
            if opened is not None:
                self._take(each.path, each.path, "beside", opened, each)
        files = numbered(((path, real, opened) for real, (path, opened) in self.files.items()), self.sizes)
        manifests = sorted(self.manifests.values(), key=lambda each: each.path)
        return Selection(files, tuple(manifests), tuple(sorted(self.refused.items())))

    def _take(
        self, path: bytes, real: bytes, found_by: FoundBy, opened: bytes, beside: BesideFile | None = None
    ) -> None:
        if path.endswith(MANIFEST_SUFFIX):
            self._manifest(ManifestFile(path, opened, found_by, beside))
        else:
            # Not the first path found: the result must not depend on the order of the sources.
            self.files[real] = min((path, opened), self.files.get(real, (path, opened)))
            if found_by == "given":
                self._search_beside(path, real)
        self._check_most()

    def _refuse(self, path: bytes, target: bytes) -> None:
        self.refused.setdefault(path, target)
        self._check_most()

    def _check_most(self) -> None:
        if max(len(self.files), len(self.manifests), len(self.refused)) > self.most:
            raise UsageError(
                code="TOO_MANY_FILES",
                message=f"The input has more than {self.most} files.",
                next=f"Ingest it folder by folder, or raise the limit: --set limits.files={10 * self.most}.",
            )

    def _manifest(self, found: ManifestFile) -> None:
        # A manifest describes the files of its folder, so a link to one in another folder is a separate manifest.
        here = place_of(found.path)
        before = self.manifests.get(here)
        if before is None or _CLOSEST.index(found.found_by) < _CLOSEST.index(before.found_by):
            self.manifests[here] = found

    def _search_beside(self, path: bytes, real: bytes) -> None:
        place = place_of(path)
        self.places |= {place, real}
        folder = os.path.dirname(place)
        if folder not in self.searched:
            self.searched[folder] = list(manifests_beside(path))
