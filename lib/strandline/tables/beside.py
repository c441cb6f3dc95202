"""Manifests that lie beside given files, and which of them the batches of a stream still have to read."""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from strandline.core.errors import UsageError
from strandline.core.safe_files import guarded
from strandline.kernels.inputs import real_path
from strandline.kernels.objects import is_object, objects_below
from strandline.tables.object_sources import source_errors
from strandline.tables.paths import MANIFEST_SUFFIX, is_hidden, is_inside

Version = tuple[int, int | None]
"""The bytes of a file, and the time of its last change in nanoseconds; None if its store does not tell."""


@dataclass(frozen=True, slots=True)
class BesideFile:
    """A file with the name of a manifest in the folder of a given file.

    `own_file` is the path, as in `place_of`, of the file after which it is named (`a` for `a.manifest.json`); None if
    the folder has no such file: a folder, or another manifest, of this name is no input.
    """

    path: bytes
    version: Version
    own_file: bytes | None

    def guarded(self) -> bytes | None:
        """Return the path to open; None for a link that leaves the folder."""
        if is_object(self.path):
            return self.path
        here, real = os.path.realpath(os.path.dirname(self.path)), os.path.realpath(self.path)
        return guarded(here, real[len(here) :]) if is_inside(real, here) else None


@dataclass(slots=True)
class KnownManifests:
    """The manifests that batches of a stream read beside their files and may need again, and the paths that they name.

    Without it each batch would read each manifest that ever arrived in its folders. Those that only name the file after
    which they are named are not kept: there may be as many as files.
    """

    _named: dict[bytes, tuple[Version, tuple[bytes, ...]]] = field(default_factory=dict)

    def must_read(self, found: BesideFile, files: Container[bytes]) -> bool:
        """Return whether a batch with these files, given as in `place_of`, must read a manifest.

        One whose own file is in the folder is read with this file, another one once and again if it changes; each again
        with files that it names.
        """
        before = self._named.get(found.path)
        if before is not None and before[0] == found.version:
            return any(path in files for path in before[1])
        return before is not None or found.own_file is None or found.own_file in files

    def forget_gone(self, listed: Mapping[bytes, Iterable[BesideFile]]) -> None:
        """Forget the manifests that are gone from listed folders: a stream may follow a folder for years.

        `listed` has the manifests of a folder without links.
        """
        names = {folder: {os.path.basename(each.path) for each in found} for folder, found in listed.items()}
        folders = {folder: real_path(folder) for folder in set(map(os.path.dirname, self._named))}
        for path in tuple(self._named):
            folder, name = os.path.split(path)
            if name not in names.get(folders[folder], (name,)):
                del self._named[path]

    def keep(self, found: BesideFile, named: tuple[bytes, ...]) -> None:
        """Keep that a manifest was read, and the paths that it names, if that matters later."""
        if found.own_file is not None and set(named) <= {found.own_file}:
            self._named.pop(found.path, None)
        else:
            self._named[found.path] = found.version, named


def place_of(path: bytes) -> bytes:
    """Return a path whose folder has no links."""
    return os.path.join(real_path(os.path.dirname(path)), os.path.basename(path))


def manifests_beside(path: bytes) -> Iterator[BesideFile]:
    """Yield the manifests in the folder of a file or an object; none if the folder was removed.

    Raises: UsageError SOURCE_DENIED, FaultError SOURCE_UNREADABLE (of a store).
    """
    folder = os.path.dirname(path)
    here = real_path(folder)
    is_stored = is_object(path)
    found: dict[bytes, Version] = dict(_objects(path, folder) if is_stored else _manifests(folder))
    for name, version in found.items():
        if _is_manifest(name):
            own = name.removesuffix(MANIFEST_SUFFIX)
            is_there = own in found if is_stored else _version(os.path.join(folder, own)) is not None
            is_input = is_there and not _is_manifest(own)
            yield BesideFile(
                os.path.join(folder, name), version, os.path.join(here, own) if is_input else None
            )


def _is_manifest(name: bytes) -> bool:
    return name.endswith(MANIFEST_SUFFIX) and not is_hidden(name)


def _objects(path: bytes, folder: bytes) -> Iterator[tuple[bytes, Version]]:
    try:
        with source_errors(path):
            for each in objects_below(folder, deep=False):
                yield os.path.basename(each.path), (each.size, each.changed)
    except UsageError as error:
        if error.code != "SOURCE_MISSING":
            raise


def _manifests(folder: bytes) -> Iterator[tuple[bytes, Version]]:
    """Yield the manifests in a folder that are files: it may have millions of other names."""
    try:
        found = os.scandir(folder)
    except (PermissionError, FileNotFoundError, NotADirectoryError):
        return  # no manifest in a folder that cannot be listed or was removed
    with found as entries:
        for entry in entries:
            version = _version(entry.path) if _is_manifest(entry.name) else None
            if version is not None:
                yield entry.name, version


def _version(path: bytes) -> Version | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
